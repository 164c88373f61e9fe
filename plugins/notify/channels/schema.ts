import { type Static, Type } from 'typebox';

const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const Timestamp = Type.String({ format: 'date-time' });
const SeverityMin = Type.Enum(['', 'info', 'warning', 'critical'], {
  description: 'Minimum severity; empty: any',
});
const ScopeTypes = Type.Array(Type.Enum(['host', 'global', 'monitoring_pipeline']), {
  maxItems: 3,
  uniqueItems: true,
  description: 'Empty: any',
});
const Labels = Type.Record(Type.String(), Type.String({ maxLength: 500 }), {
  propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_.-]{0,99}$', examples: ['severity'] },
  maxProperties: 20,
  description: 'Labels that the incident must have, with their values',
});

const span = (description: string, usual: string) =>
  Type.Optional(
    Type.String({
      pattern: '^(0s|([1-9]\\d{0,4}(ms|[smhd]))+)$',
      examples: ['30s'],
      maxLength: 20,
      default: usual,
      description,
    }),
  );
const GroupBy = Type.Array(
  Type.String({ pattern: '^([A-Za-z_][A-Za-z0-9_.-]{0,99}|\\.\\.\\.)$', examples: ['severity'] }),
  {
    maxItems: 10,
    uniqueItems: true,
    description:
      'Incidents with the same values for these are grouped into one message: rule_key, severity, scope_type, scope_id, device_id or labels. Empty: all incidents together; ...: each incident separately',
  },
);

export const ChannelId = Type.Object({ id: Id });

export const ChannelDraft = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 100, pattern: '^\\P{Cc}*$', description: 'unique' }),
  channel_type: Type.String({
    maxLength: 40,
    examples: ['webhook'],
    description:
      'webhook, feishu, slack, dingtalk, wecom, telegram, email, im, pagerduty, opsgenie, a type added by a pack or plugin, or im_provider_1 to 5',
  }),
  endpoint: Type.String({
    minLength: 1,
    maxLength: 2_048,
    examples: ['https://example.org/hook'],
    description:
      'Webhook URL; for telegram the chat, for email the addresses, for im an app and a conversation as im:APP/CONVERSATION, for pagerduty https://events.pagerduty.com/v2/enqueue, for opsgenie https://api.opsgenie.com. The masked value keeps the current one',
  }),
  secret: Type.Optional(
    orNull(
      Type.String({
        maxLength: 1_000,
        description:
          'Signing secret; for telegram the bot token, for pagerduty the routing key, for opsgenie the API key. •••• or omitting it keeps the current one; null removes it',
      }),
    ),
  ),
  match_severity_min: Type.Optional(SeverityMin),
  match_scope_types: Type.Optional(ScopeTypes),
  match_labels: Type.Optional(Labels),
  enabled: Type.Optional(Type.Boolean({ default: true })),
  send_resolved: Type.Optional(Type.Boolean({ default: true })),
  template: Type.Optional(
    orNull(
      Type.String({
        maxLength: 8_192,
        description:
          'Go template for the text, with the incident as data; null or empty: the default text',
      }),
    ),
  ),
  group_by: Type.Optional(GroupBy),
  group_wait: span('Time from the first incident of a group until its message is sent', '10s'),
  group_interval: span('Minimum time between messages about a group', '1m'),
  repeat_interval: span(
    'Time after which a message about a group is repeated while it fires; 0s: never',
    '4h',
  ),
  fallback_channel_id: Type.Optional(
    orNull(
      Type.Integer({
        minimum: 1,
        description: 'Channel for notifications that this one cannot deliver',
      }),
    ),
  ),
});

export type Draft = Static<typeof ChannelDraft>;

export const ChannelShown = Type.Object({
  id: Id,
  name: Type.String(),
  channel_type: Type.String(),
  endpoint: Type.String({ description: 'Only the host; the rest is secret' }),
  secret: orNull(Type.String({ description: '•••• if one is set' })),
  match_severity_min: SeverityMin,
  match_scope_types: ScopeTypes,
  match_labels: Type.Record(Type.String(), Type.String()),
  enabled: Type.Boolean(),
  send_resolved: Type.Boolean(),
  template: orNull(Type.String()),
  group_by: GroupBy,
  group_wait: Type.String(),
  group_interval: Type.String(),
  repeat_interval: Type.String(),
  fallback_channel_id: orNull(Id),
  source: Type.Enum(['api', 'settings'], {
    description: 'settings: the address comes from a setting or an environment variable',
  }),
  queued: Type.Integer({ description: 'Number of notifications waiting to be sent' }),
  delayed: Type.Integer({
    description: 'Number of notifications that could not be sent yet and are being retried',
  }),
  last_sent_at: orNull(Timestamp),
  last_error: orNull(Type.String()),
  last_error_at: orNull(Timestamp),
  degraded: Type.Boolean({
    description:
      "true: sending will keep failing until the channel's settings are corrected or the platform is fixed",
  }),
  degraded_reason: orNull(Type.String()),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const DeliveryId = Type.Object({
  id: Type.String({
    pattern: '^[0-9a-fA-F-]{32,36}$',
    examples: ['0e37df36-f698-11e6-8dd4-cb9ced3df976'],
  }),
});
const DeliveryState = Type.Enum(['queued', 'delayed', 'sent', 'folded', 'overtaken', 'failed'], {
  description:
    'delayed: not delivered yet; retried while the incident is open. folded: sent in one message with others. overtaken: the incident was resolved before the notification could be sent',
});

export const DeliveryQuery = Type.Object({
  state: Type.Optional(DeliveryState),
  channel_id: Type.Optional(Id),
  incident_id: Type.Optional(Id),
});

export const DeliveryShown = Type.Object({
  id: Type.String(),
  state: DeliveryState,
  kind: Type.Enum(['firing', 'resolved', 'reminder']),
  incident_id: Id,
  channel_id: Id,
  channel_name: Type.String(),
  attempts: Type.Integer(),
  error: orNull(
    Type.String({
      description: 'For a sent notification: parts that were not delivered, such as its picture',
    }),
  ),
  accepted_at: Timestamp,
  next_try_at: orNull(Timestamp),
  finished_at: orNull(Timestamp),
});

export const Resent = Type.Object({
  resent: Type.Integer({ description: 'Number of notifications that are now being retried' }),
});

export const TestResult = Type.Object({
  delivery_id: Type.String(),
  result: Type.Enum(['sent', 'failed', 'queued'], {
    description: "queued: not tried yet, because of the platform's rate limit",
  }),
  attempts: Type.Integer(),
  error: orNull(Type.String()),
  at: Timestamp,
});
