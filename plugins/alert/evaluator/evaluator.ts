import { messageOf } from 'svc/sdk';

import type { Leg, RenderAnnotations, Rule, RuleChange } from '../rule.ts';
import { answerRows } from './answer-rows.ts';
import type { Asked, StoreName } from './back-end.ts';
import { withEtas } from './eta.ts';
import type { EvaluatorParts } from './evaluator-parts.ts';
import type { Row } from './instance.ts';
import { Pace } from './pace.ts';
import { applyRuleChange, reconcile } from './rule-changes.ts';
import { selfAnnotations, selfPlan, selfRows, selfRule } from './self-rule.ts';
import { type Finding, isQuiet, settle, type SettleParts } from './settle.ts';
import { sweep } from './sweep.ts';
import { Work } from './work.ts';

const longestMs = 10_000;
const etaMs = 2_000;
const beatMs = 10_000;
/** What one turn of the ledger takes on. */
const findingsInTurn = 100;
/** After so many intervals without a look nobody knows whether a condition has lasted. */
const mostGap = 2;

type Ready = { readonly finding: Finding; readonly done: () => void };

/** Looks at every rule in its slot, and brings what it finds to the ledger. */
export class Evaluator {
  readonly #parts: EvaluatorParts;
  readonly #settling: SettleParts;
  readonly #works = new Map<number, Work>();
  readonly #self: Work;
  readonly #pace = new Pace();
  #ready: Ready[] = [];
  #flushing: Promise<void> | undefined;
  #running = new Set<Promise<unknown>>();
  #beatAt: number | undefined;
  #stopped = false;
  #reconciled = false;
  #jumps: number;

  constructor(parts: EvaluatorParts) {
    const { ledger, alerts, clock, surroundings, backEnds } = parts;
    this.#parts = parts;
    this.#jumps = parts.timeline.jumps;
    const render: RenderAnnotations = (rule, snapshot) =>
      rule === selfRule ? selfAnnotations(snapshot.scope_id, backEnds.values()) : parts.render(rule, snapshot);
    this.#settling = { ledger, alerts, render, now: () => clock.now(), surroundings };
    this.#self = new Work(selfRule, selfPlan, undefined);
  }

  /** Brings memory up to what is on disk, and follows the rules from here on. */
  async start(): Promise<() => void> {
    const { ledger, book, timeline } = this.#parts;
    await ledger.load();
    timeline.restore(ledger.heartbeat?.drift ?? 0);
    await this.#reconcile();
    const follow = book.onChange((change) => this.#follow(change));
    this.#self.lastOk = ledger.heartbeat?.at;
    this.#self.settle(this.#parts.clock.now(), this.#parts.intervalMs());
    for (const rule of book.enabled()) {
      this.#employ(rule, ledger.heartbeat?.at);
    }
    return follow;
  }

  /** Takes no more slots, and waits for what runs. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#running);
    await this.#flushing;
    await this.#parts.alerts.settled();
  }

  /** Something that all plans depend on has changed. */
  replan(): void {
    for (const { rule, lastOk } of [...this.#works.values()]) {
      this.#employ(rule, lastOk);
    }
  }

  /** May be gone through more than once. */
  get works(): Iterable<Work> {
    return { [Symbol.iterator]: () => this.#works.values() };
  }

  get pace(): Pace {
    return this.#pace;
  }

  /** One look at the clock: resolves when all that was due is stored. Nothing waits for the tick before. */
  async tick(): Promise<void> {
    if (this.#stopped) {
      return;
    }
    const { timeline, ledger, alerts, surroundings, log } = this.#parts;
    const now = timeline.look();
    if (this.#jumps !== timeline.jumps) {
      this.#jumps = timeline.jumps;
      log.warn({ now }, 'the clock of this machine has jumped; rules go on from their next slots');
      [...this.#works.values(), this.#self].forEach((work) => work.forget());
      this.#beatAt = undefined;
    }
    this.#pace.at(now, this.#parts.intervalMs());
    const sweeping = this.#own('look at silences and gates', sweep(ledger, now, surroundings()));
    const looking = this.#due(now).map(([slot, works]) => this.#own('evaluate', this.#look(slot, works)));
    await Promise.all([sweeping, ...looking, this.#beat(now)]);
    alerts.repeat(now);
    await alerts.settled();
  }

  /** Rules whose slot has come, by slot. */
  #due(now: number): readonly (readonly [slot: number, works: readonly Work[]])[] {
    const due = new Map<number, Work[]>();
    const usual = this.#parts.intervalMs();
    for (const work of [...this.#works.values(), this.#self]) {
      const missed = work.missed;
      const slot = work.take(now, usual);
      if (work.missed > missed) {
        this.#parts.counted.missed(work.missed - missed);
        this.#pace.add({ missed: work.missed - missed });
      }
      if (slot !== undefined) {
        due.set(slot, [...(due.get(slot) ?? []), work]);
      }
    }
    return [...due];
  }

  async #look(slot: number, works: readonly Work[]): Promise<void> {
    const { backEnds, delayOf } = this.#parts;
    const asked = works.filter((work) => work !== this.#self);
    const legs = asked.flatMap(({ plan }) => plan.legs);
    const timeoutMs = Math.min(longestMs, ...asked.map(({ intervalMs }) => intervalMs));
    const replies = new Map<StoreName, ReadonlyMap<string, Promise<Asked>>>();
    for (const [store, backEnd] of backEnds) {
      const queries = [...new Set(legs.filter((leg) => leg.store === store).map(({ query }) => query))];
      if (queries.length > 0) {
        replies.set(store, backEnd.round(queries, slot - delayOf(store), timeoutMs));
      }
    }
    const replyTo = ({ store, query }: Leg): Promise<Asked> => replies.get(store)!.get(query)!;
    await Promise.all(works.map((work) => (work === this.#self ? this.#lookAtSelf(slot) : this.#lookAt(work, slot, replyTo))));
  }

  async #lookAt(work: Work, slot: number, replyTo: (leg: Leg) => Promise<Asked>): Promise<void> {
    work.running = true;
    try {
      const { rule, plan } = work;
      const answers = await Promise.all(plan.legs.map(replyTo));
      const failed = answers.findIndex(({ answer }) => answer instanceof Error);
      work.ms = answers.reduce((sum, { ms }) => sum + ms, 0);
      this.#parts.counted.evaluated(plan.legs[0]?.store ?? 'self', work.ms);
      if (failed >= 0) {
        this.#fail(work, plan.legs[failed]!.store, answers[failed]!.answer as Error);
        return;
      }
      const found = answers.map(({ answer }, at) => answerRows(answer as Exclude<typeof answer, Error>, rule, plan.legs[at]!.threshold));
      work.series = found.reduce((sum, { series }) => sum + series, 0);
      work.unscoped = found.reduce((sum, { unscoped }) => sum + unscoped, 0);
      this.#pace.add({ rulesEvaluated: 1, durationMs: work.ms, seriesSeen: work.series });
      const { backEnds, delayOf, ledger } = this.#parts;
      const rows = await withEtas(found, {
        rule,
        legs: plan.legs,
        isNew: (key) => ledger.instances.get(rule.id)?.get(key)?.phase !== 'firing',
        ask: ({ store }, query) =>
          backEnds
            .get(store)!
            .round([query], slot - delayOf(store), Math.min(etaMs, work.intervalMs))
            .get(query)!,
      });
      await this.#settle(work, slot, rows);
      work.error = undefined;
      work.failures = 0;
    } finally {
      work.running = false;
    }
  }

  async #lookAtSelf(slot: number): Promise<void> {
    await this.#settle(this.#self, slot, [selfRows(this.#parts.backEnds.values())]);
  }

  #fail(work: Work, store: StoreName, error: Error): void {
    work.errorSince = work.error === undefined ? this.#parts.clock.now() : work.errorSince;
    work.error = messageOf(error).slice(0, 500);
    work.failures += 1;
    this.#parts.counted.failed(store);
    this.#pace.add({ rulesEvaluated: 1, rulesFailed: 1, durationMs: work.ms });
  }

  async #settle(work: Work, slot: number, rows: readonly ReadonlyMap<string, Row>[]): Promise<void> {
    const { timeline } = this.#parts;
    const at = timeline.steady(slot);
    const gap = work.lastOk === undefined ? Infinity : at - work.lastOk;
    const continuous = gap >= 0 && gap <= mostGap * work.intervalMs;
    const finding: Finding = { rule: work.rule, plan: work.plan, slot, at, continuous, rows, crowded: (is) => (work.crowded = is) };
    // A rule that has left while its answer was on its way has nothing to say any more.
    const employed = work === this.#self || this.#works.get(work.rule.id) === work;
    if (employed && isQuiet(finding, this.#settling)) {
      work.crowded = false;
    } else if (employed) {
      await this.#stored(finding);
    }
    work.lastOk = at;
  }

  /** Resolves once the finding is stored; those that come together are stored together. */
  #stored(finding: Finding): Promise<void> {
    return new Promise((resolve) => {
      this.#ready.push({ finding, done: resolve });
      this.#flushing ??= this.#flush().finally(() => (this.#flushing = undefined));
    });
  }

  async #flush(): Promise<void> {
    // Answers of one batch come in the same breath.
    await Promise.resolve();
    while (this.#ready.length > 0) {
      const part = this.#ready.splice(0, findingsInTurn);
      await this.#attempt(
        'store what was found',
        settle(
          part.map(({ finding }) => finding).filter(({ rule }) => rule === selfRule || this.#works.get(rule.id)?.rule === rule),
          this.#settling,
        ),
      );
      part.forEach(({ done }) => done());
    }
  }

  #follow(change: RuleChange): void {
    const { rule } = change;
    const known = this.#works.get(rule.id);
    if (change.kind === 'deleted' || !rule.enabled) {
      this.#works.delete(rule.id);
      this.#parts.alerts.end(rule.id, this.#parts.clock.now());
    } else {
      this.#employ(rule, known?.lastOk);
    }
    const applied = applyRuleChange(change, this.#changing()).catch((error: unknown) => {
      // No evaluation finds this again: incidents of a rule that is gone have nobody else to close them.
      this.#reconciled = false;
      throw error;
    });
    void this.#own('follow a changed rule', applied);
  }

  #employ(rule: Rule, lastOk: number | undefined): void {
    const work = new Work(rule, this.#parts.planOf(rule), lastOk);
    work.settle(this.#parts.clock.now(), this.#parts.intervalMs());
    this.#works.set(rule.id, work);
  }

  #changing() {
    const { ledger, planOf, clock, surroundings } = this.#parts;
    return { ledger, planOf, now: () => clock.now(), surroundings };
  }

  /** Fails when the generation before this one is still at work on the same incidents: then once more. */
  #reconcile(): Promise<void> {
    return this.#attempt(
      'close what nobody closes any more',
      reconcile(this.#parts.book, this.#changing()).then(() => {
        this.#reconciled = true;
      }),
    );
  }

  async #beat(now: number): Promise<void> {
    if (this.#beatAt === undefined || Math.abs(now - this.#beatAt) >= beatMs) {
      this.#beatAt = now;
      const { ledger, timeline } = this.#parts;
      await this.#attempt('note that it is at work', ledger.beat({ at: timeline.steady(now), drift: timeline.drift }));
      if (!this.#reconciled) {
        await this.#reconcile();
      }
    }
  }

  /** Counts among what a stop waits for. */
  #own(what: string, work: Promise<void>): Promise<void> {
    const attempt = this.#attempt(what, work);
    this.#running.add(attempt);
    return attempt.finally(() => this.#running.delete(attempt));
  }

  /** What fails now is found again at the next evaluation. */
  #attempt(what: string, work: Promise<unknown>): Promise<void> {
    return work.then(
      () => undefined,
      (error: unknown) => this.#parts.log.warn({ cause: messageOf(error) }, `the evaluator could not ${what}`),
    );
  }
}
