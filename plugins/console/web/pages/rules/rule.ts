import type { Severity } from '../../kit/status.tsx';
import { compared, comparisonOf } from './comparison.ts';
import { written } from './condition.ts';

/** A rule as the API answers it. */
export interface Rule extends RuleDraft {
  readonly id: number;
  readonly created_by: string;
  readonly updated_at: string;
}

export interface RuleDraft {
  readonly rule_key: string;
  readonly name: string;
  readonly kind: string;
  readonly source_type?: string;
  readonly scope_type: string;
  readonly join_mode: string;
  readonly severity: Severity;
  readonly enabled: boolean;
  readonly conditions: readonly Readonly<Record<string, unknown>>[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly runbook_url: string;
  readonly notify_channel_ids?: readonly number[];
  readonly dimensions?: readonly string[];
  readonly interval_seconds?: number;
  readonly keep_firing_for?: string;
}

/** Values that one condition measured, whether or not it would have fired. */
export interface PreviewedSeries {
  readonly condition: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly points: readonly (readonly [time: number, value: number])[];
}

/** Result of a preview: what a rule would have done. */
export interface Previewed {
  readonly would_fire: boolean;
  readonly fire_count: number;
  readonly first_fire_at: string | null;
  readonly last_fire_at: string | null;
  readonly firings: readonly {
    readonly dedupe_key: string;
    readonly fired_at: string;
    readonly cleared_at: string | null;
    readonly value: number | null;
  }[];
  readonly series: readonly PreviewedSeries[];
  readonly series_left_out: number;
  readonly threshold: number | null;
  readonly from: string;
  readonly to: string;
  readonly warnings: readonly string[];
}

/** The fields of a rule that are the same whatever it watches. */
const blank: RuleDraft = {
  rule_key: '',
  name: '',
  kind: 'metric_raw',
  source_type: 'svc_builtin',
  scope_type: 'host',
  join_mode: 'all',
  severity: 'warning',
  enabled: true,
  conditions: [],
  labels: {},
  annotations: {},
  runbook_url: '',
  notify_channel_ids: [],
  dimensions: [],
};

/** Returns a rule with the name and the fields of a template. */
export const draftFrom = (body: Partial<RuleDraft>, name: string): RuleDraft => ({
  ...blank,
  name,
  rule_key: keyOf(name),
  ...body,
});

/** Returns a rule about a query that somebody looks at; its threshold follows from its values. */
export const draftOfQuery = (
  query: string,
): { readonly first: RuleDraft; readonly isMeasured: boolean } => {
  const isMeasured = comparisonOf(query) !== undefined;
  const expr = isMeasured ? query : `${comparisonOf(`${query} > 0`) ? query : `(${query})`} > 0`;
  return { first: { ...blank, conditions: [{ expr, for: '5m' }] }, isMeasured };
};

/** Returns the fields that may be sent back, without those of the server. */
export function draftOf({
  id: _id,
  created_by: _by,
  updated_at: _at,
  ...rule
}: Rule & { readonly created_at?: string }): RuleDraft {
  const { created_at: _created, ...draft } = rule;
  return draft;
}

/** `Disk is full` → `disk_is_full`. */
export const keyOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_|_$/g, '');

/**
 * Returns the rule with a threshold just above what its query has measured, and about hosts if its
 * series are those of hosts.
 */
export function measured(draft: RuleDraft, series: readonly PreviewedSeries[]): RuleDraft {
  const found = comparisonOf(written(draft.conditions[0]?.['expr']));
  const values = series.flatMap(({ points }) => points.map(([, value]) => value));
  if (found === undefined || values.length === 0) {
    return draft;
  }
  const most = values.reduce((a, b) => Math.max(a, b));
  const isOfHosts = series.every(({ labels }) => 'device_id' in labels);
  return {
    ...draft,
    scope_type: isOfHosts ? 'host' : 'global',
    conditions: [
      { ...draft.conditions[0], expr: compared({ ...found, threshold: roundedUp(most * 1.1) }) },
    ],
  };
}

/** Rounds up to two digits. */
function roundedUp(value: number): number {
  const power = 10 ** (Math.floor(Math.log10(Math.abs(value) || 1)) - 1);
  return Number((Math.ceil(Number((value / power).toPrecision(12))) * power).toPrecision(12));
}
