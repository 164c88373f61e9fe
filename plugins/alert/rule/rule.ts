import type { Severity } from 'svc/contracts/notify';

export type StoredKind =
  | 'metric_raw'
  | 'metric_anomaly'
  | 'metric_forecast'
  | 'metric_burn_rate'
  | 'log_match'
  | 'log_volume'
  | 'trace_latency'
  | 'trace_error_rate';

export type ScopeType = 'host' | 'global' | 'monitoring_pipeline';

/** A rule as it is stored and shown. */
export interface Rule {
  readonly id: number;
  readonly rule_key: string;
  readonly name: string;
  readonly kind: StoredKind;
  readonly source_type: 'svc_builtin' | 'metricsdb_external';
  readonly scope_type: ScopeType;
  readonly join_mode: 'all' | 'any';
  readonly severity: Severity;
  readonly enabled: boolean;
  readonly conditions: readonly Readonly<Record<string, unknown>>[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly runbook_url: string;
  readonly notify_channel_ids: readonly number[];
  readonly notify_window_seconds: number;
  readonly notify_min_fires: number;
  /** Labels that tell incidents of one scope apart. */
  readonly dimensions: readonly string[];
  /** 0: the evaluator's own. */
  readonly interval_seconds: number;
  /**
   * Time for which an alert keeps firing after its condition cleared; empty means until a second
   * evaluation finds it clear.
   */
  readonly keep_firing_for: string;
  /**
   * Max alerts; more are an error of the evaluation, which then changes nothing. 0 means unlimited.
   */
  readonly limit: number;
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
}

/** Evaluation plan of a rule: made from its conditions, never stored. */
export interface Plan {
  readonly join: 'all' | 'any';
  readonly legs: readonly Leg[];
  /**
   * Time for which a cleared alert keeps firing; undefined means until a second evaluation finds it
   * clear.
   */
  readonly keepMs?: number;
}

/** One condition as an instant query whose rows are what breaches. */
export interface Leg {
  readonly store: 'metrics' | 'logs';
  /** Comparison included. */
  readonly query: string;
  /** The same without the comparison, where it has one: tells "present and fine" from "absent", and what the value is. */
  readonly measure?: string;
  readonly threshold?: number;
  /** Forecast only: query for the seconds until the bound is reached, for each breaching series. */
  readonly eta?: string;
  /**
   * Forecast only: query for series that have already reached the bound, so the prediction came
   * true.
   */
  readonly crossed?: string;
  /**
   * Forecast only: preconditions of firing, in words, with the query for series that would reach
   * the bound but do not meet them.
   */
  readonly floors?: { readonly needs: string; readonly heldBack: string };
  /** Time for which it must breach without a break; 0 means immediately. */
  readonly forMs: number;
}

/** Rules that the evaluator holds in memory. */
export interface LiveRules {
  enabled(): readonly Rule[];
  /** Disabled ones too. */
  readonly total: number;
  get(id: number): Rule | undefined;
  /** Registers a listener that is called after each commit. */
  onChange(listener: (change: RuleChange) => void): () => void;
  /** Names of the rules, disabled ones too, that pin the channel. */
  pinning(channelId: number): readonly string[];
}

export interface RuleChange {
  readonly kind: 'created' | 'updated' | 'deleted' | 'enabled' | 'disabled';
  readonly rule: Rule;
  readonly before?: Rule;
}

/** Key of the rule whose incidents inhibit all others of the same device. */
export const deviceOfflineRule = 'device_offline';

/**
 * Returns the rule id of alerts that another system raises: they have no rule, so a negative number
 * made from their source stands in.
 */
export const ruleIdOfSource = (source: number): number => -1_000 - source;
export const sourceOfRuleId = (ruleId: number): number => -1_000 - ruleId;
export const isOfSource = (ruleId: number): boolean => ruleId <= -1_000;
