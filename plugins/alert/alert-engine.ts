import { AlertEvaluator } from 'svc/contracts/alert';
import { DeviceScopes, seenBy } from 'svc/query';
import { EarlierOutbox, type PluginContext, timestamp } from 'svc/sdk';

import { Evaluation } from './evaluator/evaluation.ts';
import { Timeline } from './evaluator/timeline.ts';
import type { GateInputs } from './incident/gates/review.ts';
import type { IncidentStore } from './incident/incident-store.ts';
import { InstanceReader } from './incident/instance-reader.ts';
import type { IncidentTables } from './incident/ledger/tables.ts';
import type { NoticeQueue } from './incident/notices.ts';
import { offerIncidents } from './incident/offer-incidents.ts';
import { openLedger } from './incident/open-ledger.ts';
import type { Delays } from './queries/delays.ts';
import { Pace } from './rule/pace.ts';
import type { Plan, Rule, LiveRules } from './rule/rule.ts';
import { openSilences } from './silence/open-silences.ts';
import type { Silences } from './silence/silences.ts';
import type { NameOfDevice, RenderAnnotations, RenderLabels } from './template/rendering.ts';

export interface AlertEngineParts {
  readonly liveRules: LiveRules;
  readonly planOf: (rule: Rule, intervalMs: number) => Plan;
  readonly render: RenderAnnotations;
  readonly labelsOf: RenderLabels;
  readonly nameOf: NameOfDevice;
  readonly delays: Delays;
  readonly recording: { tick(): Promise<void> };
}

const retentionMs = 3_600_000;

/** Everything from the rules to the notices that are sent; begins with `start`. */
export class AlertEngine {
  readonly #ctx: PluginContext;
  readonly #pace: Pace;
  readonly #notices: NoticeQueue;
  readonly #silences: Silences;
  readonly #evaluation: Evaluation;
  readonly #incidents: IncidentStore;
  readonly #instances: InstanceReader;

  constructor(ctx: PluginContext, { recording, ...parts }: AlertEngineParts) {
    const { clock, services } = ctx;
    const { liveRules } = parts;
    const pace = new Pace(ctx.settings);
    const planOf = (rule: Rule): Plan => parts.planOf(rule, pace.intervalMs());
    const sees = seenBy(services.maybe(DeviceScopes));
    const timeline = new Timeline(clock);

    const { ledger, store, notices } = openLedger(ctx, liveRules, planOf);
    const silences = openSilences(ctx, ledger, sees);
    const gateInputs = gateInputsOf(timeline, pace, silences, liveRules);
    const evaluation = new Evaluation(ctx, {
      ...parts,
      planOf,
      ledger,
      timeline,
      pace,
      gateInputs,
    });
    const silencedBy: GateInputs['silencedBy'] = (one) => silences.covering(one, clock.now());
    const instances = new InstanceReader({
      tables: ctx.db<IncidentTables>(),
      ledger,
      staleOf: evaluation.staleOf,
      silencedBy,
    });
    offerIncidents(ctx, {
      ledger,
      store,
      instances,
      liveRules,
      planOf,
      gateInputs,
      silencedBy,
      seenBy: sees,
      nameOf: parts.nameOf,
    });
    services.provide(AlertEvaluator, () => ({
      tick: async () => {
        await recording.tick();
        await evaluation.tick();
      },
    }));

    this.#ctx = ctx;
    this.#pace = pace;
    this.#notices = notices;
    this.#silences = silences;
    this.#evaluation = evaluation;
    this.#incidents = store;
    this.#instances = instances;
  }

  async start(): Promise<void> {
    const { scope, services } = this.#ctx;
    await this.#notices.adopt(this.#ctx.db<IncidentTables>(), services.use(EarlierOutbox));
    await this.#silences.refresh();
    await this.#evaluation.start();
    scope.interval('remove old incidents', retentionMs, () => this.#removeOld());
  }

  async #removeOld(): Promise<void> {
    const { clock, log } = this.#ctx;
    const before = clock.now() - this.#pace.retentionMs();
    const incidents = await this.#incidents.removeResolved(before);
    const events = await this.#incidents.removeEvents(before);
    await this.#instances.removeOver(clock.now());
    await this.#silences.removeExpired();
    log.debug({ incidents, events, before: timestamp(before) }, 'removed old incidents');
  }
}

/** Inputs of the gates, as of the moment of the call. */
const gateInputsOf =
  (timeline: Timeline, pace: Pace, silences: Silences, liveRules: LiveRules) => (): GateInputs => {
    const now = timeline.look();
    return {
      steady: timeline.steady(now),
      cooldownMs: pace.cooldownMs(),
      reminderMs: pace.reminderMs(),
      silencedBy: (one) => silences.covering(one, now),
      dampening: ({ rule_id: id }) => {
        const rule = liveRules.get(id);
        return rule === undefined || rule.notify_min_fires === 0
          ? undefined
          : { windowMs: rule.notify_window_seconds * 1_000, minFires: rule.notify_min_fires };
      },
    };
  };
