import { Type } from 'typebox';

const Timestamp = Type.String({ format: 'date-time' });
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const Status = Type.Union([
  Type.Literal('success'),
  Type.Literal('failure'),
  Type.Literal('denied'),
]);

export const AuditLog = Type.Object({
  id: Type.Integer({ description: 'Sequence number in the chain, without gaps' }),
  occurred_at: Timestamp,
  actor: Type.Object({
    type: Type.String({ description: 'user, token, edge, operator, plugin, system or anonymous' }),
    id: Type.String(),
    email: orNull(Type.String({ description: 'E-mail address at that time' })),
    role: Type.String(),
    name: orNull(Type.String()),
  }),
  ip: Type.String(),
  user_agent: Type.String(),
  action: Type.String(),
  resource_type: Type.String(),
  resource_id: orNull(Type.String()),
  status: Status,
  http_status: Type.Integer({ description: '0 if there was no request' }),
  error: orNull(Type.String({ description: 'Error message returned to the caller' })),
  request_id: Type.String(),
  changes: orNull(
    Type.Object(
      { before: Type.Unknown(), after: Type.Unknown() },
      { description: 'Without secrets or large values' },
    ),
  ),
  prev_hash: Type.String({ description: 'Hash of the previous entry' }),
  hash: Type.String({
    description: 'HMAC-SHA256 over the previous hash, the sequence number and the record',
  }),
});

const filters = {
  actor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 320,
      description: 'An e-mail address, a user id, or kind:id such as token:7',
    }),
  ),
  action: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9:._-]*\\*?$',
      examples: ['alert:*'],
      minLength: 1,
      maxLength: 100,
      description: 'Such as edge:create; a trailing * matches any ending, as in edge:*',
    }),
  ),
  without: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9:._-]+\\*?(?:,[a-z0-9:._-]+\\*?)*$',
      examples: ['alert:*,device:update'],
      maxLength: 400,
      description: 'Actions to exclude, such as auth:refresh,audit:* for routine entries',
    }),
  ),
  ip: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'Address of the caller' }),
  ),
  resource_type: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  resource_id: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })),
  status: Type.Optional(Status),
  from: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only entries at or after this time' }),
  ),
  to: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only entries before this time' }),
  ),
};

export const Filters = Type.Object(filters);

export const ExportQuery = Type.Object({
  ...filters,
  format: Type.Optional(Type.Union([Type.Literal('jsonl'), Type.Literal('csv')])),
});

export const SinkState = Type.Object({
  sink: orNull(
    Type.String({ description: 'Address of the sink, without its path; null: no sink is set' }),
  ),
  shipped: Type.Integer({ description: 'Number of the last entry that the sink has acknowledged' }),
  last: Type.Integer({ description: 'Number of the newest entry' }),
  behind: Type.Integer({ description: 'Number of entries that the sink has not received yet' }),
  failing_since: orNull(Timestamp),
  error: orNull(Type.String({ description: 'Cause of the last failure' })),
});

export const Verdict = Type.Object({
  ok: Type.Boolean(),
  rows: Type.Integer({ description: 'Number of unaltered entries' }),
  first_bad_seq: Type.Optional(
    Type.Integer({ description: 'Sequence number of the first altered entry' }),
  ),
  reason: Type.Optional(Type.String()),
  checkpoints: Type.Integer({ description: 'Number of signed checkpoints that were verified' }),
  anchors: Type.Integer({ description: 'Number of signed anchors that replace archived entries' }),
});
