import type { ChangeKind, EdgeOrigin, EvidenceKind, SliKind } from './snapshot.ts';

/** Findings about a snapshot; deterministic to the byte for the same snapshot and options. */
export interface Findings {
  readonly engine_version: string;
  readonly verdict: Verdict;
  /** One or two sentences; what a notice carries. */
  readonly summary: string;
  readonly onset_at: number;
  /** When the symptom was back to normal; absent while it lasts. */
  readonly recovered_at?: number;
  readonly root_cause: RootCause | null;
  readonly confidence: Confidence;
  /** Best first. */
  readonly hypotheses: readonly Hypothesis[];
  /** Path from the cause to the symptom. */
  readonly propagation: readonly Step[];
  /** Oldest first. */
  readonly timeline: readonly Moment[];
  readonly claims: readonly Claim[];
  readonly ruled_out: readonly RuledOut[];
  readonly not_seen: readonly NotSeen[];
  /** Changes before the onset, most likely first. */
  readonly changes: readonly RelatedChange[];
}

export type Verdict =
  | 'root_cause'
  | 'suspected'
  | 'no_anomaly'
  | 'recovered'
  | 'insufficient_data'
  | 'monitoring_fault';

export type Category =
  | 'resource_exhaustion'
  | 'infrastructure'
  | 'configuration_error'
  | 'dependency_failure'
  | 'code_defect'
  | 'data_quality'
  | 'healthy'
  | 'unknown';

/** Indicator inside a node: a metric with its extent, a log template, a check. */
export interface Indicator {
  readonly evidence: string;
  readonly kind: SliKind | 'log' | 'trace' | 'change' | 'check';
  readonly name: string;
  /** Series of the snapshot, for a metric. */
  readonly series?: string;
  /** Value before, and below, at its worst. */
  readonly usual?: number;
  readonly worst?: number;
  readonly deviation?: number;
  readonly onset_at?: number;
}

export interface RootCause {
  readonly node: string;
  readonly node_name: string;
  readonly category: Category;
  readonly indicator: Indicator | null;
  readonly since: number;
  readonly text: string;
}

export interface Confidence {
  readonly level: 'low' | 'medium' | 'high';
  /**
   * Confidence from 0 to 1: after calibration the rate at which such reports were right, before it
   * a figure to compare reports by.
   */
  readonly value: number;
  readonly parts: {
    readonly margin: number;
    readonly coverage: number;
    readonly path: number;
    readonly kinds: number;
  };
  readonly calibrated: boolean;
}

export interface Hypothesis {
  readonly rank: number;
  readonly node: string;
  readonly node_name: string;
  readonly category: Category;
  readonly indicator: Indicator | null;
  readonly score: number;
  readonly onset_at?: number;
  /** Robust deviation of its worst signal, and correlation with the symptom. */
  readonly deviation: number;
  readonly correlation: number;
  /**
   * True if the symptom depends on it through deviating nodes; below, if none of its own
   * dependencies deviates.
   */
  readonly reaches_symptom: boolean;
  readonly deepest: boolean;
  readonly support: readonly {
    readonly kind: EvidenceKind;
    readonly evidence: string;
    readonly text: string;
  }[];
  readonly text: string;
}

/** Edge on the path from the cause to the symptom, with the results of checking it. */
export interface Step {
  readonly from: string;
  readonly to: string;
  readonly relation: string;
  readonly origin: EdgeOrigin | 'none';
  readonly checks: {
    /** There is such an edge, and it points the right way. */
    readonly edge: boolean;
    /** True if both ends deviate. */
    readonly deviates: boolean;
    /** The cause did not come after its effect, within a step of the samples. */
    readonly order: boolean;
  };
}

export interface Moment {
  readonly at: number;
  readonly node?: string;
  readonly kind: 'onset' | 'symptom' | 'fired' | 'change' | 'log' | 'check' | 'recovered';
  readonly text: string;
  readonly evidence: readonly string[];
}

export const statistics = ['max', 'min', 'p95', 'avg', 'count', 'onset', 'template_count'] as const;
export type Statistic = (typeof statistics)[number];
export const comparisons = ['<', '<=', '==', '>=', '>'] as const;
export type Comparison = (typeof comparisons)[number];

/**
 * Assertion of a claim about one piece of evidence, which can be recomputed. Onsets are
 * milliseconds since 1970.
 */
export interface Assertion {
  readonly evidence_id: string;
  /** `id` of a series or a log template; needed where the evidence holds more than one. */
  readonly part?: string;
  readonly stat: Statistic;
  /** Period; that of the incident if absent. */
  readonly over?: 'incident' | 'baseline';
  readonly op: Comparison;
  readonly value: number;
  /** Tolerance for `==`; for the others, in favour of the claim. */
  readonly tolerance: number;
}

export interface Claim {
  readonly id: string;
  readonly text: string;
  readonly evidence_ids: readonly string[];
  readonly assertion?: Assertion;
  readonly origin: 'engine' | 'model';
  readonly status: ClaimStatus;
  readonly checked_value?: number;
}

export type ClaimStatus = 'verified' | 'contradicted' | 'unverified';

export interface RuledOut {
  readonly node: string;
  readonly node_name: string;
  readonly reason: 'normal' | 'downstream' | 'later' | 'unrelated' | 'weaker' | 'innocent_change';
  readonly text: string;
  readonly evidence: readonly string[];
}

export interface NotSeen {
  readonly kind: EvidenceKind;
  readonly node?: string;
  readonly reason: string;
  readonly text: string;
}

export interface RelatedChange {
  readonly id: string;
  readonly evidence: string;
  readonly at: number;
  readonly kind: ChangeKind;
  readonly node?: string;
  readonly title: string;
  /** Score from 0 to 1: how near in time and in the graph. */
  readonly score: number;
  readonly before_ms: number;
}
