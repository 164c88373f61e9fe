import { type Static, Type } from 'typebox';

const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const Timestamp = Type.String({ format: 'date-time' });
const SeverityMin = Type.Enum(['', 'info', 'warning', 'critical'], {
  description: 'takes this and worse; empty: any',
});
const ScopeTypes = Type.Array(Type.Enum(['host', 'global', 'monitoring_pipeline']), {
  maxItems: 3,
  uniqueItems: true,
  description: 'empty: any',
});
const Labels = Type.Record(Type.String(), Type.String({ maxLength: 500 }), {
  propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_.-]{0,99}$', examples: ['severity'] },
  maxProperties: 20,
  description: 'the incident must have all of these labels, with these values',
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
      'incidents that share these go in one message: rule_key, severity, scope_type, scope_id, device_id or labels; none: all of them, ...: each separately',
  },
);

export const ChannelId = Type.Object({ id: Id });

export const ChannelDraft = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 100, pattern: '^\\P{Cc}*$', description: 'unique' }),
  channel_type: Type.String({
    maxLength: 40,
    examples: ['webhook'],
    description:
      'webhook, feishu, slack, dingtalk, wecom, telegram, email, im, pagerduty, opsgenie, what packs and plugins add, or im_provider_1 to 5',
  }),
  endpoint: Type.String({
    minLength: 1,
    maxLength: 2_048,
    examples: ['https://example.org/hook'],
    description:
      'the address of the hook; for telegram the chat, for email the addresses, for im an app and a conversation as im:APP/CONVERSATION, for pagerduty https://events.pagerduty.com/v2/enqueue, for opsgenie https://api.opsgenie.com; what was shown masked leaves it as it is',
  }),
  secret: Type.Optional(
    orNull(
      Type.String({
        maxLength: 1_000,
        description:
          'what signs; for telegram the token, for pagerduty the routing key, for opsgenie the API key; •••• or nothing leaves it as it is, null removes it',
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
        description: 'Go template of the text, over the incident; null or empty: the usual text',
      }),
    ),
  ),
  group_by: Type.Optional(GroupBy),
  group_wait: span('from the first incident of a group until its message is sent', '10s'),
  group_interval: span('from one message about a group to the next', '1m'),
  repeat_interval: span(
    'from the last message about a group until it is sent again while it burns; 0s: never',
    '4h',
  ),
  fallback_channel_id: Type.Optional(
    orNull(
      Type.Integer({
        minimum: 1,
        description: 'the channel that gets what this one cannot be sent',
      }),
    ),
  ),
});

export type Draft = Static<typeof ChannelDraft>;

export const ChannelShown = Type.Object({
  id: Id,
  name: Type.String(),
  channel_type: Type.String(),
  endpoint: Type.String({ description: 'the host; the rest is a secret' }),
  secret: orNull(Type.String({ description: '•••• when there is one' })),
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
    description: 'settings: its address comes from a setting or the environment',
  }),
  queued: Type.Integer({ description: 'notifications that wait for it' }),
  delayed: Type.Integer({
    description: 'those among them that could not be sent yet, and are tried again',
  }),
  last_sent_at: orNull(Timestamp),
  last_error: orNull(Type.String()),
  last_error_at: orNull(Timestamp),
  degraded: Type.Boolean({
    description: 'sending fails until its settings or the platform are corrected',
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
    'delayed: could not be sent so far, and is tried again as long as its incident is open. folded: sent in a message with others. overtaken: the incident was over before it could be sent',
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
    Type.String({ description: 'of one that was sent: what of it was not, such as its picture' }),
  ),
  accepted_at: Timestamp,
  next_try_at: orNull(Timestamp),
  finished_at: orNull(Timestamp),
});

export const Resent = Type.Object({
  resent: Type.Integer({ description: 'notifications that are tried again now' }),
});

export const TestResult = Type.Object({
  delivery_id: Type.String(),
  result: Type.Enum(['sent', 'failed', 'queued'], {
    description: 'queued: not tried yet, because the platform makes us wait',
  }),
  attempts: Type.Integer(),
  error: orNull(Type.String()),
  at: Timestamp,
});
