import { type Clock, type Logger, messageOf } from 'svc/sdk';

import type { GateInputs } from '../incident/gates/review.ts';
import { sweep } from '../incident/gates/sweep.ts';
import type { Ledger } from '../incident/ledger/ledger.ts';
import { answerRowsInTurns, excessOf } from '../instance/answer-rows.ts';
import { withEtas } from '../instance/eta.ts';
import { StaleInstances } from '../instance/stale-instances.ts';
import { askTogether, type BackEnd, type StoreName } from '../queries/back-end.ts';
import type { Leg, Plan, Rule, LiveRules, RuleChange } from '../rule/rule.ts';
import type { NameOfDevice, RenderAnnotations, RenderLabels } from '../template/rendering.ts';
import type { AlertSeries } from './alert-series.ts';
import { Attempts, type FailingWork } from './attempts.ts';
import type { EvaluatorCounters } from './counters.ts';
import { type Finding, Findings } from './findings.ts';
import { Heartbeat } from './heartbeat.ts';
import { ownRuleOf, ownRules, type OwnState } from './own-rules.ts';
import { applyRuleChange, reconcile } from './rule-changes.ts';
import { ScheduledRule } from './scheduled-rule.ts';
import { lookAgain, measuresToAsk, type SecondLook } from './second-look.ts';
import type { Timeline } from './timeline.ts';

export interface EvaluatorParts {
  readonly liveRules: LiveRules;
  readonly planOf: (rule: Rule) => Plan;
  readonly render: RenderAnnotations;
  readonly nameOf: NameOfDevice;
  readonly labelsOf: RenderLabels;
  readonly ledger: Ledger;
  readonly alerts: AlertSeries;
  readonly timeline: Timeline;
  readonly clock: Clock;
  readonly log: Logger;
  readonly backEnds: ReadonlyMap<StoreName, BackEnd>;
  /** Delay until the samples of a slot are available. */
  readonly delayOf: (store: StoreName) => number;
  readonly intervalMs: () => number;
  readonly gateInputs: () => GateInputs;
  readonly counters: EvaluatorCounters;
}

const longestMs = 10_000;
/** Part of its interval that a rule may wait for its store, so that it is done when its next slot comes. */
const waitingPart = 0.8;
/** Time limit of follow-up queries of an evaluation. */
const againMs = 2_000;

/** Evaluates every rule in its slot, and brings what it finds to the ledger. */
export class Evaluator {
  readonly #parts: EvaluatorParts;
  readonly #findings: Findings;
  readonly #attempts: Attempts;
  readonly #heartbeat: Heartbeat;
  readonly #rules = new Map<number, ScheduledRule>();
  readonly #ownRules = ownRules.map(({ rule, plan }) => new ScheduledRule(rule, plan, undefined));
  #running = new Set<Promise<unknown>>();
  #stopped = false;
  #reconciled = false;
  #jumps: number;
  #stale: StaleInstances;

  constructor(parts: EvaluatorParts) {
    const { ledger, alerts, clock, log, gateInputs } = parts;
    this.#parts = parts;
    this.#jumps = parts.timeline.jumps;
    this.#stale = new StaleInstances(new Map(), { steady: 0, wall: 0 });
    this.#attempts = new Attempts({ clock, log });
    this.#heartbeat = new Heartbeat({ ledger, timeline: parts.timeline, attempts: this.#attempts });
    const render: RenderAnnotations = (rule, snapshot, query) =>
      ownRuleOf(rule)?.annotations(snapshot.scope_id, this.#ownState()) ??
      parts.render(rule, snapshot, query);
    const isCurrent = (rule: Rule): boolean =>
      ownRuleOf(rule) !== undefined || this.#rules.get(rule.id)?.rule === rule;
    this.#findings = new Findings({
      ledger,
      alerts,
      render,
      nameOf: parts.nameOf,
      now: () => clock.now(),
      gateInputs,
      isCurrent,
      log,
    });
  }

  /** Brings memory up to what is on disk, and follows the rules from here on. */
  async start(): Promise<() => void> {
    const { ledger, liveRules, timeline } = this.#parts;
    await ledger.load();
    timeline.restore(ledger.heartbeat?.drift ?? 0);
    const wall = timeline.look();
    const { at: beatAt, drift } = ledger.heartbeat ?? { at: 0, drift: 0 };
    this.#stale = new StaleInstances(
      ledger.instances,
      { steady: timeline.steady(wall), wall },
      Math.max(0, beatAt + drift - wall),
    );
    await this.#reconcile();
    const follow = liveRules.onChange((change) => this.#follow(change));
    for (const own of this.#ownRules) {
      own.lastOk = ledger.heartbeat?.at;
      own.schedule(this.#parts.clock.now(), this.#parts.intervalMs());
    }
    for (const rule of liveRules.enabled()) {
      this.#schedule(rule, ledger.heartbeat?.at);
    }
    return follow;
  }

  /** Resolves when all that earlier ticks began is stored. */
  readonly idle = (): Promise<unknown> => Promise.all(this.#running);

  /** Stops taking slots and waits for running evaluations. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.idle();
    await this.#findings.settled();
    await this.#parts.alerts.settled();
    await this.#heartbeat.saveReadings();
  }

  /** The usual interval, on which all plans depend, has changed. */
  replan(): void {
    [...this.#rules.values()].forEach(({ rule, lastOk }) => this.#schedule(rule, lastOk));
  }

  /** Rules with their schedules; can be iterated more than once. */
  get rules(): Iterable<ScheduledRule> {
    return { [Symbol.iterator]: () => this.#rules.values() };
  }

  /** Firing instances whose source is silent. */
  get stale(): Pick<StaleInstances, 'of'> {
    return this.#stale;
  }

  /** Background work of the evaluator, other than evaluating rules, that fails at the moment. */
  get failing(): Iterable<FailingWork> {
    return this.#attempts.failing;
  }

  /**
   * Evaluates the rules that are due; resolves once everything is stored. Does not wait for the
   * previous tick.
   */
  async tick(): Promise<void> {
    if (this.#stopped) {
      return;
    }
    const { timeline, ledger, alerts, gateInputs, counters, intervalMs } = this.#parts;
    const now = timeline.look();
    this.#noticeJump(now);
    counters.beginCycle(now, intervalMs());
    const sweeping = this.#own('check silences and gates', sweep(ledger, now, gateInputs()));
    const evaluating = this.#due(now).map(([slot, rules]) =>
      this.#own('evaluate rules', this.#evaluateSlot(slot, rules)),
    );
    // Not awaited: a store that hangs holds up only what asks it.
    this.#parts.backEnds.forEach((backEnd) => void backEnd.check(now));
    await Promise.all([sweeping, ...evaluating, this.#beat(now)]);
    alerts.refresh(now);
    await alerts.settled();
  }

  #noticeJump(now: number): void {
    const { timeline, ledger, log } = this.#parts;
    if (this.#jumps !== timeline.jumps) {
      this.#jumps = timeline.jumps;
      // Senders keep their own time: whether what fires lasts is seen again once the clocks of both agree, or not at all.
      this.#stale = new StaleInstances(
        ledger.instances,
        { steady: timeline.steady(now), wall: now },
        timeline.seenBeforeMs,
      );
      log.warn(
        { event: 'alert.clock_jumped', now },
        'wall clock jumped; alert rules continue at their next scheduled times',
      );
      [...this.#rules.values(), ...this.#ownRules].forEach((scheduled) =>
        scheduled.skipToNextSlot(),
      );
      this.#heartbeat.beatSoon();
    }
  }

  /** Rules whose slot has come, by slot. */
  #due(now: number): readonly (readonly [slot: number, rules: readonly ScheduledRule[]])[] {
    const due = new Map<number, ScheduledRule[]>();
    const usual = this.#parts.intervalMs();
    for (const scheduled of [...this.#rules.values(), ...this.#ownRules]) {
      const missed = scheduled.missed;
      const slot = scheduled.takeSlot(now, usual);
      // The evaluator's own are looked at again soon, whatever they have missed.
      if (scheduled.missed > missed && !this.#ownRules.includes(scheduled)) {
        this.#parts.counters.missed(scheduled.missed - missed);
      }
      if (slot !== undefined) {
        due.set(slot, [...(due.get(slot) ?? []), scheduled]);
      }
    }
    return [...due];
  }

  async #evaluateSlot(slot: number, rules: readonly ScheduledRule[]): Promise<void> {
    const { backEnds, delayOf } = this.#parts;
    const asked = rules.filter((scheduled) => !this.#ownRules.includes(scheduled));
    const legs = asked.flatMap(({ rule, plan }) => [
      ...plan.legs,
      ...measuresToAsk(plan, this.#parts.ledger.instances.get(rule.id)),
    ]);
    const shortestMs = Math.min(...asked.map(({ intervalMs }) => intervalMs));
    const timeoutMs = Math.min(longestMs, shortestMs * waitingPart);
    const replyTo = askTogether(legs, backEnds, (store) => slot - delayOf(store), timeoutMs);
    const evaluating = rules.map((scheduled) =>
      this.#ownRules.includes(scheduled)
        ? this.#evaluateOwn(scheduled, slot)
        : this.#evaluate(scheduled, slot, replyTo),
    );
    await this.#parts.counters.during(Promise.all(evaluating));
  }

  async #evaluate(
    scheduled: ScheduledRule,
    slot: number,
    replyTo: ReturnType<typeof askTogether>,
  ): Promise<void> {
    scheduled.running = true;
    try {
      const { rule, plan } = scheduled;
      const answers = await Promise.all(plan.legs.map((leg) => replyTo(leg)!));
      const failed = answers.findIndex(({ answer }) => answer instanceof Error);
      scheduled.ms = answers.reduce((sum, { ms }) => sum + ms, 0);
      if (failed >= 0) {
        return this.#fail(scheduled, plan.legs[failed]!.store, answers[failed]!.answer as Error);
      }
      const frame = { rule, plan, labelsOf: this.#parts.labelsOf };
      const found = await Promise.all(
        answers.map(({ answer }, at) =>
          answerRowsInTurns(
            answer as Exclude<typeof answer, Error>,
            frame,
            plan.legs[at]!.threshold,
          ),
        ),
      );
      const excess = excessOf(rule, found);
      if (excess !== undefined) {
        return this.#fail(scheduled, plan.legs[0]!.store, excess);
      }
      scheduled.saw(found);
      this.#parts.counters.evaluated(plan.legs[0]?.store ?? 'self', scheduled.ms, scheduled.series);
      const { backEnds, delayOf, ledger, render, timeline } = this.#parts;
      const instances = ledger.instances.get(rule.id);
      const timeoutMs = Math.min(againMs, scheduled.intervalMs);
      const askAt = (time: number) => (leg: Leg, query: string) =>
        backEnds
          .get(leg.store)!
          .round([query], time - delayOf(leg.store), timeoutMs)
          .get(query)!;
      const asking = {
        frame,
        ask: (leg: Leg, query: string) =>
          replyTo({ store: leg.store, query }) ?? askAt(slot)(leg, query),
      };
      const askAhead = timeline.seenBeforeMs > 0 ? askAt(slot + timeline.seenBeforeMs) : undefined;
      const rows = await withEtas(found, {
        ...asking,
        isNew: (key) => instances?.get(key)?.phase !== 'firing',
      });
      await this.#store(
        scheduled,
        slot,
        await lookAgain(rows, { ...asking, askAhead, instances, slot, render }),
      );
      scheduled.succeeded();
    } catch (error) {
      scheduled.unstored += 1;
      scheduled.failed(`failed to store its results: ${messageOf(error)}`, this.#parts.clock.now());
    } finally {
      scheduled.running = false;
    }
  }

  async #evaluateOwn(own: ScheduledRule, slot: number): Promise<void> {
    await this.#store(own, slot, {
      rows: [ownRuleOf(own.rule)!.rows(this.#ownState())],
      unknown: new Set(),
      heard: new Map(),
    });
  }

  #ownState(): OwnState {
    return { backEnds: this.#parts.backEnds.values(), rules: this.rules };
  }

  #fail(scheduled: ScheduledRule, store: StoreName, error: Error): void {
    scheduled.failed(messageOf(error), this.#parts.clock.now());
    this.#parts.counters.failed(store, scheduled.ms);
  }

  async #store(scheduled: ScheduledRule, slot: number, look: SecondLook): Promise<void> {
    const { rule, plan } = scheduled;
    const at = this.#parts.timeline.steady(slot);
    const known = this.#stale.after(rule.id, look, { steady: at, wall: slot });
    scheduled.stale = known.stale;
    const moment = { slot, at, ...scheduled.continuityAt(at) };
    const finding: Finding = {
      rule,
      plan,
      ...moment,
      ...look,
      ...known,
      leftOut: (count) => (scheduled.leftOut = count),
    };
    // What a rule found that was changed or removed while its answer was on its way counts for nothing.
    const isScheduled =
      this.#ownRules.includes(scheduled) || this.#rules.get(rule.id) === scheduled;
    if (isScheduled && this.#findings.isQuiet(finding)) {
      scheduled.leftOut = 0;
    } else if (isScheduled) {
      await this.#findings.store(finding);
    }
    scheduled.lastOk = at;
  }

  #follow(change: RuleChange): void {
    const { rule } = change;
    const known = this.#rules.get(rule.id);
    if (change.kind === 'deleted' || !rule.enabled) {
      this.#rules.delete(rule.id);
      this.#parts.alerts.endRule(rule.id, this.#parts.clock.now());
    } else {
      this.#schedule(rule, known?.lastOk);
    }
    const applied = applyRuleChange(change, this.#changing()).catch((error: unknown) => {
      // No evaluation finds this again: only this closes incidents of a rule that is gone.
      this.#reconciled = false;
      throw error;
    });
    void this.#own('apply a changed rule to its incidents', applied);
  }

  #schedule(rule: Rule, lastOk: number | undefined): void {
    const scheduled = new ScheduledRule(rule, this.#parts.planOf(rule), lastOk);
    scheduled.schedule(this.#parts.clock.now(), this.#parts.intervalMs());
    this.#rules.set(rule.id, scheduled);
  }

  #changing() {
    const { ledger, planOf, clock, gateInputs } = this.#parts;
    return { ledger, planOf, now: () => clock.now(), gateInputs };
  }

  /** Fails when the generation before this one is still at work on the same incidents: then once more. */
  #reconcile(): Promise<void> {
    return this.#attempts.run(
      'close incidents of deleted rules',
      reconcile(this.#parts.liveRules, this.#changing()).then(() => {
        this.#reconciled = true;
      }),
    );
  }

  async #beat(now: number): Promise<void> {
    if ((await this.#heartbeat.beat(now)) && !this.#reconciled) {
      await this.#reconcile();
    }
  }

  /** Counts among what a stop waits for. */
  #own(what: string, work: Promise<void>): Promise<void> {
    const attempt = this.#attempts.run(what, work);
    this.#running.add(attempt);
    return attempt.finally(() => this.#running.delete(attempt));
  }
}
