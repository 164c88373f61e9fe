import type { Logger } from 'svc/sdk';
import type { CareRequest, DiskLimits, StoreReport, WalFiles } from 'svc/store';

import type { SearchWindow, SpanSource } from '../traceql/spans/source.ts';
import type { TraceSpans } from '../traceql/spans/span.ts';
import type { Head } from './head/head.ts';
import type { TraceLimits } from './head/limits.ts';
import type { PushFormat, PushOptions, PushResult } from './intake/push.ts';
import type { MetricRow } from './intake/span-metrics.ts';
import type { SpanTables } from './read/scan.ts';
import type { StoreStats } from './stats.ts';

export interface TracesStoreOptions {
  readonly folder: string;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds that never jump; by default those of the machine. */
  readonly monotonic?: () => number;
  readonly limits?: Partial<TraceLimits>;
  readonly disk?: DiskLimits;
  /** File access, replaceable for tests of a failing disk. */
  readonly files?: WalFiles;
  readonly nativeBinding?: string;
}

export interface TracesStore {
  readonly limits: TraceLimits;
  /** Sets the limits; counters of spans restart if the way they are counted changes. */
  setLimits(limits: Partial<TraceLimits>): void;
  push(format: PushFormat, body: Uint8Array, options?: PushOptions): Promise<PushResult>;
  /** A head that belongs to nobody yet. */
  newHead(): Head;
  /** Counts rows of a head in the metrics of spans. */
  count(head: Head, first: number, end: number): void;
  source(): SpanSource;
  readonly tables: SpanTables;
  /** Runs a query on the source or the tables; damaged parts are left out. */
  read<T>(question: () => Promise<T>): Promise<T>;
  /** Returns descriptions of what an answer about these times, or one trace, lacks. */
  missing(window: SearchWindow, trace?: Uint8Array): string[];
  trace(id: Uint8Array): Promise<TraceSpans | undefined>;
  /** Turns the head into a block when due, or immediately; deletes what is too old or too much. */
  tend(options?: { readonly now?: boolean }): Promise<void>;
  metricRows(): MetricRow[];
  /** Reason why nothing is stored at the moment. */
  refusal(): string | undefined;
  stats(): StoreStats;
  /** Performs an operator's request. */
  care(request: CareRequest): Promise<StoreReport>;
  close(): Promise<void>;
}
