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
  /** How long an alert goes on firing after its condition has cleared; empty: until a second evaluation finds it clear. */
  readonly keep_firing_for: string;
  /** More alerts than this are an error of the evaluation, which changes nothing then; 0: no such limit. */
  readonly limit: number;
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
}

/** What the evaluator does for a rule: made from its conditions, never stored. */
export interface Plan {
  readonly join: 'all' | 'any';
  readonly legs: readonly Leg[];
  /** How long what is clear goes on firing; undefined: until a second evaluation finds it clear. */
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
  /** Of a forecast: seconds until the bound is reached, for each series that breaches. */
  readonly eta?: string;
  /** Of a forecast: the bound is reached already, so that what it foretold has come true. */
  readonly crossed?: string;
  /** Of a forecast: what it needs before it may fire, in words, and the series that would reach the bound and lack it. */
  readonly floors?: { readonly needs: string; readonly heldBack: string };
  /** How long it must breach without a break; 0: at once. */
  readonly forMs: number;
}

/** What the evaluator knows of the rules, in memory. */
export interface RuleBook {
  enabled(): readonly Rule[];
  /** Disabled ones too. */
  readonly total: number;
  get(id: number): Rule | undefined;
  /** Called after the commit. */
  onChange(listener: (change: RuleChange) => void): () => void;
  /** Names of the rules, disabled ones too, that pin the channel. */
  pinning(channelId: number): readonly string[];
}

export interface RuleChange {
  readonly kind: 'created' | 'updated' | 'deleted' | 'enabled' | 'disabled';
  readonly rule: Rule;
  readonly before?: Rule;
}

/** Its incidents inhibit all others of the same device. */
export const deviceOfflineRule = 'device_offline';

/** Alerts that another system raises are of no rule of ours: the number of their source stands in its place, and says so. */
export const ruleIdOfSource = (source: number): number => -1_000 - source;
export const sourceOfRuleId = (ruleId: number): number => -1_000 - ruleId;
export const isOfSource = (ruleId: number): boolean => ruleId <= -1_000;
