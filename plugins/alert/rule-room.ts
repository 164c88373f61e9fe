import { BuildInfo, defineEvent, messageOf, type PluginContext } from 'svc/sdk';

import { createImporter } from './import.ts';
import { durationOf } from './incident/duration.ts';
import { Channels, Logs, Metrics } from './neighbours.ts';
import { createPreview } from './preview.ts';
import type { Leg, RenderAnnotations, RuleBook } from './rule.ts';
import { RuleMemory } from './rule-book.ts';
import { ruleRoutes } from './rule-routes.ts';
import { ruleStore } from './rule-store.ts';
import type { RuleTables } from './rule-tables.ts';
import { createRules } from './rules.ts';
import { plantSeeds } from './seeds.ts';
import { annotationRenderer } from './template.ts';
import { ruleTestRoutes } from './unit-test/rule-test-routes.ts';

/** A rule was made, changed or deleted: what a generation commits the one beside it must know, too. */
export const RuleChanged = defineEvent<{ readonly id: number }>('alert.rule.changed');

export interface RuleRoom {
  readonly book: RuleBook;
  readonly render: RenderAnnotations;
  /** Brings what is stored to mind; before the evaluator starts. */
  load(): Promise<void>;
}

export interface RuleRoomParts {
  /** How much later than a slot its samples are there. */
  readonly delayOf: (store: Leg['store']) => number;
}

/** Rules, from what people send to what the evaluator goes by. */
export function alertRules(ctx: PluginContext, { delayOf }: RuleRoomParts): RuleRoom {
  const { clock, log, settings, services } = ctx;
  const tables = ctx.db<RuleTables>();
  const authorities = { metrics: services.maybe(Metrics), logs: services.maybe(Logs), channels: services.maybe(Channels) };
  const book = new RuleMemory((cause) => log.error({ cause }, 'a changed rule was not followed'));
  const rules = createRules({ tables, book, authorities, clock, changed: (id) => ctx.events.emit(RuleChanged, { id }) });
  const intervalMs = (): number => durationOf(settings.get<string>('alert.eval_interval'), 'alert.eval_interval');
  const importer = createImporter({ rules, authorities, known: (key) => ruleStore(tables.read).named(key) });

  ctx.http.routes([...ruleRoutes(rules, createPreview({ authorities, clock, intervalMs, delayOf }), importer), ...ruleTestRoutes(authorities.metrics)]);
  ctx.events.on(RuleChanged, async ({ id }) => book.keep(id, await ruleStore(tables.read).find(id)));

  return {
    book,
    render: annotationRenderer({ externalLabels: {}, externalUrl: services.use(BuildInfo).publicUrl }),
    async load() {
      await plantSeeds(tables, clock).catch((error: unknown) => log.warn({ cause: messageOf(error) }, 'the rules that come with the product were not put in'));
      book.load(await ruleStore(tables.read).all());
    },
  };
}
