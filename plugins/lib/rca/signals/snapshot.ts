/**
 * Knowledge of an investigation as plain JSON: fetched once, stored, and judged by any number of
 * engines. Times are milliseconds since 1970.
 */
export interface Snapshot {
  readonly version: 1;
  /** When it was taken; nothing in it is later. */
  readonly taken_at: number;
  readonly symptom: Symptom;
  /** Window of everything that was fetched. */
  readonly window: Period;
  /** Quiet time to compare with. Without it the engine takes six hours that end a quarter of an hour before the onset. */
  readonly baseline?: Period;
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
  readonly series: readonly Series[];
  readonly logs: readonly LogTemplate[];
  readonly spans: readonly SpanAggregate[];
  readonly changes: readonly Change[];
  readonly checks: readonly CheckResult[];
  /** Attribute values by which failing spans differ; absent in snapshots of earlier versions. */
  readonly splits?: readonly AttributeSplit[];
  /** Processes of hosts; absent in snapshots of earlier versions. */
  readonly processes?: readonly ProcessUse[];
  /**
   * Requested data that could not be fetched; it lowers the confidence and is reported as not seen.
   */
  readonly missing: readonly Missing[];
  readonly evidence: readonly Evidence[];
}

export interface Period {
  readonly from: number;
  readonly to: number;
}

/** Symptom as the alert describes it. */
export interface Symptom {
  /** Node that the alert is about; absent for one that is about no node, or about many. */
  readonly node?: string;
  /** `id` of the series that fired, when it is among those that were fetched. */
  readonly series?: string;
  readonly metric: string;
  readonly kind: SliKind;
  readonly direction: Direction;
  readonly labels: Readonly<Record<string, string>>;
  readonly fired_at: number;
  readonly resolved_at?: number;
}

export type Direction = 'up' | 'down' | 'absent';

/**
 * Kinds of series. `errors` counts failures where no share of them is known; `saturation` is how
 * much of a limited thing is taken, `queue` what waits, `events` what should hardly ever happen.
 */
export const sliKinds = [
  'error_ratio',
  'errors',
  'latency',
  'rate',
  'cpu',
  'memory',
  'disk',
  'network',
  'load',
  'saturation',
  'queue',
  'events',
  'other',
] as const;
export type SliKind = (typeof sliKinds)[number];

/**
 * Unit of a value: determines the smallest relevant difference. A `ratio` is from 0 to 1, a
 * `percent` from 0 to 100.
 */
export const units = [
  'ratio',
  'percent',
  'seconds',
  'bytes',
  'per_second',
  'count',
  'other',
] as const;
export type Unit = (typeof units)[number];

export interface Node {
  readonly id: string;
  /**
   * Kind: `service`, `host`, `database`, `device`, `edge` …; `remote` for what is known only from
   * the calls of others.
   */
  readonly kind: string;
  readonly name: string;
}

/**
 * Dependency: `from` fails if `to` fails: it calls it, runs on it, reads from it. The fetcher
 * reverses relations that are stated the other way.
 */
export interface Edge {
  readonly from: string;
  readonly to: string;
  /** `calls`, `depends_on`, `runs_on`, `connects_to`, `served_by` … */
  readonly relation: string;
  readonly origin: EdgeOrigin;
  readonly evidence?: string;
  /** Certainty from 0 to 1; default 1. */
  readonly weight?: number;
}

export const edgeOrigins = ['topology', 'trace', 'metric', 'log'] as const;
export type EdgeOrigin = (typeof edgeOrigins)[number];

/** One series on a regular grid. Counters come as rates; availability as `error_ratio`, the share that fails. */
export interface Series {
  readonly id: string;
  readonly evidence: string;
  readonly node: string;
  readonly metric: string;
  readonly kind: SliKind;
  readonly unit: Unit;
  /**
   * Weight from 0 to 1; default 1. Less where the meaning is not known and only the behaviour
   * speaks.
   */
  readonly weight?: number;
  /** True if somebody else measures it: it goes on when the node is gone. */
  readonly outside?: boolean;
  /** Bad direction: more of it (`up`, the default), or less of it (free memory, days left). */
  readonly worse?: 'up' | 'down' | 'either';
  readonly labels?: Readonly<Record<string, string>>;
  readonly from: number;
  readonly step_ms: number;
  /** Values at `from + index * step_ms`; null where there is none. */
  readonly values: readonly (number | null)[];
  /**
   * Earlier periods of the same series on the same grid, such as a day or a week ago: alternative
   * baselines.
   */
  readonly earlier?: readonly {
    readonly ago_ms: number;
    readonly values: readonly (number | null)[];
  }[];
}

export type Severity = 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'unknown';

export interface LogTemplate {
  readonly id: string;
  readonly evidence: string;
  readonly node: string;
  readonly template: string;
  readonly severity: Severity;
  readonly from: number;
  readonly bucket_ms: number;
  /** Lines in each bucket. */
  readonly counts: readonly number[];
  /** Sample lines, redacted, at most three. Shown, never judged. */
  readonly samples: readonly string[];
  /** Nodes that its lines name as those they called. */
  readonly peers?: readonly string[];
}

/** Spans of one operation of a service, in buckets. All lists have the same length. */
export interface SpanAggregate {
  readonly evidence: string;
  readonly node: string;
  readonly operation: string;
  readonly from: number;
  readonly bucket_ms: number;
  readonly spans: readonly number[];
  readonly errors: readonly number[];
  /** Spans in error whose children are all fine: where an error begins. */
  readonly origins: readonly number[];
  /** Failing traces that hold such a span, and all failing traces, of whatever service. */
  readonly failing_here: readonly number[];
  readonly failing: readonly number[];
  /** 95th percentile of the time spent in the operation itself, without its children; null without spans. */
  readonly self_ms: readonly (number | null)[];
}

export const changeKinds = [
  'deploy',
  'config',
  'rule',
  'edge_upgrade',
  'restart',
  'reboot',
  'certificate',
  'package',
  'cron',
  'other',
] as const;
export type ChangeKind = (typeof changeKinds)[number];

export interface Change {
  readonly id: string;
  readonly evidence: string;
  readonly at: number;
  readonly kind: ChangeKind;
  /** Absent for a change of no node in particular. */
  readonly node?: string;
  readonly title: string;
  readonly actor?: string;
}

/**
 * Result of one host check. `interesting` says that it concerns this incident; details are figures,
 * not prose.
 */
export interface CheckResult {
  /**
   * Name such as `disk_full`, `oom_kills`, `clock_skew`: those in checks.ts are understood, any
   * other is only shown.
   */
  readonly check: string;
  readonly evidence: string;
  readonly node: string;
  readonly ok: boolean;
  readonly interesting: boolean;
  readonly message: string;
  readonly details: Readonly<Record<string, number | string | boolean>>;
  /** Start of the problem, if the check can tell. */
  readonly since?: number;
}

/** An attribute value that most failing spans of a node have and few others. */
export interface AttributeSplit {
  readonly evidence: string;
  readonly node: string;
  readonly key: string;
  readonly value: string;
  readonly failing: number;
  readonly of_failing: number;
  readonly others: number;
  readonly of_others: number;
  /** Node that the value names, if it is a place where requests are served. */
  readonly place?: string;
}

/** A process that was among those that used the most of a host. */
export interface ProcessUse {
  readonly evidence: string;
  readonly node: string;
  /** Null for all processes of one name together. */
  readonly pid: number | null;
  readonly name: string;
  readonly user: string | null;
  readonly started_at: number | null;
  /** `[time, percent of a core, resident bytes, bytes read and written a second]`, oldest first. */
  readonly uses: readonly (readonly [number, number, number, number])[];
}

export type EvidenceKind = 'metric' | 'log' | 'trace' | 'change' | 'topology' | 'check' | 'doc';

export type MissingReason =
  | 'down'
  | 'offline'
  | 'timeout'
  | 'refused'
  | 'too_much'
  | 'not_kept'
  | 'absent';

export interface Missing {
  readonly kind: EvidenceKind;
  readonly source: string;
  readonly node?: string;
  readonly reason: MissingReason;
  readonly text: string;
}

/** Origin of something in the snapshot, so that it can be asked again. */
export interface Evidence {
  /** `E1`, `E2` … */
  readonly id: string;
  readonly kind: EvidenceKind;
  readonly source: string;
  readonly query: string;
  readonly window: Period;
  readonly fetched_at: number;
  readonly digest: Readonly<Record<string, unknown>>;
  readonly sha256: string;
  /** Up to when nothing was on its way any more, and the digest of the answer up to there; absent where all of it was settled. */
  readonly settled?: { readonly to: number; readonly sha256: string };
  /**
   * Trust in the content: `untrusted` if outsiders can write it; such text is shown and never
   * judged.
   */
  readonly trust: 'trusted' | 'untrusted';
  readonly redactions?: number;
  readonly truncated?: boolean;
}
