import { Type } from 'typebox';

const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const Timestamp = Type.String({ format: 'date-time' });
const Words = Type.Record(Type.String(), Type.String());
const Status = Type.Enum(['open', 'acknowledged', 'silenced', 'resolved']);
const Severity = Type.Enum(['info', 'warning', 'critical']);
const Scope = Type.Enum(['host', 'global', 'monitoring_pipeline']);
const Text = { maxLength: 4_000, pattern: '\\S' };

export const IncidentId = Type.Object({
  id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
});

export const IncidentItem = Type.Object({
  id: Type.Integer(),
  rule: Type.String({ description: 'rule_key of the rule' }),
  rule_id: orNull(
    Type.Integer({
      description:
        'null: the incident comes from an alert source or from svc itself, not from an alert rule',
    }),
  ),
  rule_name: Type.String(),
  severity: Severity,
  status: Status,
  scope_type: Scope,
  scope_id: Type.String(),
  device_id: orNull(Type.String()),
  device_name: orNull(
    Type.String({ description: 'Current name of the device, even if it has been renamed since' }),
  ),
  summary: Type.String(),
  labels: Words,
  annotations: Words,
  runbook_url: Type.String(),
  dedupe_key: Type.String(),
  value: orNull(
    Type.Number({
      description: 'Last measured value of the instance that represents the incident',
    }),
  ),
  worst_value: orNull(
    Type.Number({
      description: 'Worst value measured on any instance while the incident is active',
    }),
  ),
  firing_instances: Type.Integer({
    description: 'Number of firing instances; GET …/instances lists them',
  }),
  threshold: orNull(Type.Number()),
  event_count: Type.Integer({ description: 'Number of times the incident has fired' }),
  fired_at: Timestamp,
  last_fired_at: Timestamp,
  acknowledged_at: orNull(Timestamp),
  acknowledged_by: orNull(Type.String()),
  silenced_until: orNull(Timestamp),
  stale_since: orNull(
    Type.String({
      format: 'date-time',
      description:
        "Time when the incident's sources stopped sending data; its state has been unknown since then",
    }),
  ),
  resolved_at: orNull(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const instanceStates = ['pending', 'firing', 'stale', 'resolved'] as const;

export const InstanceQuery = Type.Object({ state: Type.Optional(Type.Enum([...instanceStates])) });

export const InstanceItem = Type.Object({
  labels: Words,
  state: Type.Enum([...instanceStates], {
    description:
      'stale: was firing, but its source has sent nothing since then, since the manager started, or since a clock jump',
  }),
  value: orNull(Type.Number({ description: 'Last measured value' })),
  worst_value: orNull(Type.Number()),
  since: Type.String({ format: 'date-time', description: 'Start of the current state' }),
  last_seen_at: Timestamp,
  resolved_at: orNull(Timestamp),
  silenced_by: orNull(
    Type.String({
      description:
        'silence followed by the id of the silence, or incident if the incident itself is silenced',
    }),
  ),
});

export const IncidentQuery = Type.Object({
  status: Type.Optional(
    Type.String({
      pattern:
        '^(open|acknowledged|silenced|resolved|active)(,(open|acknowledged|silenced|resolved|active))*$',
      examples: ['open,acknowledged'],
      maxLength: 80,
      description:
        'One or more, separated by commas, such as open,acknowledged; active: all except resolved',
    }),
  ),
  severity: Type.Optional(
    Type.String({
      pattern: '^(info|warning|critical)(,(info|warning|critical))*$',
      examples: ['warning,critical'],
      maxLength: 40,
    }),
  ),
  scope: Type.Optional(
    Type.String({
      pattern: '^(host|global|monitoring_pipeline)(:.{1,200})?$',
      examples: ['host:7'],
      description: 'A scope type, optionally with a scope id, such as host:7',
    }),
  ),
  rule: Type.Optional(Type.String({ maxLength: 200, description: 'rule_key' })),
  q: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'Only incidents whose rule name, summary or dedupe key contains this text',
    }),
  ),
});

export const EventQuery = Type.Object({
  order: Type.Optional(Type.Enum(['asc', 'desc'], { description: 'Default: desc, newest first' })),
  type: Type.Optional(Type.String({ maxLength: 40 })),
});

export const EventItem = Type.Object({
  id: Type.Integer(),
  incident_id: Type.Integer(),
  type: Type.String(),
  status_after: Status,
  severity: Severity,
  message: Type.String(),
  actor: Type.Object({
    type: Type.Enum(['system', 'user', 'agent']),
    id: Type.String(),
    name: Type.String(),
  }),
  data: Type.Record(Type.String(), Type.Unknown()),
  created_at: Timestamp,
});

export const WithNote = Type.Object({ note: Type.Optional(Type.String(Text)) });

export const NoteDraft = Type.Object({ text: Type.String(Text) });

export const SilenceFor = Type.Object(
  {
    hours: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 720 })),
    until: Type.Optional(Timestamp),
    duration: Type.Optional(
      Type.String({
        pattern: '^(\\d+(ms|[smhdw]))+$',
        maxLength: 40,
        description: 'Such as 90m',
        examples: ['90m'],
      }),
    ),
    reason: Type.Optional(Type.String(Text)),
  },
  { description: 'Give exactly one of hours, until and duration; at most 720 hours' },
);

export const RuntimeInfo = Type.Object({
  interval_seconds: Type.Number(),
  cooldown_seconds: Type.Number(),
  rules_total: Type.Integer(),
  rules_enabled: Type.Integer(),
  last_cycle: Type.Object({
    started_at: orNull(Timestamp),
    duration_ms: Type.Number({ description: 'Time spent evaluating rules, in milliseconds' }),
    rules_evaluated: Type.Integer(),
    rules_failed: Type.Integer(),
    series_seen: Type.Integer(),
    missed: Type.Integer({
      description:
        'Number of intervals missed because the rule was still being evaluated or the evaluator was not running',
    }),
    firing: Type.Integer(),
    pending: Type.Integer(),
  }),
  slowest: Type.Array(
    Type.Object({
      rule_id: Type.Integer(),
      rule_key: Type.String(),
      duration_ms: Type.Number(),
      series: Type.Integer(),
    }),
  ),
  failing: Type.Array(
    Type.Object({
      rule_id: Type.Integer(),
      rule_key: Type.String(),
      error: Type.String(),
      failures: Type.Integer(),
      since: orNull(Timestamp),
    }),
    { description: 'Rules whose last evaluation failed; they keep their state' },
  ),
  warnings: Type.Array(
    Type.Object({ rule_id: Type.Integer(), rule_key: Type.String(), message: Type.String() }),
  ),
  back_ends: Type.Array(
    Type.Object({
      name: Type.String(),
      ok: Type.Boolean(),
      failures: Type.Integer(),
      error: orNull(Type.String()),
    }),
  ),
});
