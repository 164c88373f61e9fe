import { Type } from 'typebox';

import { acceptedKinds, storedKinds } from '../kinds/kinds.ts';
import type { Rule } from '../rule/rule.ts';

const oneOf = <const T extends string>(values: readonly T[], more: object = {}) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], ...more });

const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const Timestamp = Type.String({ format: 'date-time' });
/** Label names as Prometheus allows them, such as `http.method`. */
const labelName = '^\\P{Cc}{1,100}$';
const Texts = (name: string, longest: number, most: number, description: string) =>
  Type.Unsafe<Record<string, string>>({
    type: 'object',
    propertyNames: { type: 'string', pattern: name, examples: ['summary'] },
    additionalProperties: { type: 'string', maxLength: longest },
    maxProperties: most,
    description,
  });

const RuleKey = Type.String({
  pattern: '^[a-z][a-z0-9_]{0,99}$',
  examples: ['disk_full'],
  description: 'In lower_snake_case. Unique among existing rules; cannot be changed later.',
});
const Name = Type.String({ minLength: 1, maxLength: 200, pattern: '^\\P{Cc}+$' });
const SourceType = oneOf(['svc_builtin', 'metricsdb_external'] as const);
export const ScopeTypeSchema = oneOf(['host', 'global', 'monitoring_pipeline'] as const, {
  description:
    'host: one incident per device_id; global: one; monitoring_pipeline: one per pipeline',
});
const JoinMode = oneOf(['all', 'any'] as const, {
  description:
    'If there are several conditions: whether all of them must match, or any one of them',
});
export const SeveritySchema = oneOf(['info', 'warning', 'critical'] as const);
const Conditions = Type.Array(
  Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true }),
  {
    minItems: 1,
    maxItems: 10,
    examples: [[{ metric: 'node_load1', operator: '>', threshold: 8 }]],
    description: [
      'fields of each element by kind; any of them may have for: how long the condition must hold',
      'metric_threshold: metric, operator (>, >=, <, <= or ==), threshold; window, aggregator (avg, max or min)',
      'metric_raw: expr',
      'metric_anomaly: metric, window, z_threshold',
      'metric_forecast: metric, window, forecast_for, below',
      'metric_burn_rate: good, total, slo, long, short',
      'log_match: expr; log_volume: expr with its comparison',
      'trace_latency: service, percentile, above_ms, window',
      'trace_error_rate: service, above_percent, window',
    ].join('\n'),
  },
);
const Runbook = Type.String({
  maxLength: 2_000,
  pattern: '^$|^https?://[^\\s\\x00-\\x1f]+$|^playbook://[A-Za-z0-9][A-Za-z0-9._/-]*$',
  examples: ['https://wiki.example.org/disk-full'],
  description: 'A URL, or playbook:// followed by the path of a document in the playbook vault',
});
const Channels = Type.Array(Id, {
  maxItems: 50,
  uniqueItems: true,
  description: 'Channels to notify. Empty: every channel whose filters match the incident',
});
const Seconds = (most: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: most, description });

const optional = {
  enabled: Type.Optional(Type.Boolean()),
  labels: Type.Optional(Texts(labelName, 1_000, 50, 'added to the labels of the incident')),
  annotations: Type.Optional(
    Texts(
      '^[a-zA-Z_][a-zA-Z0-9_.-]{0,99}$',
      8_000,
      50,
      'Go templates over the incident: {{ $labels.name }}, {{ $value }}, of a forecast {{ humanizeDuration $eta }}',
    ),
  ),
  runbook_url: Type.Optional(Runbook),
  notify_channel_ids: Type.Optional(Channels),
  notify_window_seconds: Type.Optional(
    Seconds(
      30 * 86_400,
      'with notify_min_fires: a notification needs so many firings within this time',
    ),
  ),
  notify_min_fires: Type.Optional(Seconds(1_000, 'see notify_window_seconds; both are 0, or none')),
  dimensions: Type.Optional(
    Type.Array(Type.String({ pattern: labelName, examples: ['instance'] }), {
      maxItems: 10,
      uniqueItems: true,
      description: 'Labels that distinguish incidents within one scope, such as mountpoint',
    }),
  ),
  keep_firing_for: Type.Optional(
    Type.String({
      pattern: '^$|^0$|^(\\d+(ms|[smhdwy]))+$',
      examples: ['5m'],
      maxLength: 40,
      description:
        'How long an alert keeps firing after its condition has cleared, as in Prometheus. If empty, the alert clears on the second evaluation in which the condition is not met',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      description:
        'Maximum number of alerts. If there are more, the evaluation fails and changes nothing. 0: no limit',
    }),
  ),
  interval_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 86_400,
      description: 'Seconds between evaluations, at least 5. 0: the global interval',
    }),
  ),
};

const kindDescription =
  'metric_threshold, and the older names edge_offline, prom_query, ingest_health, edge_absence, health_ingest and event_internal, are stored as metric_raw';
const wanted = {
  scope_type: ScopeTypeSchema,
  join_mode: JoinMode,
  severity: SeveritySchema,
  conditions: Conditions,
};

export const RuleDraft = Type.Object({
  rule_key: RuleKey,
  name: Name,
  kind: oneOf(acceptedKinds, { description: kindDescription }),
  source_type: SourceType,
  ...wanted,
  ...optional,
});

/** Draft of a rule for a preview; needs no name because nothing is stored. */
export const PreviewDraft = Type.Object({
  kind: oneOf(acceptedKinds, { description: kindDescription }),
  scope_type: ScopeTypeSchema,
  conditions: Conditions,
  rule_key: Type.Optional(RuleKey),
  name: Type.Optional(Name),
  source_type: Type.Optional(SourceType),
  join_mode: Type.Optional(JoinMode),
  severity: Type.Optional(SeveritySchema),
  ...optional,
  lookback: Type.Optional(
    Type.String({ maxLength: 20, description: 'How far back to look, at most 30d. Default: 24h' }),
  ),
});

export const RuleShown = Type.Unsafe<Rule>(
  Type.Object({
    id: Id,
    rule_key: Type.String(),
    name: Type.String(),
    kind: oneOf(storedKinds),
    source_type: SourceType,
    scope_type: ScopeTypeSchema,
    join_mode: JoinMode,
    severity: SeveritySchema,
    enabled: Type.Boolean(),
    conditions: Type.Array(
      Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true }),
    ),
    labels: Type.Record(Type.String(), Type.String()),
    annotations: Type.Record(Type.String(), Type.String()),
    runbook_url: Type.String(),
    notify_channel_ids: Type.Array(Id),
    notify_window_seconds: Type.Integer(),
    notify_min_fires: Type.Integer(),
    dimensions: Type.Array(Type.String()),
    interval_seconds: Type.Integer(),
    keep_firing_for: Type.String(),
    limit: Type.Integer(),
    created_by: Type.String(),
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
);

export const RuleId = Type.Object({ id: Id });
export const EnabledFlag = Type.Object({
  enabled: Type.Optional(Type.Boolean({ description: 'Omit to toggle' })),
});

export const RuleQuery = Type.Object({
  enabled: Type.Optional(Type.Boolean()),
  kind: Type.Optional(oneOf(storedKinds)),
  severity: Type.Optional(SeveritySchema),
  scope_type: Type.Optional(ScopeTypeSchema),
  source_type: Type.Optional(SourceType),
  q: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'Only rules whose name or rule_key contains this text',
    }),
  ),
});

const Point = Type.Unsafe<readonly [number, number]>({
  type: 'array',
  prefixItems: [{ type: 'number' }, { type: 'number' }],
  minItems: 2,
  maxItems: 2,
});

export const PreviewShown = Type.Object({
  would_fire: Type.Boolean({ description: 'Whether the rule would have fired' }),
  fire_count: Type.Integer({ description: 'Number of times the rule would have started firing' }),
  first_fire_at: Type.Union([Timestamp, Type.Null()]),
  last_fire_at: Type.Union([Timestamp, Type.Null()]),
  series: Type.Array(
    Type.Object({
      condition: Type.Integer({ description: 'Index of the condition' }),
      labels: Type.Record(Type.String(), Type.String()),
      points: Type.Array(Point, {
        description:
          'Unix time in seconds, and the value measured at that time; non-numeric values are omitted',
      }),
    }),
  ),
  series_left_out: Type.Integer(),
  firings: Type.Array(
    Type.Object({
      dedupe_key: Type.String(),
      fired_at: Timestamp,
      cleared_at: Type.Union([Timestamp, Type.Null()]),
      value: Type.Union([Type.Number(), Type.Null()]),
    }),
    { description: 'The first 200 firings' },
  ),
  threshold: Type.Union([Type.Number(), Type.Null()], {
    description: 'Threshold of the first condition that has one',
  }),
  eta_at: Type.Union([Timestamp, Type.Null()], {
    description:
      'For a forecast condition that is met at the end of the window: when the first series will reach the threshold',
  }),
  query: Type.String({ description: 'Query of the first condition' }),
  queries: Type.Array(Type.String()),
  from: Timestamp,
  to: Timestamp,
  warnings: Type.Array(Type.String()),
});

export const RuleFileBody = Type.Object({
  content: Type.String({
    minLength: 1,
    maxLength: 4_000_000,
    description: 'Prometheus rule file or PrometheusRule object, as YAML',
    examples: [
      'groups:\n- name: example\n  rules:\n  - alert: HostDown\n    expr: up == 0\n    for: 5m\n',
    ],
  }),
  scope_type: Type.Optional(ScopeTypeSchema),
  severity: Type.Optional(SeveritySchema),
  dimensions: Type.Optional(
    Type.Array(Type.String({ pattern: labelName, examples: ['instance'] }), {
      maxItems: 10,
      uniqueItems: true,
      description: 'Dimensions of each rule. Default: the labels that its expression groups by',
    }),
  ),
  enabled: Type.Optional(Type.Boolean()),
  overwrite: Type.Optional(
    Type.Boolean({
      description: 'Replace previously imported rules with the same rule_key',
    }),
  ),
  dry_run: Type.Optional(Type.Boolean({ description: 'Only report what would be imported' })),
  strict: Type.Optional(
    Type.Boolean({
      description:
        'false: skip rules that cannot work instead of rejecting the whole file. Default: true',
    }),
  ),
  key_prefix: Type.Optional(
    Type.String({
      pattern: '^[a-z][a-z0-9_]{0,39}$',
      examples: ['imported'],
      description: 'Prefix for each rule_key',
    }),
  ),
});

export const ImportShown = Type.Object({
  dry_run: Type.Boolean(),
  taken: Type.Array(
    Type.Object({
      group: Type.String(),
      alert: Type.String(),
      rule_key: Type.String(),
      id: Type.Union([Id, Type.Null()]),
      notes: Type.Array(Type.String(), { description: 'What was not imported, and why' }),
    }),
  ),
  recorded: Type.Array(Type.Object({ group: Type.String(), record: Type.String() }), {
    description: 'Recording rules',
  }),
  left_out: Type.Array(
    Type.Object({ group: Type.String(), rule: Type.String(), reason: Type.String() }),
  ),
});
