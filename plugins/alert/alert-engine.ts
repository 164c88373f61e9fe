import {
  AlertEvaluator,
  AlertingRules,
  IncidentChanged,
  IncidentDeeds,
  IncidentFired,
  Incidents,
  OthersAlerts,
} from 'svc/contracts/alert';
import { LogQueries } from 'svc/contracts/logs';
import { Mentions } from 'svc/contracts/mention';
import { MetricsIngest, MetricsQueries } from 'svc/contracts/metricsdb';
import { NoticeDispatcher, NoticeSource } from 'svc/contracts/notify';
import { inTurns } from 'svc/flow';
import { Jobs } from 'svc/jobs';
import { DeviceScopes, type SeenBy, seenBy } from 'svc/query';
import {
  BuildInfo,
  EarlierOutbox,
  type Handle,
  messageOf,
  type PluginContext,
  timestamp,
} from 'svc/sdk';

import { AlertSeries } from './evaluator/alert-series.ts';
import { EvaluatorCounters } from './evaluator/counters.ts';
import { Evaluator } from './evaluator/evaluator.ts';
import { OthersAlertBook } from './evaluator/others-alerts.ts';
import { evaluatorHealth, runtimeRoutes, ShownRules } from './evaluator/runtime-info.ts';
import { Timeline } from './evaluator/timeline.ts';
import { Backgrounds } from './incident/background.ts';
import type { GateInputs } from './incident/gates/review.ts';
import { incidentRoutes } from './incident/incident-routes.ts';
import { incidentSkills } from './incident/incident-skills.ts';
import { IncidentStore } from './incident/incident-store.ts';
import { IncidentReader, viewOf } from './incident/incident-view.ts';
import { InstanceReader } from './incident/instance-reader.ts';
import { Families } from './incident/ledger/families.ts';
import type { Incident } from './incident/ledger/incident.ts';
import { Ledger } from './incident/ledger/ledger.ts';
import type { IncidentTables } from './incident/ledger/tables.ts';
import { incidentMention } from './incident/mention.ts';
import { NoticeQueue, recordOutcomes } from './incident/notices.ts';
import { operationRoutes } from './incident/operation-routes.ts';
import { Operations } from './incident/operations.ts';
import { Why } from './incident/why.ts';
import { BackEnd, type StoreName, type Within } from './queries/back-end.ts';
import type { Delays } from './queries/delays.ts';
import { askLogs, askMetrics, withinScope } from './queries/stores.ts';
import { durationOf } from './rule/duration.ts';
import { isOfSource, type Plan, type Rule, type RuleBook } from './rule/rule.ts';
import { SilenceReach } from './silence/silence-reach.ts';
import { silenceRoutes } from './silence/silence-routes.ts';
import { silenceSkill } from './silence/silence-skill.ts';
import { SilenceStore, type SilenceTables } from './silence/silence-store.ts';
import { Silences } from './silence/silences.ts';
import type { RenderAnnotations, RenderLabels } from './template/rendering.ts';

export interface AlertEngineParts {
  readonly book: RuleBook;
  readonly planOf: (rule: Rule, intervalMs: number) => Plan;
  readonly render: RenderAnnotations;
  readonly labelsOf: RenderLabels;
  readonly delays: Delays;
  readonly recording: { tick(): Promise<void> };
}

const tickMs = 1_000;
const measureMs = 10_000;
const delaysMs = 60_000;
const retentionMs = 3_600_000;

/** Everything from the rules to the notices that are sent; begins with `start`. */
export class AlertEngine {
  readonly #ctx: PluginContext;
  readonly #parts: AlertEngineParts;
  readonly #metrics: Handle<MetricsQueries>;
  readonly #timeline: Timeline;
  readonly #silences: Silences;
  readonly #incidents: IncidentStore;
  readonly #notices: NoticeQueue;
  readonly #ledger: Ledger;
  readonly #instances: InstanceReader;
  readonly #counters: EvaluatorCounters;
  readonly #evaluator: Evaluator;
  readonly #seenBy: SeenBy;
  readonly #planOf = (rule: Rule): Plan =>
    this.#parts.planOf(rule, this.#milliseconds('alert.eval_interval'));

  constructor(ctx: PluginContext, parts: AlertEngineParts) {
    const { clock, log, scope, services } = ctx;
    this.#ctx = ctx;
    this.#parts = parts;
    this.#metrics = services.maybe(MetricsQueries);
    this.#timeline = new Timeline(clock);
    this.#seenBy = seenBy(services.maybe(DeviceScopes));
    const tables = ctx.db<IncidentTables>();
    this.#incidents = new IncidentStore(tables);
    const planOf = this.#planOf;
    const families = new Families(parts.book, planOf);
    this.#notices = new NoticeQueue({
      jobs: new Jobs(ctx, { tables, process: String(services.use(BuildInfo).startedAt) }),
      dispatcher: services.maybe(NoticeDispatcher),
      store: this.#incidents,
      clock,
      log,
    });
    this.#ledger = new Ledger({
      tables,
      clock,
      log,
      handOver: this.#notices.handOver,
      familyOf: (incident) => families.of(incident),
      changed: (incidents, types) => this.#publish(incidents, types),
    });
    const reach = new SilenceReach({ tables, ledger: this.#ledger });
    this.#silences = new Silences({
      store: new SilenceStore(ctx.db<SilenceTables>()),
      reach,
      clock,
      seenBy: this.#seenBy,
    });
    this.#counters = new EvaluatorCounters(ctx.metrics);
    const within = withinScope(scope);
    const backEnds = this.#backEnds(within);
    const alerts = new AlertSeries({
      within,
      log,
      ledger: this.#ledger,
      store: services.maybe(MetricsIngest),
      lost: (samples) => this.#counters.seriesLost(samples),
    });
    this.#evaluator = new Evaluator({
      clock,
      log,
      backEnds,
      ledger: this.#ledger,
      timeline: this.#timeline,
      counters: this.#counters,
      book: parts.book,
      planOf,
      render: parts.render,
      labelsOf: parts.labelsOf,
      alerts,
      delayOf: parts.delays.of,
      intervalMs: () => this.#milliseconds('alert.eval_interval'),
      gateInputs: () => this.#gateInputs(),
    });
    this.#instances = new InstanceReader({
      tables,
      ledger: this.#ledger,
      staleOf: (ruleId) => (isOfSource(ruleId) ? new Map() : this.#evaluator.stale.of(ruleId)),
      silencedBy: (one) => this.#silences.covering(one, clock.now()),
    });
    scope.defer('finish evaluations', () => this.#evaluator.stop());
    ctx.settings.watch('alert.eval_interval', () => this.#evaluator.replan());
    ctx.health.check('the alert evaluator stores what it finds', () =>
      evaluatorHealth(this.#evaluator),
    );
    this.#provideServices();
    services.provide(AlertingRules, () => new ShownRules(this.#evaluator, alerts));
    this.#addRoutes([...backEnds.values()]);
  }

  async start(): Promise<void> {
    const { scope, clock, log } = this.#ctx;
    const tables = this.#ctx.db<IncidentTables>();
    await this.#notices.adopt(tables, this.#ctx.services.use(EarlierOutbox));
    await this.#silences.refresh();
    const unfollow = await this.#evaluator.start();
    scope.defer('no longer follow the rules', unfollow);
    const tick = (): Promise<void> =>
      this.#evaluator
        .tick()
        .catch((error: unknown) =>
          log.error(
            { event: 'alert.tick_failed', cause: messageOf(error) },
            'the alert evaluator failed a tick',
          ),
        );
    // Not awaited: a slow query must not delay the next tick.
    scope.interval('evaluate alert rules', tickMs, () => void tick());
    scope.interval('count incidents', measureMs, () => this.#counters.measure(this.#ledger));
    scope.interval('learn how late samples are', delaysMs, () =>
      this.#parts.delays.learn(this.#metrics, log),
    );
    scope.interval('remove old incidents', retentionMs, async () => {
      const before = clock.now() - this.#milliseconds('alert.retention');
      const incidents = await this.#incidents.removeResolved(before);
      const events = await this.#incidents.removeEvents(before);
      await this.#instances.removeOver(clock.now());
      await this.#silences.removeExpired();
      log.debug({ incidents, events, before: timestamp(before) }, 'removed old incidents');
    });
  }

  #milliseconds(setting: string): number {
    return durationOf(this.#ctx.settings.get<string>(setting), setting);
  }

  #gateInputs(): GateInputs {
    const now = this.#timeline.look();
    return {
      steady: this.#timeline.steady(now),
      cooldownMs: this.#milliseconds('alert.cooldown'),
      reminderMs: this.#milliseconds('alert.reminder'),
      silencedBy: (one) => this.#silences.covering(one, now),
      dampening: ({ rule_id: id }) => {
        const rule = this.#parts.book.get(id);
        return rule === undefined || rule.notify_min_fires === 0
          ? undefined
          : { windowMs: rule.notify_window_seconds * 1_000, minFires: rule.notify_min_fires };
      },
    };
  }

  #backEnds(within: Within): ReadonlyMap<StoreName, BackEnd> {
    const { clock, services } = this.#ctx;
    const monotonic = (): number => clock.monotonic();
    return new Map<StoreName, BackEnd>([
      [
        'metrics',
        new BackEnd({ name: 'metrics', ask: askMetrics(this.#metrics), within, monotonic }),
      ],
      [
        'logs',
        new BackEnd({ name: 'logs', ask: askLogs(services.maybe(LogQueries)), within, monotonic }),
      ],
    ]);
  }

  /** Events, after the commit of the changes that they are about. */
  #publish(
    incidents: readonly Incident[],
    typesByKey: ReadonlyMap<string, readonly string[]>,
  ): Promise<void> {
    const { events } = this.#ctx;
    return inTurns(incidents, (incident) => {
      const types = typesByKey.get(incident.dedupe_key);
      if (types?.includes('firing') === true) {
        events.emit(IncidentFired, {
          incident: viewOf(incident),
          reopened: types.includes('reopened'),
        });
      }
      if (types !== undefined) {
        const device_id = incident.scope_type === 'host' ? incident.scope_id : null;
        events.emit(IncidentChanged, {
          id: incident.id,
          status: incident.status,
          device_id,
          events: types,
        });
      }
    });
  }

  #provideServices(): void {
    const { services, extend, skills, clock, ids } = this.#ctx;
    const backgrounds = new Backgrounds({
      clock,
      log: this.#ctx.log,
      ledger: this.#ledger,
      store: this.#incidents,
      book: this.#parts.book,
      metrics: this.#metrics,
      planOf: this.#planOf,
      instances: this.#instances,
      silencedBy: (one) => this.#silences.covering(one, clock.now()),
    });
    services.provide(NoticeSource, () => ({
      record: (outcomes) =>
        recordOutcomes(outcomes, {
          store: this.#incidents,
          ledger: this.#ledger,
          now: clock.now(),
        }),
      pinning: async (channelId) => this.#parts.book.pinning(channelId),
      burning: (incidents) => backgrounds.burning(incidents),
      background: (incident) => backgrounds.of(incident),
      instances: (incident, page) => backgrounds.instances(incident, page),
    }));
    const reader = new IncidentReader(this.#incidents, this.#instances, clock, {
      get: (id) => this.#parts.book.get(id),
      planOf: this.#planOf,
    });
    services.provide(Incidents, () => reader);
    extend.contribute(Mentions, 'incident', incidentMention(reader, this.#seenBy));
    const parts = {
      incidents: reader,
      seenBy: this.#seenBy,
      dispatcher: services.maybe(NoticeDispatcher),
      clock,
      ids,
    };
    incidentSkills(parts).forEach((skill) => skills.add(skill));
    skills.add(silenceSkill(this.#silences));
    const own = {
      ledger: this.#ledger,
      timeline: this.#timeline,
      clock,
      log: this.#ctx.log,
      gateInputs: () => this.#gateInputs(),
    };
    const others = new OthersAlertBook(own);
    services.provide(OthersAlerts, () => others);
    services.provide(AlertEvaluator, () => ({
      tick: async () => {
        await this.#parts.recording.tick();
        await this.#evaluator.tick();
        // Rules that were due may have been taken by a tick of the interval.
        await this.#evaluator.idle();
      },
    }));
  }

  #addRoutes(backEnds: readonly BackEnd[]): void {
    const { book } = this.#parts;
    const shared = {
      store: this.#incidents,
      instances: this.#instances,
      ledger: this.#ledger,
      seenBy: this.#seenBy,
    };
    const operations = new Operations({
      ...shared,
      clock: this.#ctx.clock,
      gateInputs: () => this.#gateInputs(),
    });
    this.#ctx.services.provide(IncidentDeeds, () => operations);
    this.#ctx.http.routes([
      ...incidentRoutes({
        ...shared,
        why: new Why(this.#incidents, this.#ctx.services.maybe(NoticeDispatcher)),
      }),
      ...operationRoutes(operations),
      ...silenceRoutes(this.#silences),
      ...runtimeRoutes({
        backEnds,
        book,
        evaluator: this.#evaluator,
        counters: this.#counters,
        ledger: this.#ledger,
        intervalMs: () => this.#milliseconds('alert.eval_interval'),
        cooldownMs: () => this.#milliseconds('alert.cooldown'),
      }),
    ]);
  }
}
