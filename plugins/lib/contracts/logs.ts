import { defineService } from 'svc/sdk';
import type { StoreCare } from 'svc/store';

import type {
  InstantAnswer,
  LabelRecord,
  MatrixAnswer,
  Notes,
  PushAnswer,
  PushStore,
  QueryOptions,
} from './metricsdb.ts';

/** Time of a line: milliseconds and the nanoseconds beyond them. */
export interface LineTime {
  readonly ms: number;
  readonly ns: number;
}

export interface Line {
  readonly labels: LabelRecord;
  readonly at: LineTime;
  readonly line: string;
}

export interface LinesAnswer extends Notes {
  readonly type: 'streams';
  /** Lines in the requested direction, all streams together. */
  readonly lines: readonly Line[];
  /** True if the budget ended the search before the end of the window. */
  readonly partial: boolean;
}

export interface LogWindow {
  /** Milliseconds; start inclusive, end exclusive. */
  readonly start: number;
  readonly end: number;
}

export interface LogQueryOptions extends QueryOptions {
  readonly limit?: number;
  readonly direction?: 'forward' | 'backward';
  readonly step?: number;
}

/** `step`: milliseconds, when lines are to be counted by time as well. */
export type PatternOptions = QueryOptions & { readonly step?: number };

/** Pattern that lines share: a text with `<_>` where they differ. */
export interface LinePattern {
  readonly pattern: string;
  readonly count: number;
  /** One of the lines. */
  readonly example: string;
  /** Milliseconds. */
  readonly first: number;
  readonly last: number;
  /** Lines by the beginning of their time step, in milliseconds, oldest first; only where a step was asked for. */
  readonly steps?: readonly (readonly [at: number, count: number])[];
}

export interface PatternsAnswer extends Notes {
  /** The most frequent first. */
  readonly patterns: readonly LinePattern[];
  /** Number of lines read. */
  readonly lines: number;
  /** True if only the newest lines of the window were read. */
  readonly partial: boolean;
}

export interface LabelOptions extends Pick<QueryOptions, 'enforce' | 'asker'> {
  readonly query?: string;
}

/** Questions in LogQL, answered by whichever driver is set. */
export interface LogQueries {
  lines(query: string, window: LogWindow, options?: LogQueryOptions): Promise<LinesAnswer>;
  instant(query: string, time: number, options?: QueryOptions): Promise<InstantAnswer>;
  range(
    query: string,
    window: LogWindow & { readonly step: number },
    options?: QueryOptions,
  ): Promise<MatrixAnswer & Notes>;
  /** The templates of the lines that a log query finds. */
  patterns(query: string, window: LogWindow, options?: PatternOptions): Promise<PatternsAnswer>;
  labels(window: LogWindow, options?: LabelOptions): Promise<readonly string[]>;
  labelValues(name: string, window: LogWindow, options?: LabelOptions): Promise<readonly string[]>;
  check(
    query: string,
  ): Promise<{ readonly type: 'lines' | 'vector' | 'scalar'; readonly printed: string }>;
  status(): Promise<{
    readonly driver: 'embedded' | 'remote';
    readonly ok: boolean;
    readonly detail?: string;
    readonly delayMs: number;
  }>;
}

export interface LogIngest extends PushStore<
  'loki-json' | 'loki-proto' | 'otlp-proto' | 'otlp-json'
> {
  write(lines: readonly (Line & { readonly metadata?: LabelRecord })[]): Promise<PushAnswer>;
}

export const LogQueries = defineService<LogQueries>('logs.queries');
export const LogIngest = defineService<LogIngest>('logs.ingest');
export const LogCare = defineService<StoreCare>('logs.care');
