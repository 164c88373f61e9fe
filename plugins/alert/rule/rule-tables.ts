import type { Generated, Kysely, Selectable } from 'kysely';
import { formatDuration, parseDuration } from 'svc/query';
import { timestamp } from 'svc/sdk';

import type { Rule } from './rule.ts';

export interface RuleTables {
  alert_rules: {
    id: Generated<number>;
    rule_key: string;
    name: string;
    kind: Rule['kind'];
    source_type: Rule['source_type'];
    scope_type: Rule['scope_type'];
    join_mode: Rule['join_mode'];
    severity: Rule['severity'];
    enabled: number;
    conditions: string;
    labels: string;
    annotations: string;
    runbook_url: string;
    notify_channel_ids: string;
    notify_window_seconds: number;
    notify_min_fires: number;
    dimensions: string;
    interval_seconds: number;
    keep_firing_ms: number | null;
    alert_limit: number;
    created_by: string;
    created_at: number;
    updated_at: number;
    deleted_at: number | null;
  };
  alert_seeds: { rule_key: string; inserted_at: number };
}

/** Either the committed state or a transaction. */
export type RuleDb = Kysely<RuleTables>;

export type RuleRow = Selectable<RuleTables['alert_rules']>;

/** A rule without what its storage adds. */
export type RuleBody = Omit<Rule, 'id' | 'created_by' | 'created_at' | 'updated_at'>;

export const rowOf = (rule: RuleBody) => ({
  rule_key: rule.rule_key,
  name: rule.name,
  kind: rule.kind,
  source_type: rule.source_type,
  scope_type: rule.scope_type,
  join_mode: rule.join_mode,
  severity: rule.severity,
  enabled: rule.enabled ? 1 : 0,
  conditions: JSON.stringify(rule.conditions),
  labels: JSON.stringify(rule.labels),
  annotations: JSON.stringify(rule.annotations),
  runbook_url: rule.runbook_url,
  notify_channel_ids: JSON.stringify(rule.notify_channel_ids),
  notify_window_seconds: rule.notify_window_seconds,
  notify_min_fires: rule.notify_min_fires,
  dimensions: JSON.stringify(rule.dimensions),
  interval_seconds: rule.interval_seconds,
  keep_firing_ms: rule.keep_firing_for === '' ? null : parseDuration(rule.keep_firing_for),
  alert_limit: rule.limit,
});

export const ruleOf = ({
  deleted_at: _deleted,
  created_at,
  updated_at,
  keep_firing_ms: keepMs,
  alert_limit: limit,
  ...row
}: RuleRow): Rule =>
  Object.freeze({
    ...row,
    enabled: row.enabled === 1,
    conditions: JSON.parse(row.conditions) as Rule['conditions'],
    labels: JSON.parse(row.labels) as Rule['labels'],
    annotations: JSON.parse(row.annotations) as Rule['annotations'],
    notify_channel_ids: JSON.parse(row.notify_channel_ids) as number[],
    dimensions: JSON.parse(row.dimensions) as string[],
    keep_firing_for: keepMs === null ? '' : formatDuration(keepMs),
    limit,
    created_at: timestamp(created_at),
    updated_at: timestamp(updated_at),
  });
