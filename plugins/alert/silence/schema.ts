import { Type } from 'typebox';

import { weekdays } from './recurrence.ts';

const Timestamp = Type.String({ format: 'date-time' });
const Duration = Type.String({
  pattern: '^(\\d+(ms|[smhdw]))+$',
  examples: ['2h'],
  maxLength: 40,
  description: 'Duration, such as 2h or 1h30m',
});

const Matcher = Type.Object(
  {
    name: Type.String({
      pattern: '^[A-Za-z_][A-Za-z0-9_.:-]*$',
      examples: ['severity'],
      maxLength: 200,
      description: 'A label name, or one of rule, severity, scope_type, scope_id and device_id',
    }),
    op: Type.Enum(['=', '!=', '=~', '!~'], { default: '=' }),
    value: Type.String({
      maxLength: 1_000,
      description: 'For =~ and !~: a regular expression (RE2) that must match the whole value',
    }),
  },
  { additionalProperties: false },
);

const Recurrence = Type.Object(
  {
    days: Type.Array(Type.Enum([...weekdays]), {
      default: [],
      maxItems: 7,
      uniqueItems: true,
      description: 'Empty: every day',
    }),
    start: Type.String({
      pattern: '^([01]\\d|2[0-3]):[0-5]\\d$',
      examples: ['22:30'],
      description: 'Local time in time_zone',
    }),
    time_zone: Type.String({
      default: 'UTC',
      maxLength: 60,
      description: 'tz database name, such as Europe/Berlin; daylight saving time is observed',
    }),
    duration: Duration,
  },
  {
    additionalProperties: false,
    description:
      'Makes this a maintenance window: between starts_at and ends_at, it silences incidents only during these hours',
  },
);

const Name = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9 ._-]{0,79}$',
  description: 'Name used by configuration files; unique among silences that have not ended',
  examples: ['backup window'],
});

export const SilenceId = Type.Object({
  id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
});

export const SilenceQuery = Type.Object({
  state: Type.Optional(Type.Enum(['pending', 'active', 'expired'])),
});

export const SilenceDraft = Type.Object({
  name: Type.Optional(Name),
  matchers: Type.Array(Matcher, {
    minItems: 1,
    maxItems: 20,
    description: 'Label matchers; all of them must match',
  }),
  starts_at: Type.Optional(Type.String({ format: 'date-time', description: 'Default: now' })),
  ends_at: Type.Optional(Timestamp),
  duration: Type.Optional(Type.String({ ...Duration, examples: ['2h'] })),
  recurrence: Type.Optional(Recurrence),
  reason: Type.String({ maxLength: 1_000, default: '' }),
});

export const SilenceItem = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  matchers: Type.Array(Matcher),
  device_ids: Type.Optional(
    Type.Array(Type.Integer(), {
      description:
        'Only instances on these devices are silenced: the devices that the author can see',
    }),
  ),
  starts_at: Timestamp,
  ends_at: Timestamp,
  recurrence: Type.Optional(Recurrence),
  reason: Type.String(),
  state: Type.Enum(['pending', 'active', 'expired']),
  in_force: Type.Boolean({ description: 'Whether the silence is in effect now' }),
  created_by: Type.String(),
  updated_by: Type.String(),
  created_at: Timestamp,
  updated_at: Timestamp,
});

const Span = {
  starts_at: Timestamp,
  ends_at: Timestamp,
};

export const CalendarQuery = Type.Object({
  from: Timestamp,
  to: Type.String({
    format: 'date-time',
    description: 'At most 45 days after from',
    examples: ['2026-01-31T00:00:00Z'],
  }),
});

export const CalendarShown = Type.Object({
  items: Type.Array(
    Type.Object({
      silence_id: Type.Integer(),
      name: Type.String(),
      matchers: Type.Array(Matcher),
      reason: Type.String(),
      is_window: Type.Boolean({ description: 'Whether the silence recurs' }),
      ...Span,
    }),
    { description: 'Times at which the 200 newest silences mute, in order; the first 2000' },
  ),
  left_out: Type.Integer(),
});

export const SilenceLabels = Type.Object({
  items: Type.Array(
    Type.Object({
      name: Type.String(),
      values: Type.Array(
        Type.Object({
          value: Type.String(),
          firing_now: Type.Integer({ description: 'Number of firing instances with this value' }),
          fired_last_24h: Type.Integer(),
        }),
        { description: 'The most frequent 100' },
      ),
    }),
    { description: 'Labels of what fires or fired, with the facts that matchers see' },
  ),
});

export const MutedItem = Type.Object({
  incident_id: Type.Integer(),
  rule: Type.String({ description: 'rule_key of the rule' }),
  severity: Type.Enum(['info', 'warning', 'critical']),
  labels: Type.Record(Type.String(), Type.String()),
  since: Timestamp,
});

export const SilencePreview = Type.Object({
  summary: Type.String({
    description: 'For example: mutes 3 of 12 now, 40 of 160 in the last 24 h',
  }),
  firing_now: Type.Integer({ description: 'Number of firing instances across all incidents' }),
  muted_now: Type.Integer({ description: 'Number of firing instances selected by the matchers' }),
  fired_last_24h: Type.Integer(),
  muted_last_24h: Type.Integer(),
  muted: Type.Array(MutedItem, {
    description: 'The first 50 instances that the silence mutes now',
  }),
  windows: Type.Array(Type.Object(Span), {
    description: 'Of a maintenance window: the next five times at which it mutes',
  }),
});
