import type { Clock, Tables } from 'svc/sdk';

import { bodyOf, type Draft } from './rule-draft.ts';
import { ruleStore } from './rule-store.ts';
import type { RuleBody, RuleTables } from './rule-tables.ts';
import hosts from './rules/hosts.json' with { type: 'json' };
import pipelines from './rules/pipelines.json' with { type: 'json' };

/** The rules that come with the product, in the words of the API. */
export const seeds: readonly Draft[] = [...hosts, ...pipelines] as readonly unknown[] as readonly Draft[];

/** Puts each of them in once: one that was changed or deleted stays so, whatever later versions bring. */
export async function plantSeeds(tables: Tables<RuleTables>, clock: Clock, drafts: readonly Draft[] = seeds): Promise<void> {
  const planted = await ruleStore(tables.read).seeded();
  const fresh: readonly RuleBody[] = drafts.filter(({ rule_key: key }) => !planted.has(key)).map(bodyOf);
  if (fresh.length === 0) {
    return;
  }
  await tables.write(async (tx) => {
    const store = ruleStore(tx);
    const already = await store.seeded();
    for (const body of fresh.filter(({ rule_key: key }) => !already.has(key))) {
      // Somebody may have made a rule of that name before it came with the product: theirs stays.
      if ((await store.named(body.rule_key)) === undefined) {
        await store.insert(body, 'svc', clock.now());
      }
      await store.markSeeded(body.rule_key, clock.now());
    }
  });
}
