import type { InstantAnswer } from 'svc/contracts/metricsdb';
import { isSvcError, messageOf, type SvcError } from 'svc/sdk';

import type { Leg } from '../rule/rule.ts';
import { errors as alertErrors } from './errors.ts';
import { Pulse } from './pulse.ts';

export type StoreName = 'metrics' | 'logs';

export interface Question {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Answers the queries of one store at one time: one answer each, in their order, or an error in its place. */
export type Ask = (
  queries: readonly string[],
  time: number,
  question: Question,
) => Promise<readonly (InstantAnswer | Error)[]>;

export interface BackEndParts {
  readonly name: StoreName;
  readonly ask: Ask;
  /** Rejects at the deadline whatever becomes of the work, and aborts its signal. */
  readonly within: Within;
  readonly monotonic: () => number;
  /** Time for which it may fail before that is told; by default that of a store of svc, which may take so long to open. */
  readonly graceMs?: () => number;
}

export type Within = <T>(
  ms: number,
  what: string,
  work: (signal: AbortSignal) => Promise<T>,
) => Promise<T>;

export interface Asked {
  readonly answer: InstantAnswer | Error;
  readonly ms: number;
}

const batchMs = 2_000;
const maxInBatch = 500;
const fewInBatch = 16;
const slowMs = 250;
const probeMs = 2_000;
/** Answered by any store, whatever is in it. */
const probeQuery = 'vector(1)';
const openingMs = 60_000;
/** Max slow queries remembered. */
const maxSlow = 10_000;

/**
 * One store as the evaluator asks it. Quick queries go together, since a round trip costs more than most of them; one that
 * was slow before goes alone, in a lane of its own, so that no other waits for it.
 */
export class BackEnd {
  readonly #parts: BackEndParts;
  readonly #quick = new Lane(4);
  readonly #slow = new Lane(2);
  readonly #slowQueries = new Set<string>();
  readonly #pulse: Pulse;

  constructor(parts: BackEndParts) {
    this.#parts = parts;
    this.#pulse = new Pulse(parts.monotonic);
  }

  get name(): StoreName {
    return this.#parts.name;
  }

  /** Rounds or probes in a row in which nothing was answered because of the store itself. */
  get failures(): number {
    return this.#pulse.failures;
  }

  get lastError(): string | undefined {
    return this.#pulse.error;
  }

  /** Returns whether it has failed for longer than it may. */
  get isDown(): boolean {
    return this.#pulse.isDownFor(this.#parts.graceMs?.() ?? openingMs);
  }

  /** Asks a store that gives no sign whether it answers at all; called every second. */
  async check(time: number): Promise<void> {
    await this.#pulse.probe(async () => {
      const answer = await this.#alone(probeQuery, time, probeMs);
      return answer instanceof Error && isFaultOfStore(answer) ? messageOf(answer) : undefined;
    });
  }

  /**
   * A promise for each query, kept within the deadline and never rejected; each as soon as its own answer is there. None is
   * asked of a store that is silent: each would hold its rule up until the deadline.
   */
  round(
    queries: readonly string[],
    time: number,
    timeoutMs: number,
  ): ReadonlyMap<string, Promise<Asked>> {
    if (this.#pulse.isSilent) {
      const error = alertErrors.silent({ store: this.name, cause: this.lastError ?? 'no answer' });
      return new Map(queries.map((query) => [query, Promise.resolve({ answer: error, ms: 0 })]));
    }
    const round: Round = {
      time,
      until: this.#parts.monotonic() + timeoutMs,
      replies: new Map(queries.map((query) => [query, reply()])),
    };
    const quick = queries.filter((query) => !this.#slowQueries.has(query));
    const alone = queries.filter((query) => this.#slowQueries.has(query));
    for (const batch of partsOf(quick, maxInBatch)) {
      void this.#quick.run(() => this.#batch(batch, round));
    }
    for (const query of alone) {
      void this.#slow.run(() => this.#single(query, round));
    }
    const kept = new Map([...round.replies].map(([query, { kept: promise }]) => [query, promise]));
    void Promise.all(kept.values()).then((answers) => this.#judge(answers));
    return kept;
  }

  async #batch(queries: readonly string[], { time, until, replies }: Round): Promise<void> {
    const began = this.#parts.monotonic();
    // Where the deadline is near, too, time is left to ask each alone: else one slow query would fail all others, again and again.
    const lateMs = Math.min(batchMs, (until - began) / (queries.length > 1 ? 2 : 1));
    const settle = (answerOf: (at: number) => InstantAnswer | Error): void => {
      const ms = (this.#parts.monotonic() - began) / queries.length;
      queries.forEach((query, at) => replies.get(query)!.keep({ answer: answerOf(at), ms }));
    };
    try {
      const found = await this.#parts.within(lateMs, 'the back end did not answer', (signal) =>
        this.#parts.ask(queries, time, { timeoutMs: lateMs, signal }),
      );
      settle((at) => found[at] ?? unanswered());
    } catch (error) {
      if (!isLate(error)) {
        settle(() => asError(error));
        return;
      }
      this.#pulse.doubt();
      // One of them is slow, or all are on a busy machine: smaller batches find out.
      const parts = queries.length > fewInBatch ? partsOf(queries, fewInBatch) : [];
      for (const part of parts) {
        void this.#slow.run(() => this.#batch(part, { time, until, replies }));
      }
      for (const query of parts.length > 0 ? [] : queries) {
        void this.#slow.run(() => this.#single(query, { time, until, replies }));
      }
    }
  }

  async #single(query: string, { time, until, replies }: Round): Promise<void> {
    const began = this.#parts.monotonic();
    const answer = await this.#alone(query, time, until - began);
    const ms = this.#parts.monotonic() - began;
    if (began < until) {
      this.#remember(query, ms > slowMs || isLate(answer));
    }
    replies.get(query)!.keep({ answer, ms });
  }

  async #alone(query: string, time: number, leftMs: number): Promise<InstantAnswer | Error> {
    if (leftMs <= 0) {
      return alertErrors.query_not_started();
    }
    try {
      const found = await this.#parts.within(leftMs, 'the query did not finish', (signal) =>
        this.#parts.ask([query], time, { timeoutMs: leftMs, signal }),
      );
      return found[0] ?? unanswered();
    } catch (error) {
      return asError(error);
    }
  }

  #remember(query: string, slow: boolean): void {
    if (!slow) {
      this.#slowQueries.delete(query);
    } else if (this.#slowQueries.size < maxSlow) {
      this.#slowQueries.add(query);
    }
  }

  #judge(answers: readonly Asked[]): void {
    const errors = answers.flatMap(({ answer }) => (answer instanceof Error ? [answer] : []));
    if (errors.length < answers.length || errors.some((error) => !isFaultOfStore(error))) {
      this.#pulse.answered();
    } else if (answers.length > 0) {
      this.#pulse.failed(messageOf(errors[0]));
    }
  }
}

/** Asks each store in one round what all of these legs ask, each question once; undefined: nobody has asked that. */
export function askTogether(
  legs: readonly Pick<Leg, 'store' | 'query'>[],
  backEnds: ReadonlyMap<StoreName, BackEnd>,
  timeFor: (store: StoreName) => number,
  timeoutMs: number,
): (leg: Pick<Leg, 'store' | 'query'>) => Promise<Asked> | undefined {
  const replies = new Map<StoreName, ReadonlyMap<string, Promise<Asked>>>();
  for (const [store, backEnd] of backEnds) {
    const queries = [
      ...new Set(legs.filter((leg) => leg.store === store).map(({ query }) => query)),
    ];
    if (queries.length > 0) {
      replies.set(store, backEnd.round(queries, timeFor(store), timeoutMs));
    }
  }
  return ({ store, query }) => replies.get(store)?.get(query);
}

const partsOf = (queries: readonly string[], size: number): readonly (readonly string[])[] =>
  Array.from({ length: Math.ceil(queries.length / size) }, (_, at) =>
    queries.slice(at * size, (at + 1) * size),
  );

interface Reply {
  readonly kept: Promise<Asked>;
  keep(asked: Asked): void;
}

interface Round {
  readonly time: number;
  /** Monotonic. */
  readonly until: number;
  readonly replies: ReadonlyMap<string, Reply>;
}

function reply(): Reply {
  let keep!: (asked: Asked) => void;
  const kept = new Promise<Asked>((resolve) => (keep = resolve));
  return { kept, keep: (asked) => keep(asked) };
}

const unanswered = (): SvcError => alertErrors.unanswered();

const late = Symbol('late');

/** Error that `within` throws at the deadline. */
export const lateError = (what: string, ms: number): SvcError =>
  Object.assign(alertErrors.too_slow({ what, seconds: Math.max(0, Math.round(ms)) / 1_000 }), {
    [late]: true,
  });

const isLate = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && late in error;
/** An answer may be an error, and what an engine throws need not be one. */
export const asError = (error: unknown): Error =>
  error instanceof Error ? error : alertErrors.no_answer({ cause: messageOf(error) });

/** A query that does not fit says nothing about the store. */
const isFaultOfStore = (error: Error): boolean =>
  !isSvcError(error) ||
  !['invalid_argument', 'not_found', 'conflict', 'forbidden'].includes(error.code);

/** Lets so many work at a time; others wait in line. */
class Lane {
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #busy = 0;

  constructor(most: number) {
    this.#most = most;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#busy >= this.#most) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else {
      this.#busy += 1;
    }
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) {
        this.#busy -= 1;
      } else {
        next();
      }
    }
  }
}
