import { defineService, messageOf, type PluginContext, timestamp } from 'svc/sdk';

import type { NoticeSource } from '../notify/contract.ts';
import { AlertEvaluator, IncidentChanged, IncidentFired, Incidents } from './contract.ts';
import { AlertSeries } from './evaluator/alert-series.ts';
import { BackEnd, type StoreName } from './evaluator/back-end.ts';
import type { Delays } from './evaluator/delays.ts';
import { Evaluator } from './evaluator/evaluator.ts';
import { runtimeRoutes } from './evaluator/runtime-info.ts';
import { selfMetrics } from './evaluator/self-metrics.ts';
import { askLogs, askMetrics, withinScope } from './evaluator/stores.ts';
import { Timeline } from './evaluator/timeline.ts';
import type { Surroundings } from './gates/review.ts';
import { durationOf } from './incident/duration.ts';
import { incidentRoutes } from './incident/incident-routes.ts';
import { IncidentStore } from './incident/incident-store.ts';
import { Ledger } from './incident/ledger.ts';
import { Operations } from './incident/operations.ts';
import { readIncidents } from './incident/reading.ts';
import { viewOf } from './incident/shown.ts';
import type { IncidentTables } from './incident/tables.ts';
import { tellDispatcher } from './incident/telling.ts';
import { Channels, Logs, Metrics, MetricsIngest } from './neighbours.ts';
import type { Plan, RenderAnnotations, Rule, RuleBook } from './rule.ts';
import { silenceRoutes } from './silence/silence-routes.ts';
import { type SilenceTables, silenceStore } from './silence/silence-store.ts';
import { Silences } from './silence/silences.ts';

export interface EngineParts {
  readonly book: RuleBook;
  readonly planOf: (rule: Rule, intervalMs: number) => Plan;
  readonly render: RenderAnnotations;
  readonly delays: Delays;
}

/** Of the notifier's contract, whose folder may be taken away. */
const Notices = defineService<NoticeSource>('alert.notices');

const tickMs = 1_000;
const tidyMs = 3_600_000;

/** Everything from the rules to what channels are told; begins with `start`. */
export function alertEngine(ctx: PluginContext, { book, planOf, render, delays }: EngineParts): { start(): Promise<void> } {
  const { clock, log, scope, settings, services } = ctx;
  const milliseconds = (key: string) => () => durationOf(settings.get<string>(key), key);
  const intervalMs = milliseconds('alert.eval_interval');
  const cooldownMs = milliseconds('alert.cooldown');
  const reminderMs = milliseconds('alert.reminder');
  const retentionMs = milliseconds('alert.retention');

  const timeline = new Timeline(clock);
  const tables = ctx.db<IncidentTables>();
  const silences = new Silences(silenceStore(ctx.db<SilenceTables>()), clock);
  const surroundings = (): Surroundings => {
    const now = timeline.look();
    return {
      steady: timeline.steady(now),
      cooldownMs: cooldownMs(),
      reminderMs: reminderMs(),
      silencedBy: (incident) => silences.covering(incident, now),
      dampening({ rule_id: id }) {
        const rule = book.get(id);
        return rule === undefined || rule.notify_min_fires === 0
          ? undefined
          : { windowMs: rule.notify_window_seconds * 1_000, minFires: rule.notify_min_fires };
      },
    };
  };
  const ledger = new Ledger({
    tables,
    outbox: ctx.outbox,
    clock,
    log,
    changed(incidents, events) {
      for (const incident of incidents) {
        const types = events.get(incident.dedupe_key);
        if (types === undefined) {
          continue;
        }
        if (types.includes('firing')) {
          ctx.events.emit(IncidentFired, { incident: viewOf(incident), reopened: types.includes('reopened') });
        }
        ctx.events.emit(IncidentChanged, { id: incident.id, status: incident.status, events: types });
      }
    },
  });

  const within = withinScope(scope);
  const monotonic = (): number => clock.monotonic();
  const metricsStore = services.maybe(Metrics);
  const backEnds = new Map<StoreName, BackEnd>([
    ['metrics', new BackEnd({ name: 'metrics', ask: askMetrics(metricsStore), within, monotonic })],
    ['logs', new BackEnd({ name: 'logs', ask: askLogs(services.maybe(Logs)), within, monotonic })],
  ]);
  const counted = selfMetrics(ctx.metrics);
  const alerts = new AlertSeries({ store: services.maybe(MetricsIngest), ledger, within, log, lost: counted.seriesLost });
  const evaluator = new Evaluator({
    book,
    planOf: (rule) => planOf(rule, intervalMs()),
    render,
    ledger,
    alerts,
    timeline,
    clock,
    log,
    backEnds,
    delayOf: delays.of,
    intervalMs,
    surroundings,
    counted,
  });
  scope.defer('finish evaluations', () => evaluator.stop());

  const store = new IncidentStore(tables);
  const operations = new Operations({ ledger, clock, surroundings });
  tellDispatcher(ctx, services.maybe(Channels), store);
  services.provide(Notices, () => ({
    record: (outcome) => store.record(outcome, clock.now()),
    pinning: async (channelId) => book.pinning(channelId),
  }));
  services.provide(Incidents, () => readIncidents(store, clock));
  services.provide(AlertEvaluator, () => ({ tick: () => evaluator.tick() }));
  ctx.http.routes([
    ...incidentRoutes(store, operations),
    ...silenceRoutes(silences),
    ...runtimeRoutes({ evaluator, ledger, book, backEnds: [...backEnds.values()], intervalMs, cooldownMs }),
  ]);
  settings.watch('alert.eval_interval', () => evaluator.replan());

  return {
    async start() {
      await silences.refresh();
      const unfollow = await evaluator.start();
      scope.defer('no longer follow the rules', unfollow);
      const look = (): Promise<void> => evaluator.tick().catch((error: unknown) => log.error({ cause: messageOf(error) }, 'a tick of the evaluator failed'));
      // Not awaited: a slow query must not delay the next look.
      scope.interval('evaluate alert rules', tickMs, () => void look());
      scope.interval('count incidents', 10_000, () => counted.standing(ledger));
      scope.interval('learn how late samples are', 60_000, () => delays.learn(metricsStore, log));
      scope.interval('remove incidents of long ago', tidyMs, async () => {
        const removed = await store.forget(clock.now() - retentionMs());
        const rows = await store.forgetEvents(clock.now() - retentionMs());
        await silences.tidy();
        log.debug({ removed, rows, at: timestamp(clock.now()) }, 'incidents of long ago were removed');
      });
    },
  };
}
