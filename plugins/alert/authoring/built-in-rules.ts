import {
  type Clock,
  type HealthReport,
  type Logger,
  messageOf,
  type Scope,
  type Tables,
} from 'svc/sdk';

import { RuleStore } from '../rule/rule-store.ts';
import type { RuleBody, RuleTables } from '../rule/rule-tables.ts';
import checks from '../rules/checks.json' with { type: 'json' };
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
  ...checks,
] as readonly unknown[] as readonly Draft[];

export interface BuiltInRulesParts {
  readonly tables: Tables<RuleTables>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly scope: Pick<Scope, 'interval'>;
}

const againMs = 30_000;

/** Installation of the built-in rules, which a full disk may put off. */
export class BuiltInRules {
  readonly #parts: BuiltInRulesParts;
  #cause: string | undefined;

  constructor(parts: BuiltInRulesParts) {
    this.#parts = parts;
  }

  health(): HealthReport {
    return this.#cause === undefined
      ? { ok: true }
      : {
          ok: true,
          degraded: true,
          detail: `the built-in alert rules are not installed yet: ${this.#cause}`,
        };
  }

  /** Installs them, now or as soon as it works; calls `late` in the second case. */
  async install(late: () => Promise<void>): Promise<void> {
    if (await this.#tried()) {
      return;
    }
    const end = this.#parts.scope.interval('install the built-in rules', againMs, async () => {
      if (await this.#tried()) {
        await late();
        await end();
      }
    });
  }

  async #tried(): Promise<boolean> {
    const { tables, clock, log } = this.#parts;
    try {
      await installBuiltInRules(tables, clock);
      this.#cause = undefined;
      return true;
    } catch (error) {
      if (this.#cause === undefined) {
        log.warn(
          { event: 'alert.built_ins_not_installed', cause: messageOf(error) },
          'failed to install the built-in rules; retrying every 30 s',
        );
      }
      this.#cause = messageOf(error);
      return false;
    }
  }
}

/** Installs each of them once: a changed or deleted one stays so, whatever later versions bring. */
async function installBuiltInRules(tables: Tables<RuleTables>, clock: Clock): Promise<void> {
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
