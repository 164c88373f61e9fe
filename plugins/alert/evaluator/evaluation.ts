import { AlertingRules, OthersAlerts } from 'svc/contracts/alert';
import { LogQueries } from 'svc/contracts/logs';
import { MetricsIngest, MetricsQueries } from 'svc/contracts/metricsdb';
import { NoticeDispatcher } from 'svc/contracts/notify';
import { messageOf, type PluginContext } from 'svc/sdk';

import type { GateInputs } from '../incident/gates/review.ts';
import type { Ledger } from '../incident/ledger/ledger.ts';
import type { Stale } from '../instance/stale-instances.ts';
import { type Ask, BackEnd, type StoreName, type Within } from '../queries/back-end.ts';
import type { Delays } from '../queries/delays.ts';
import { askLogs, askMetrics, withinScope } from '../queries/stores.ts';
import type { Pace } from '../rule/pace.ts';
import { isOfSource, type Plan, type Rule, type LiveRules } from '../rule/rule.ts';
import type { NameOfDevice, RenderAnnotations, RenderLabels } from '../template/rendering.ts';
import { AlertSeries } from './alert-series.ts';
import { EvaluatorCounters } from './counters.ts';
import { Evaluator } from './evaluator.ts';
import { OthersAlertService } from './others-alerts.ts';
import { evaluatorHealth, runtimeRoutes, ShownRules } from './runtime-info.ts';
import type { Timeline } from './timeline.ts';

export interface EvaluationParts {
  readonly liveRules: LiveRules;
  readonly planOf: (rule: Rule) => Plan;
  readonly render: RenderAnnotations;
  readonly labelsOf: RenderLabels;
  readonly nameOf: NameOfDevice;
  readonly ledger: Ledger;
  readonly timeline: Timeline;
  readonly pace: Pace;
  readonly delays: Delays;
  readonly gateInputs: () => GateInputs;
}

const tickMs = 1_000;
const measureMs = 10_000;
const delaysMs = 60_000;

/** The evaluator as the plugin runs it: over which stores, how often, and how it is seen from outside. */
export class Evaluation {
  readonly #ctx: PluginContext;
  readonly #parts: EvaluationParts;
  readonly #counters: EvaluatorCounters;
  readonly #evaluator: Evaluator;

  constructor(ctx: PluginContext, parts: EvaluationParts) {
    const { clock, log, scope, services } = ctx;
    const { ledger, pace, delays } = parts;
    this.#ctx = ctx;
    this.#parts = parts;
    const counters = new EvaluatorCounters(ctx.metrics, clock);
    const within = withinScope(scope);
    const backEnds = backEndsOf(ctx, within, delays);
    const alerts = new AlertSeries({
      within,
      log,
      ledger,
      store: services.maybe(MetricsIngest),
      lost: (samples) => counters.seriesLost(samples),
    });
    const evaluator = new Evaluator({
      ...parts,
      clock,
      log,
      backEnds,
      counters,
      alerts,
      delayOf: delays.of,
      intervalMs: pace.intervalMs,
    });
    this.#counters = counters;
    this.#evaluator = evaluator;
    const others = new OthersAlertService({ ...parts, clock, log });
    services.provide(OthersAlerts, () => others);
    services.provide(AlertingRules, () => new ShownRules(evaluator, alerts));
    ctx.http.routes(
      runtimeRoutes({
        backEnds: [...backEnds.values()],
        channels: services.maybe(NoticeDispatcher),
        liveRules: parts.liveRules,
        evaluator,
        counters,
        ledger,
        intervalMs: pace.intervalMs,
        cooldownMs: pace.cooldownMs,
      }),
    );
    ctx.settings.watch('alert.eval_interval', () => evaluator.replan());
    ctx.health.check('storing the results of the alert evaluator', () =>
      evaluatorHealth(evaluator),
    );
    scope.defer('finish evaluations', () => evaluator.stop());
  }

  async start(): Promise<void> {
    const { scope, services, log } = this.#ctx;
    const { ledger, delays } = this.#parts;
    scope.defer('no longer follow the rules', await this.#evaluator.start());
    // Not awaited: a slow query must not delay the next tick.
    scope.interval('evaluate alert rules', tickMs, () => {
      void this.#evaluator
        .tick()
        .catch((error: unknown) =>
          log.error(
            { event: 'alert.tick_failed', cause: messageOf(error) },
            'failed to evaluate alert rules',
          ),
        );
    });
    scope.interval('count incidents', measureMs, () => this.#counters.measure(ledger));
    const stores = { metrics: services.maybe(MetricsQueries), logs: services.maybe(LogQueries) };
    const learn = (): Promise<void> => delays.learn(stores, log);
    // Not awaited: a store that hangs must not keep alerts from starting.
    const learnSoon = (): void => {
      // A store may leave together with this generation.
      if (!scope.signal.aborted) {
        scope.task('learn how late samples are', learn);
      }
    };
    learnSoon();
    Object.values(stores).forEach((store) =>
      store.onChange((state) => state === 'up' && learnSoon()),
    );
    scope.interval('learn how late samples are', delaysMs, learn);
  }

  /**
   * Evaluates the rules that are due; resolves once all results are stored, including those that a
   * tick of the interval took.
   */
  async tick(): Promise<void> {
    await this.#evaluator.tick();
    await this.#evaluator.idle();
  }

  /**
   * Returns the firing instances of a rule whose source is silent; alerts of other systems are
   * never stale here.
   */
  readonly staleOf = (ruleId: number): Stale =>
    isOfSource(ruleId) ? new Map() : this.#evaluator.stale.of(ruleId);
}

function backEndsOf(
  { clock, services }: PluginContext,
  within: Within,
  { graceOf }: Delays,
): ReadonlyMap<StoreName, BackEnd> {
  const monotonic = (): number => clock.monotonic();
  const metrics = askMetrics(services.maybe(MetricsQueries));
  const logs = askLogs(services.maybe(LogQueries));
  const backEnd = (name: StoreName, ask: Ask): BackEnd =>
    new BackEnd({ name, ask, within, monotonic, graceMs: () => graceOf(name) });
  return new Map([
    ['metrics', backEnd('metrics', metrics)],
    ['logs', backEnd('logs', logs)],
  ]);
}
