import { DeviceNames } from 'svc/contracts/device';
import { KnowledgeRead } from 'svc/contracts/knowledge';
import { LogQueries } from 'svc/contracts/logs';
import { MetricsQueries } from 'svc/contracts/metricsdb';
import { NoticeDispatcher } from 'svc/contracts/notify';
import { askingOf, DeviceScopes } from 'svc/query';
import { BuildInfo, defineEvent, type PluginContext, type Tables } from 'svc/sdk';

import { BuiltInRules } from './authoring/built-in-rules.ts';
import { ruleRoutes } from './authoring/rule-routes.ts';
import { ruleDraftSkill, ruleSkill } from './authoring/rule-skill.ts';
import { Rules } from './authoring/rules.ts';
import { Preview } from './preview/preview.ts';
import { previewRoutes } from './preview/preview-routes.ts';
import { previewSkill } from './preview/preview-skill.ts';
import type { Recordings } from './recording/recordings.ts';
import { RuleImporter } from './rule-file/import.ts';
import { importRoutes } from './rule-file/import-routes.ts';
import { Pace } from './rule/pace.ts';
import type { Leg, LiveRules } from './rule/rule.ts';
import { RuleMemory } from './rule/rule-memory.ts';
import { RuleFiles } from './rule-thread/rule-files.ts';
import { RuleStore } from './rule/rule-store.ts';
import type { RuleTables } from './rule/rule-tables.ts';
import type { NameOfDevice, RenderAnnotations, RenderLabels } from './template/rendering.ts';
import { RuleTexts } from './template/template.ts';
import { ruleTestRoutes } from './unit-test/rule-test-routes.ts';

/**
 * Fired when a rule is created, changed or deleted, so that the other generation of the plugin
 * learns of it too.
 */
export const RuleChanged = defineEvent<{ readonly id: number }>('alert.rule.changed');

export interface AlertRulesParts {
  /** Delay until the samples of a slot are available. */
  readonly delayOf: (store: Leg['store']) => number;
  readonly recordings: Recordings;
}

/** Rules, from what people send to what the evaluator goes by. */
export class AlertRules {
  readonly #tables: Tables<RuleTables>;
  readonly #builtIn: BuiltInRules;
  readonly #liveRules: RuleMemory;
  readonly render: RenderAnnotations;
  readonly labelsOf: RenderLabels;
  readonly nameOf: NameOfDevice;

  constructor(ctx: PluginContext, { delayOf, recordings }: AlertRulesParts) {
    const { clock, log, settings, services } = ctx;
    const tables = ctx.db<RuleTables>();
    const dependencies = {
      metrics: services.maybe(MetricsQueries),
      logs: services.maybe(LogQueries),
      channels: services.maybe(NoticeDispatcher),
      knowledge: services.maybe(KnowledgeRead),
    };
    const liveRules = new RuleMemory((cause) =>
      log.error(
        { event: 'alert.rule_not_applied', cause },
        'failed to apply a changed rule to the evaluator',
      ),
    );
    const rules = new Rules({
      tables,
      liveRules,
      dependencies,
      clock,
      changed: (id) => ctx.events.emit(RuleChanged, { id }),
    });
    const names = services.maybe(DeviceNames);
    this.nameOf = (id) => (names.available ? names.get().nameOf(id) : undefined) ?? `device ${id}`;
    const texts = new RuleTexts({
      externalLabels: {},
      externalUrl: services.use(BuildInfo).publicUrl,
      nameOf: this.nameOf,
    });
    this.#tables = tables;
    this.#builtIn = new BuiltInRules({ tables, clock, log, scope: ctx.scope });
    ctx.health.check('the built-in alert rules are installed', () => this.#builtIn.health());
    this.#liveRules = liveRules;
    this.render = (rule, snapshot, query) => texts.annotations(rule, snapshot, query);
    this.labelsOf = (...asked) => texts.labels(...asked);

    const preview = new Preview({
      dependencies,
      clock,
      intervalMs: new Pace(settings).intervalMs,
      delayOf,
      labelsOf: this.labelsOf,
    });
    const files = new RuleFiles(
      ctx.threads.start('rule-files', 'rule-files-worker.ts', undefined, { idleMs: 60_000 }),
    );
    const asking = askingOf(services.maybe(DeviceScopes));
    ctx.skills.add(ruleSkill(rules));
    ctx.skills.add(ruleDraftSkill(rules));
    ctx.skills.add(previewSkill(preview, asking));
    ctx.http.routes([
      ...ruleRoutes(rules),
      ...previewRoutes(preview, asking),
      ...importRoutes(
        new RuleImporter({
          candidates: (request) => files.candidates(request),
          rules,
          recordings,
          dependencies,
          findByKey: (key) => new RuleStore(tables.read).findByKey(key),
        }),
      ),
      ...ruleTestRoutes(dependencies.metrics, files),
    ]);
    ctx.events.on(RuleChanged, async ({ id }) =>
      liveRules.keep(id, await new RuleStore(tables.read).find(id)),
    );
  }

  get liveRules(): LiveRules {
    return this.#liveRules;
  }

  /** Brings what is stored into memory; before the evaluator starts. */
  async load(): Promise<void> {
    const reload = async (): Promise<void> =>
      this.#liveRules.load(await new RuleStore(this.#tables.read).all());
    await this.#builtIn.install(reload);
    await reload();
  }
}
