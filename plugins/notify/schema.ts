import { type Static, Type } from 'typebox';

const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);

const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const Timestamp = Type.String({ format: 'date-time' });
const SeverityMin = Type.Enum(['', 'info', 'warning', 'critical'], { description: 'takes this and worse; empty: any' });
const ScopeTypes = Type.Array(Type.Enum(['host', 'global', 'monitoring_pipeline']), { maxItems: 3, uniqueItems: true, description: 'empty: any' });
const Labels = Type.Record(Type.String(), Type.String({ maxLength: 500 }), {
  propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_.-]{0,99}$' },
  maxProperties: 20,
  description: 'the incident must have all of these labels, with these values',
});

export const ChannelId = Type.Object({ id: Id });

export const ChannelDraft = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 100, pattern: '^\\P{Cc}*$', description: 'unique' }),
  channel_type: Type.String({ maxLength: 40, description: 'webhook, feishu, slack, dingtalk, wecom, telegram, what packs add, or im_provider_1 to 5' }),
  endpoint: Type.String({
    minLength: 1,
    maxLength: 2_048,
    description: 'the address of the hook, for telegram the chat; what was shown masked leaves it as it is',
  }),
  secret: Type.Optional(
    orNull(Type.String({ maxLength: 1_000, description: 'what signs, for telegram the token; •••• or nothing leaves it as it is, null removes it' })),
  ),
  match_severity_min: Type.Optional(SeverityMin),
  match_scope_types: Type.Optional(ScopeTypes),
  match_labels: Type.Optional(Labels),
  enabled: Type.Optional(Type.Boolean({ default: true })),
  send_resolved: Type.Optional(Type.Boolean({ default: true })),
  template: Type.Optional(orNull(Type.String({ maxLength: 8_192, description: 'Go template of the text, over the incident; null or empty: the usual text' }))),
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
  source: Type.Enum(['api', 'settings'], { description: 'settings: its address comes from a setting or the environment' }),
  queued: Type.Integer({ description: 'notifications that wait for it' }),
  last_sent_at: orNull(Timestamp),
  last_error: orNull(Type.String()),
  last_error_at: orNull(Timestamp),
  degraded: Type.Boolean({ description: 'sending fails until its settings or the platform are corrected' }),
  degraded_reason: orNull(Type.String()),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const TestResult = Type.Object({
  delivery_id: Type.String(),
  result: Type.Enum(['sent', 'failed', 'queued'], { description: 'queued: not tried yet, because the platform makes us wait' }),
  attempts: Type.Integer(),
  error: orNull(Type.String()),
  at: Timestamp,
});
