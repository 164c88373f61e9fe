import type { Severity } from '../../kit/status.tsx';
import { examples } from './examples.ts';

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
  readonly queries: readonly string[];
  readonly threshold: number | null;
  readonly warnings: readonly string[];
}

/** The rule that a new one begins with: what most are. */
export const firstDraft: RuleDraft = {
  rule_key: '',
  name: '',
  kind: 'metric_raw',
  source_type: 'svc_builtin',
  scope_type: 'host',
  join_mode: 'all',
  severity: 'warning',
  enabled: true,
  conditions: examples['metric_raw']!,
  labels: {},
  annotations: {},
  runbook_url: '',
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
