import { KnowledgeRead } from 'svc/contracts/knowledge';
import { LogQueries } from 'svc/contracts/logs';
import { MetricsQueries } from 'svc/contracts/metricsdb';
import { NoticeDispatcher } from 'svc/contracts/notify';
import { askingOf, DeviceScopes } from 'svc/query';
import {
  BuildInfo,
  type Clock,
  defineEvent,
  messageOf,
  type PluginContext,
  type Tables,
} from 'svc/sdk';

import { RuleImporter } from './import.ts';
import { durationOf } from './incident/duration.ts';
import { Preview } from './preview.ts';
import type { Leg, RenderAnnotations, RenderLabels, RuleBook } from './rule.ts';
import type { Recordings } from './recording/recordings.ts';
import { RuleMemory } from './rule-book.ts';
import { bodyOf, type Draft } from './rule-draft.ts';
import { importRoutes, previewRoutes, ruleRoutes } from './rule-routes.ts';
import { RuleStore } from './rule-store.ts';
import type { RuleBody, RuleTables } from './rule-tables.ts';
import { Rules } from './rules.ts';
import hosts from './rules/hosts.json' with { type: 'json' };
import network from './rules/network.json' with { type: 'json' };
import pipelines from './rules/pipelines.json' with { type: 'json' };
import system from './rules/system.json' with { type: 'json' };
import { ruleSkills } from './skills.ts';
import { RuleTexts } from './template.ts';
import { ruleTestRoutes } from './unit-test/rule-test-routes.ts';

/** A rule was created, changed or deleted: what a generation commits the one beside it must know, too. */
export const RuleChanged = defineEvent<{ readonly id: number }>('alert.rule.changed');

export interface AlertRulesParts {
  /** How much later than a slot its samples are there. */
  readonly delayOf: (store: Leg['store']) => number;
  readonly recordings: Recordings;
}

/** Rules, from what people send to what the evaluator goes by. */
export class AlertRules {
  readonly #tables: Tables<RuleTables>;
  readonly #clock: Clock;
  readonly #log: PluginContext['log'];
  readonly #book: RuleMemory;
  readonly render: RenderAnnotations;
  readonly labelsOf: RenderLabels;

  constructor(ctx: PluginContext, { delayOf, recordings }: AlertRulesParts) {
    const { clock, log, settings, services } = ctx;
    const tables = ctx.db<RuleTables>();
    const dependencies = {
      metrics: services.maybe(MetricsQueries),
      logs: services.maybe(LogQueries),
      channels: services.maybe(NoticeDispatcher),
      knowledge: services.maybe(KnowledgeRead),
    };
    const book = new RuleMemory((cause) =>
      log.error(
        { event: 'alert.rule_not_applied', cause },
        'could not apply a changed rule to the evaluator',
      ),
    );
    const rules = new Rules({
      tables,
      book,
      dependencies,
      clock,
      changed: (id) => ctx.events.emit(RuleChanged, { id }),
    });
    const intervalMs = (): number =>
      durationOf(settings.get<string>('alert.eval_interval'), 'alert.eval_interval');
    const texts = new RuleTexts({
      externalLabels: {},
      externalUrl: services.use(BuildInfo).publicUrl,
    });
    this.#tables = tables;
    this.#clock = clock;
    this.#log = log;
    this.#book = book;
    this.render = (rule, snapshot, query) => texts.annotations(rule, snapshot, query);
    this.labelsOf = (...asked) => texts.labels(...asked);

    const preview = new Preview({
      dependencies,
      clock,
      intervalMs,
      delayOf,
      labelsOf: this.labelsOf,
    });
    const asking = askingOf(services.maybe(DeviceScopes));
    ruleSkills(rules, preview, asking).forEach((skill) => ctx.skills.add(skill));
    ctx.http.routes([
      ...ruleRoutes(rules),
      ...previewRoutes(preview, asking),
      ...importRoutes(
        new RuleImporter({
          rules,
          recordings,
          dependencies,
          findByKey: (key) => new RuleStore(tables.read).findByKey(key),
        }),
      ),
      ...ruleTestRoutes(dependencies.metrics),
    ]);
    ctx.events.on(RuleChanged, async ({ id }) =>
      book.keep(id, await new RuleStore(tables.read).find(id)),
    );
  }

  get book(): RuleBook {
    return this.#book;
  }

  /** Brings what is stored into memory; before the evaluator starts. */
  async load(): Promise<void> {
    await installBuiltInRules(this.#tables, this.#clock).catch((error: unknown) =>
      this.#log.warn(
        { event: 'alert.built_ins_not_installed', cause: messageOf(error) },
        'could not install the built-in rules; retried at the next start',
      ),
    );
    this.#book.load(await new RuleStore(this.#tables.read).all());
  }
}

/** The rules that come with the product, in the words of the API. */
export const builtInRules: readonly Draft[] = [
  ...hosts,
  ...system,
  ...network,
  ...pipelines,
] as readonly unknown[] as readonly Draft[];

/** Installs each of them once: one that was changed or deleted stays so, whatever later versions bring. */
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
