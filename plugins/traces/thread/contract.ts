import type { Enforced, PushAnswer, Stamp } from 'svc/contracts/metricsdb';
import type { FoundTraces } from 'svc/contracts/traces';
import type { CareRequest, StoreReport } from 'svc/store';

import type { TraceLimits } from '../store/head/limits.ts';
import type { PushFormat } from '../store/intake/push.ts';
import type { Relayed } from '../store/passing.ts';
import type { TagNames, TagValue } from '../store/read/tags.ts';
import type { StoreStats } from '../store/stats.ts';
import type { TagSearch } from '../traceql/search/tag-search.ts';

/** An answer of another server, to be read. */
export interface RemoteAnswer {
  readonly kind: 'search' | 'names' | 'values' | 'range';
  readonly body: Uint8Array;
}

/** Data that the plugin passes to the thread. */
export interface TracesData {
  readonly folder: string;
  readonly limits?: Partial<TraceLimits>;
  readonly query?: QueryLimits;
  readonly nativeBinding?: string;
}

/** Settings that may change while it runs. */
export interface ThreadSettings {
  readonly limits: Partial<TraceLimits>;
  readonly query: QueryLimits;
}

export interface QueryLimits {
  readonly timeoutMs: number;
  readonly cpuMs: number;
  /** Spans that one query may look at. */
  readonly maxSamples: number;
}

export interface Asked {
  readonly asker?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /** Spans that it may look at. */
  readonly maxSamples?: number | undefined;
  readonly enforce?: readonly Enforced[] | undefined;
}

export interface PushInput {
  readonly format: PushFormat;
  readonly body: Uint8Array;
  readonly encoding?: string | undefined;
  readonly stamp?: Stamp | undefined;
}

/** Either a query, or tags and durations. Times in milliseconds. */
export interface SearchInput extends Asked, TagSearch {
  readonly query?: string;
  readonly start: number;
  readonly end: number;
  readonly limit?: number;
  readonly spansPerSpanSet?: number;
}

/** `proto`: as version 1 has it; `proto2`: as version 2 does. */
export type TraceForm = 'v1' | 'v2' | 'proto' | 'proto2';

export interface TraceInput extends Asked {
  readonly traceId: string;
  readonly form: TraceForm;
}

export interface TagsInput extends Asked {
  readonly start: number;
  readonly end: number;
  readonly scope?: string;
  /** A filter: names of other spans do not count. */
  readonly query?: string;
  /** 2: by scope. */
  readonly version: 1 | 2;
}

export interface TagValuesInput extends Asked {
  readonly tag: string;
  readonly start: number;
  readonly end: number;
  readonly query?: string;
  readonly limit?: number;
  readonly version?: 1 | 2;
}

export interface MetricsInput extends Asked {
  readonly query: string;
  readonly start: number;
  readonly end: number;
  readonly step: number;
  readonly exemplars?: number;
}

/** One value for the whole window. */
export interface InstantInput extends Asked {
  readonly query: string;
  readonly start: number;
  readonly end: number;
}

/** Traces that another server has answered with, in protobuf. */
export interface JudgedInput extends SearchInput {
  readonly bodies: readonly Uint8Array[];
}

export interface RenderInput extends TraceInput {
  readonly body: Uint8Array;
}

export interface EnforcedInput {
  readonly query: string;
  readonly enforce: readonly Enforced[];
  /**
   * Kind of query: traces, with span names, which are filtered again here; names of tags; values of
   * this tag; or a metric.
   */
  readonly asks: 'traces' | 'names' | 'metrics' | { readonly tag: string };
}

export interface StoreStatus extends StoreStats {
  /** Reason why nothing is stored at the moment. */
  readonly trouble?: string;
  readonly queries: { readonly running: number; readonly waiting: number; readonly asked: number };
}

export interface TracesMetrics {
  readonly type: 'matrix';
  readonly labels: readonly Readonly<Record<string, string>>[];
  readonly times: readonly Float64Array[];
  readonly values: readonly Float64Array[];
  readonly warnings: readonly string[];
}

/** A type, not an interface: the thread takes any record of methods. */
export type TracesMethods = {
  push(input: PushInput): Promise<PushAnswer>;
  search(input: SearchInput, call: Call): Promise<FoundTraces>;
  searchJson(input: SearchInput, call: Call): Promise<Uint8Array<ArrayBuffer>>;
  /** Returns a trace; undefined if there is none: version 2 states that in its answer. */
  trace(input: TraceInput, call: Call): Promise<Uint8Array | undefined>;
  tagNames(input: Omit<TagsInput, 'version' | 'scope'>, call: Call): Promise<TagNames>;
  tagsJson(input: TagsInput, call: Call): Promise<Uint8Array<ArrayBuffer>>;
  tagValues(input: TagValuesInput, call: Call): Promise<readonly TagValue[]>;
  tagValuesJson(input: TagValuesInput, call: Call): Promise<Uint8Array<ArrayBuffer>>;
  metrics(input: MetricsInput, call: Call): Promise<TracesMetrics>;
  metricsJson(input: MetricsInput, call: Call): Promise<Uint8Array<ArrayBuffer>>;
  instantJson(input: InstantInput, call: Call): Promise<Uint8Array<ArrayBuffer>>;
  check(input: { readonly query: string }): { readonly printed: string };
  /**
   * Performs what the thread does every few seconds anyway: blocks, retention, and the notice
   * `span-metrics`; `now` does all of it immediately.
   */
  tend(input?: { readonly now?: boolean }): Promise<StoreStats>;
  stats(): StoreStats;
  care(request: CareRequest): Promise<StoreReport>;
  status(): StoreStatus;
  settle(settings: ThreadSettings): void;
  /** A push for another server: as it must go there. */
  relay(input: PushInput): Relayed;
  relayed(input: { readonly ticket: number; readonly sent: boolean }): void;
  /** A trace of another server as this one would show it. */
  render(input: RenderInput): Uint8Array | undefined;
  /** A search among traces of another server. */
  judge(input: JudgedInput, call: Call): Promise<FoundTraces>;
  /** Reads an answer of another server. */
  readAnswer(input: RemoteAnswer): object;
  /** The query for another server, which does not know what the asker may see. */
  enforced(input: EnforcedInput): string;
};

export interface Call {
  readonly signal: AbortSignal;
}

/**
 * Metrics that the thread sends unasked in the notice `span-metrics`, to be pushed to the metrics
 * store.
 */
export type SpanMetricsNotice = readonly SpanMetricsBody[];

export interface SpanMetricsBody {
  /** Body of Prometheus remote write, uncompressed. */
  readonly body: Uint8Array;
  /** Samples in it. */
  readonly rows: number;
}
