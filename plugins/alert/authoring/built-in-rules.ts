import type { Clock, Tables } from 'svc/sdk';

import { RuleStore } from '../rule/rule-store.ts';
import type { RuleBody, RuleTables } from '../rule/rule-tables.ts';
import hosts from '../rules/hosts.json' with { type: 'json' };
import network from '../rules/network.json' with { type: 'json' };
import pipelines from '../rules/pipelines.json' with { type: 'json' };
import system from '../rules/system.json' with { type: 'json' };
import { bodyOf, type Draft } from './rule-draft.ts';

/** The rules that come with the product, in the words of the API. */
export const builtInRules: readonly Draft[] = [
  ...hosts,
  ...system,
  ...network,
  ...pipelines,
] as readonly unknown[] as readonly Draft[];

/** Installs each of them once: a changed or deleted one stays so, whatever later versions bring. */
export async function installBuiltInRules(tables: Tables<RuleTables>, clock: Clock): Promise<void> {
  const installed = await new RuleStore(tables.read).installedKeys();
  const fresh: readonly RuleBody[] = builtInRules
    .filter(({ rule_key: key }) => !installed.has(key))
    .map(bodyOf);
  if (fresh.length === 0) {
    return;
  }
  await tables.write(async (tx) => {
    const store = new RuleStore(tx);
    const already = await store.installedKeys();
    for (const body of fresh.filter(({ rule_key: key }) => !already.has(key))) {
      // A user may have made a rule of that key before it came with the product: theirs stays.
      if ((await store.findByKey(body.rule_key)) === undefined) {
        await store.insert(body, 'svc', clock.now());
      }
      await store.markInstalled(body.rule_key, clock.now());
    }
  });
}
