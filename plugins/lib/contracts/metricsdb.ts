import type { NativeHistogram } from 'svc/native-histogram';
import { defineService, type Handle, isSvcError } from 'svc/sdk';
import type { StoreCare } from 'svc/store';

/**
 * Identity of the sender of a push, as the manager knows it; overrides whatever the sender claims.
 */
export interface Stamp {
  readonly device_id?: string;
  readonly edge_id?: string;
}

/** Options of every query. */
export interface QueryOptions {
  /** Default 30 s. */
  readonly timeoutMs?: number;
  /** Default 50 million. */
  readonly maxSamples?: number;
  readonly lookbackMs?: number;
  readonly signal?: AbortSignal;
  /**
   * Asker, as returned by `askerOf` of `svc/query`; askers take turns. Absent for the product
   * itself, such as for alerting, which goes first.
   */
  readonly asker?: string | undefined;
  /** Label matchers such as `device_id="7"` that every selector of the query gets besides its own: what the asker may see. */
  readonly enforce?: readonly Enforced[];
}

export interface Enforced {
  readonly name: string;
  readonly op: '=' | '!=' | '=~' | '!~';
  readonly value: string;
}

/** Labels of one series, `__name__` included where it has one. */
export type LabelRecord = Readonly<Record<string, string>>;

export type InstantAnswer = (
  | { readonly type: 'scalar'; readonly time: number; readonly value: number }
  | { readonly type: 'string'; readonly time: number; readonly value: string }
  | VectorAnswer
  | MatrixAnswer
) &
  Notes;

export interface VectorAnswer {
  readonly type: 'vector';
  readonly labels: readonly LabelRecord[];
  readonly times: Float64Array;
  readonly values: Float64Array;
  /**
   * Histograms at positions where the number is 0 because the value is a histogram; absent if there
   * are none. Only scratch stores have them.
   */
  readonly histograms?: readonly (NativeHistogram | undefined)[];
}

/** One entry of `labels`, `times` and `values` per series; times in milliseconds. */
export interface MatrixAnswer {
  readonly type: 'matrix';
  readonly labels: readonly LabelRecord[];
  readonly times: readonly Float64Array[];
  readonly values: readonly Float64Array[];
}

export interface Notes {
  readonly warnings: readonly string[];
}

export interface CheckedQuery {
  /** Type of its value. */
  readonly type: 'scalar' | 'string' | 'vector' | 'matrix';
  readonly printed: string;
  /** Names of the metrics that it reads, in the order of the text, as far as they are written out. */
  readonly metrics: readonly string[];
  /** Labels that its aggregations leave its series; absent: whatever labels they have. */
  readonly grouping?: readonly string[];
}

/** Questions in PromQL, answered by whichever driver is set. Times are in milliseconds. */
export interface MetricsQueries {
  instant(query: string, time: number, options?: QueryOptions): Promise<InstantAnswer>;
  /** Several questions about one time in one crossing: for each an answer or an error, in their order. Each has its own limits, and all together the deadline. */
  instants?(
    queries: readonly string[],
    time: number,
    options?: QueryOptions,
  ): Promise<readonly (InstantAnswer | Error)[]>;
  range(
    query: string,
    window: { readonly start: number; readonly end: number; readonly step: number },
    options?: QueryOptions,
  ): Promise<MatrixAnswer & Notes>;
  series(
    matchers: readonly string[],
    window: { readonly start: number; readonly end: number },
    options?: QueryOptions,
  ): Promise<readonly LabelRecord[]>;
  /** Throws invalid_argument with `line:col` and the reason unless the text is PromQL. */
  check(query: string): Promise<CheckedQuery>;
  /**
   * Opens a separate store in memory, for experiments; the caller closes it, and one that is unused
   * for five minutes is deleted.
   */
  scratch?(options?: Pick<QueryOptions, 'asker'>): Promise<ScratchSeries>;
  /** Which driver answers and whether it does. */
  status(): Promise<{
    readonly driver: 'embedded' | 'process' | 'remote';
    readonly ok: boolean;
    readonly detail?: string;
    readonly delayMs: number;
  }>;
}

/** Samples of one series, in the order of their times. */
export interface ScratchRow {
  readonly labels: LabelRecord;
  /** Milliseconds. */
  readonly times: Float64Array;
  readonly values: Float64Array;
  /** 1 where the series ends instead of having a value. */
  readonly stale?: Uint8Array;
  /** Native histograms at positions that have one instead of a number; absent if there are none. */
  readonly histograms?: readonly (NativeHistogram | undefined)[];
}

export interface ScratchSeries {
  /** Samples that come after those their series has; a later one at the same time counts. */
  write(rows: readonly ScratchRow[]): Promise<void>;
  instant(
    query: string,
    time: number,
    options?: Pick<QueryOptions, 'signal'>,
  ): Promise<InstantAnswer>;
  close(): Promise<void>;
}

export interface PushAnswer {
  readonly accepted: number;
  /**
   * Number of exemplars kept with the samples; duplicates and those that are late or too long are
   * dropped silently.
   */
  readonly exemplars?: number;
  /** Refused for good: sending them again would not help. */
  readonly rejected: number;
  /** Why, for the first few. */
  readonly reasons: readonly string[];
}

export interface SampleRow {
  readonly labels: LabelRecord;
  /** Milliseconds. */
  readonly time: number;
  readonly value: number;
  /** The series ends here instead of having a value. */
  readonly stale?: boolean;
}

export interface PushOptions {
  readonly encoding?: string;
  readonly stamp?: Stamp;
  /** Sender as a person knows it, on whose account new series go; absent: a part of svc. */
  readonly sender?: string;
  readonly signal?: AbortSignal;
  /** The caller does not look at the body again, so it may move to the thread of the store instead of being copied. */
  readonly given?: boolean;
}

/** A store as those who push see it: resolves once everything accepted is on disk; throws rate_limited or unavailable (with a delay) when nothing was taken. */
export interface PushStore<Format extends string> {
  /** One body, inflated by the thread as its encoding says (`snappy`, `gzip`, none), within the limits of the data plane. */
  push(format: Format, body: Uint8Array, options: PushOptions): Promise<PushAnswer>;
}

export interface MetricsIngest extends PushStore<
  'remote-write' | 'remote-write-2' | 'otlp-proto' | 'otlp-json' | 'exposition' | 'openmetrics'
> {
  write(rows: readonly SampleRow[]): Promise<PushAnswer>;
  /** Marks series as ended (staleness), such as when an edge or one of its plugins stops. */
  end(matchers: readonly Enforced[], time: number): Promise<number>;
}

export const MetricsQueries = defineService<MetricsQueries>('metrics.queries');

/** Returns what is wrong with a query that is to have one value a series; undefined if nothing is, or nobody can tell. */
export async function queryFault(
  metrics: Handle<MetricsQueries>,
  query: string,
): Promise<string | undefined> {
  try {
    const { type } = metrics.available ? await metrics.get().check(query) : { type: 'vector' };
    return type === 'vector' || type === 'scalar'
      ? undefined
      : `its query has a ${type}, where a number is shown`;
  } catch (error) {
    if (isSvcError(error) && error.code === 'invalid_argument') {
      return `its query is not PromQL: ${error.message}`;
    }
    throw error;
  }
}
export const MetricsIngest = defineService<MetricsIngest>('metrics.ingest');
export const MetricsCare = defineService<StoreCare>('metrics.care');
