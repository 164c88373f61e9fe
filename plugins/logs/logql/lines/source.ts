import type { Budget, Labels, Matcher } from 'svc/query';

/** A point in time: milliseconds since 1970 and the nanoseconds beyond them, 0 to 999,999. */
export interface Nanos {
  readonly ms: number;
  readonly ns: number;
}

export interface LogEntry {
  readonly ms: number;
  readonly ns: number;
  readonly line: string;
  /** Structured metadata of the line, `detected_level` included. */
  readonly metadata?: Labels;
}

export interface LogBatch {
  readonly labels: Labels;
  /** Entries in the requested direction. */
  readonly entries: readonly LogEntry[];
}

export interface SelectOptions {
  readonly direction: 'forward' | 'backward';
  /** Every line that passes the filters contains each of these texts: one that lacks any of them may be left out. */
  readonly contains?: readonly string[];
  /** The worst time still wanted, once the page is full: chunks wholly beyond it may be left out. */
  readonly bound?: () => Nanos | undefined;
}

/**
 * Source of lines. It charges the budget for the bytes it reads; the engine charges for what it
 * keeps.
 */
export interface LogSource {
  /** Streams that match, in [start, end). Batches of one stream come in order; streams may alternate as they like. */
  select(
    matchers: readonly Matcher[],
    start: Nanos,
    end: Nanos,
    options: SelectOptions,
    budget: Budget,
  ): AsyncIterable<LogBatch>;
}
