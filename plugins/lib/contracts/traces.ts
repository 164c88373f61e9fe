import { defineService } from 'svc/sdk';
import type { StoreCare } from 'svc/store';

import type { MatrixAnswer, Notes, PushStore, QueryOptions } from './metricsdb.ts';

export interface TraceWindow {
  /** Milliseconds. */
  readonly start: number;
  readonly end: number;
}

export interface FoundSpan {
  readonly spanId: string;
  readonly name: string;
  /** Nanoseconds since the epoch, as text. */
  readonly startNanos: string;
  readonly durationNanos: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
}

export interface FoundTrace {
  /** 32 hex digits. */
  readonly traceId: string;
  readonly rootService: string;
  readonly rootName: string;
  readonly startNanos: string;
  readonly durationMs: number;
  readonly matched: number;
  readonly spans: readonly FoundSpan[];
  readonly services: Readonly<
    Record<string, { readonly spanCount: number; readonly errorCount: number }>
  >;
}

export interface FoundTraces {
  readonly traces: readonly FoundTrace[];
  readonly partial: boolean;
  /** Warnings about what the answer lacks. */
  readonly warnings?: readonly string[];
}

export interface TraceSearchOptions extends QueryOptions {
  /** Default 20. */
  readonly limit?: number;
  readonly spansPerSpanSet?: number;
}

/** Questions in TraceQL, answered by whichever driver is set. */
export interface TraceQueries {
  search(query: string, window: TraceWindow, options?: TraceSearchOptions): Promise<FoundTraces>;
  /** Returns OTLP JSON of one trace; undefined if there is none. */
  trace(traceId: string, options?: QueryOptions): Promise<unknown>;
  tagValues(
    tag: string,
    window: TraceWindow,
    options?: Pick<QueryOptions, 'enforce' | 'asker'> & { readonly query?: string },
  ): Promise<readonly { readonly type: string; readonly value: string }[]>;
  metrics(
    query: string,
    window: TraceWindow & { readonly step: number },
    options?: QueryOptions,
  ): Promise<MatrixAnswer & Notes>;
  check(query: string): Promise<{ readonly printed: string }>;
  status(): Promise<{
    readonly driver: 'embedded' | 'remote';
    readonly ok: boolean;
    readonly detail?: string;
    readonly delayMs: number;
  }>;
}

export type TraceIngest = PushStore<'otlp-proto' | 'otlp-json'>;

export const TraceQueries = defineService<TraceQueries>('traces.queries');
export const TraceIngest = defineService<TraceIngest>('traces.ingest');
export const TraceCare = defineService<StoreCare>('traces.care');
