import { setImmediate as nextTurn } from 'node:timers/promises';

import { Asker } from './asker.ts';
import { queryError } from './query-error.ts';
import { QueryTurn } from './query-turn.ts';

/**
 * Budget of one query. Whatever reads or computes for it charges here, and stops when this throws.
 */
export interface Budget {
  readonly signal: AbortSignal;
  /** Charges samples, lines or spans that are held or looked at. */
  spend(samples: number): void;
  /** Refuses what would far exceed the limit, before it is done: samples that would be gone over, each as often as it would be. */
  foresee(samples: number): void;
  /** Refuses what will not be done within the limits, going by the share of it that is done: from 0 to 1. */
  progress(share: number): void;
  /** Charges bytes that are read or held. */
  bytes(count: number): void;
  /**
   * Yields to the event loop and other queries once this one has run for 8 ms; call it in every
   * long loop.
   */
  breathe(): Promise<void> | undefined;
  /** Throws when the asker has gone or the time is up. */
  check(): void;
  readonly spent: { readonly samples: number; readonly bytes: number };
  /** Adds a remark to the answer, such as what could not be read; duplicates appear once. */
  warn(text: string): void;
  readonly warnings: readonly string[];
}

export interface BudgetOptions {
  readonly timeoutMs: number;
  /** Max computing time, waiting excluded. */
  readonly cpuMs?: number;
  readonly maxSamples?: number;
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
  /** Milliseconds that never jump; by default those of the machine. */
  readonly now?: () => number;
  /**
   * Slices by which this query takes turns with others; by default it yields once between two
   * slices.
   */
  readonly slices?: Slices;
}

interface Slices {
  readonly turn: QueryTurn;
  /** Resolves when the next slice may begin. */
  next(): Promise<unknown>;
}

const maxWarnings = 10;
/** Average number of passes over each sample that is allowed for. */
const maxForeseen = 15;
/**
 * Share of a limit from which on its end is predicted; below, the multiple of the limit that is
 * refused.
 */
const foretoldFrom = 0.1;
const maxForetold = 2;
const sliceMs = 8;
const steady = (): number => performance.now();
const never = new AbortController().signal;

export const budget = (options: BudgetOptions): Budget => new QueryBudget(options);

class QueryBudget implements Budget {
  readonly signal: AbortSignal;
  readonly spent = { samples: 0, bytes: 0 };
  readonly warnings: string[] = [];
  readonly #timeoutMs: number;
  readonly #cpuMs: number;
  readonly #maxSamples: number;
  readonly #maxBytes: number;
  readonly #now: () => number;
  readonly #slices: Slices;
  readonly #turn: QueryTurn;

  constructor({
    timeoutMs,
    cpuMs = Infinity,
    maxSamples = 50_000_000,
    maxBytes = 4 * 1024 ** 3,
    signal = never,
    now = steady,
    slices = alone(signal, now(), timeoutMs),
  }: BudgetOptions) {
    this.signal = signal;
    this.#timeoutMs = timeoutMs;
    this.#cpuMs = cpuMs;
    this.#maxSamples = maxSamples;
    this.#maxBytes = maxBytes;
    this.#now = now;
    this.#slices = slices;
    this.#turn = slices.turn;
  }

  spend(samples: number): void {
    this.spent.samples += samples;
    if (this.spent.samples > this.#maxSamples) {
      throw queryError(
        'too_large',
        `the query reads more than ${this.#maxSamples} samples: ask for a shorter window, or for fewer series or streams`,
      );
    }
  }

  foresee(samples: number): void {
    const max = this.#maxSamples * maxForeseen;
    if (samples > max) {
      throw queryError(
        'too_large',
        `the query would go over ${Math.round(samples)} samples in its ranges, more than ${max}: ask for shorter ranges, a longer step, a shorter window, or fewer series`,
      );
    }
  }

  progress(share: number): void {
    const advice = 'ask for a shorter window, or for less with a filter';
    const computedMs = this.#turn.computedMs + this.#now() - this.#turn.sliceAt;
    foretell(
      share,
      computedMs,
      this.#cpuMs,
      (ms) =>
        `the query would compute for about ${Math.round(ms / 1000)} s, more than ${this.#cpuMs / 1000} s: ${advice}`,
    );
    foretell(
      share,
      this.spent.samples,
      this.#maxSamples,
      (count) =>
        `the query would read about ${Math.round(count)} samples, more than ${this.#maxSamples}: ${advice}`,
    );
  }

  bytes(count: number): void {
    this.spent.bytes += count;
    if (this.spent.bytes > this.#maxBytes) {
      throw queryError(
        'too_large',
        `the query reads more than ${this.#maxBytes} bytes: ask for a shorter window, or for fewer series or streams`,
      );
    }
  }

  breathe(): Promise<void> | undefined {
    const time = this.#now();
    this.#checkAt(time);
    return time - this.#turn.sliceAt > sliceMs ? this.#breath(time) : undefined;
  }

  check(): void {
    this.#checkAt(this.#now());
  }

  warn(text: string): void {
    if (!this.warnings.includes(text) && this.warnings.length <= maxWarnings) {
      this.warnings.push(
        this.warnings.length < maxWarnings
          ? text
          : 'more could not be read than is listed here: see "svc store check"',
      );
    }
  }

  async #breath(time: number): Promise<void> {
    this.#turn.pause(time);
    await this.#slices.next();
    const resumed = this.#now();
    this.#turn.begin(resumed);
    this.#checkAt(resumed);
  }

  #checkAt(time: number): void {
    if (this.signal.aborted) {
      throw queryError('canceled', 'the query was canceled');
    }
    const turn = this.#turn;
    if (time >= turn.deadline) {
      throw queryError(
        'timeout',
        `the query timed out after ${this.#timeoutMs / 1000} s: ask for a shorter window, or for fewer series or streams`,
      );
    }
    if (turn.computedMs + time - turn.sliceAt > this.#cpuMs) {
      throw queryError(
        'too_large',
        `the query computed for ${this.#cpuMs / 1000} s and is not done: ask for a shorter window, a longer step, or fewer series or streams`,
      );
    }
  }
}

/** Ends a query that, judging by its progress, would exceed the limit by far. */
function foretell(
  share: number,
  spent: number,
  most: number,
  sentence: (expected: number) => string,
): void {
  if (spent > most * foretoldFrom && spent > most * maxForetold * share) {
    throw queryError('too_large', sentence(spent / share));
  }
}

/** Returns slices of work that competes with no other query, such as a compaction. */
function alone(signal: AbortSignal, at: number, timeoutMs: number): Slices {
  const turn = new QueryTurn(new Asker(undefined), signal, { arrivedAt: at, timeoutMs });
  turn.begin(at);
  return { turn, next: () => nextTurn() };
}
