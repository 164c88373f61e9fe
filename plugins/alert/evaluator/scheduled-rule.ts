import type { AnswerRows } from '../instance/answer-rows.ts';
import type { Stale } from '../instance/stale-instances.ts';
import { phaseOf, slotAt } from '../queries/slots.ts';
import type { Plan, Rule } from '../rule/rule.ts';

/**
 * Max gap in intervals. Anything longer is an outage, after which a condition continues with the
 * duration it had before.
 */
const maxGap = 2;
/** Outage after which a condition starts from zero. */
const longestOutageMs = 3_600_000;

/** One rule as the evaluator has it: its slot, and how its evaluations went. */
export class ScheduledRule {
  readonly rule: Rule;
  readonly plan: Plan;
  intervalMs = 0;
  #phase = 0;
  /** The last slot that was taken or passed over. */
  #slot: number | undefined;
  running = false;
  /** Steady time of the last evaluation that succeeded. */
  lastOk: number | undefined;
  error: string | undefined;
  errorSince: number | undefined;
  failures = 0;
  /** Evaluations in a row whose findings could not be stored. */
  unstored = 0;
  missed = 0;
  ms = 0;
  series = 0;
  unscoped = 0;
  /** Instances whose source is silent. */
  stale: Stale = new Map();
  /** Series and label sets beyond the bounds. */
  unread = 0;
  leftOut = 0;

  constructor(rule: Rule, plan: Plan, lastOk: number | undefined) {
    this.rule = rule;
    this.plan = plan;
    this.lastOk = lastOk;
  }

  /**
   * Takes and returns the slot that is due, or undefined if there is none. A delay of more than an
   * interval is counted, not made up for.
   */
  takeSlot(now: number, usualMs: number): number | undefined {
    this.schedule(now, usualMs);
    const slot = slotAt(now, this.#phase, this.intervalMs);
    const last = this.#slot!;
    if (slot <= last) {
      return undefined;
    }
    this.#slot = slot;
    this.missed += Math.round((slot - last) / this.intervalMs) - 1 + (this.running ? 1 : 0);
    return this.running ? undefined : slot;
  }

  /**
   * Returns whether an evaluation continues from the last successful one, and how much of the time
   * between them does not count.
   */
  continuityAt(steady: number): { readonly continuous: boolean; readonly pausedMs: number } {
    const gap = this.lastOk === undefined ? Infinity : steady - this.lastOk;
    const isOutage = gap > maxGap * this.intervalMs;
    return {
      continuous: gap >= 0 && (!isOutage || gap <= longestOutageMs),
      pausedMs: isOutage ? gap - this.intervalMs : 0,
    };
  }

  saw(answers: readonly AnswerRows[]): void {
    const sum = (of: (rows: AnswerRows) => number): number =>
      answers.reduce((all, rows) => all + of(rows), 0);
    this.series = sum(({ series }) => series);
    this.unscoped = sum(({ unscoped }) => unscoped);
    this.unread = sum(({ leftOut }) => leftOut);
  }

  /** Wall time of the slot that was evaluated last. */
  get evaluatedAt(): number | undefined {
    return this.lastOk === undefined && this.error === undefined ? undefined : this.#slot;
  }

  succeeded(): void {
    this.error = undefined;
    this.failures = 0;
    this.unstored = 0;
  }

  failed(error: string, now: number): void {
    this.errorSince = this.error === undefined ? now : this.errorSince;
    this.error = error.slice(0, 500);
    this.failures += 1;
  }

  /** The wall has jumped: the next slot is the next one from here. */
  skipToNextSlot(): void {
    this.#slot = undefined;
  }

  /** Restarts the schedule: the next slot is the first. */
  schedule(now: number, usualMs: number): void {
    const interval = this.rule.interval_seconds > 0 ? this.rule.interval_seconds * 1_000 : usualMs;
    if (interval !== this.intervalMs) {
      this.intervalMs = interval;
      // Rules about the same measure share a slot, and with it the query.
      const [leg] = this.plan.legs;
      this.#phase = phaseOf(leg?.measure ?? leg?.query ?? this.rule.rule_key, interval);
      this.#slot = undefined;
    }
    this.#slot ??= slotAt(now, this.#phase, interval);
  }
}
