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
  id: Type.Integer({ description: 'number in the chain, without gaps' }),
  occurred_at: Timestamp,
  actor: Type.Object({
    type: Type.String({ description: 'user, token, edge, operator, plugin, system or anonymous' }),
    id: Type.String(),
    email: orNull(Type.String({ description: 'as it was at that time' })),
    role: Type.String(),
    name: orNull(Type.String()),
  }),
  ip: Type.String(),
  user_agent: Type.String(),
  action: Type.String(),
  resource_type: Type.String(),
  resource_id: orNull(Type.String()),
  status: Status,
  http_status: Type.Integer({ description: '0 where no request was made' }),
  error: orNull(
    Type.String({ description: 'the sentence that the caller got instead of an answer' }),
  ),
  request_id: Type.String(),
  changes: orNull(
    Type.Object(
      { before: Type.Unknown(), after: Type.Unknown() },
      { description: 'without secrets; large values are left out' },
    ),
  ),
  prev_hash: Type.String({ description: 'hash of the row before' }),
  hash: Type.String({
    description: 'HMAC-SHA256 over the previous hash, the number and the record',
  }),
});

const filters = {
  actor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 320,
      description: 'an e-mail address, a user id, or kind:id such as token:7',
    }),
  ),
  action: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9:._-]*\\*?$',
      examples: ['alert:*'],
      minLength: 1,
      maxLength: 100,
      description: 'such as edge:create; a * at the end stands for any rest: edge:*',
    }),
  ),
  without: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9:._-]+\\*?(?:,[a-z0-9:._-]+\\*?)*$',
      examples: ['alert:*,device:update'],
      maxLength: 400,
      description:
        'leaves out these actions, such as auth:refresh,audit:* for rows that pages add automatically',
    }),
  ),
  resource_type: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  resource_id: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })),
  status: Type.Optional(Status),
  from: Type.Optional(Type.String({ format: 'date-time', description: 'this moment or later' })),
  to: Type.Optional(Type.String({ format: 'date-time', description: 'before this moment' })),
};

export const Filters = Type.Object(filters);

export const ExportQuery = Type.Object({
  ...filters,
  format: Type.Optional(Type.Union([Type.Literal('jsonl'), Type.Literal('csv')])),
});

export const Verdict = Type.Object({
  ok: Type.Boolean(),
  rows: Type.Integer({ description: 'rows that are as they were written' }),
  first_bad_seq: Type.Optional(Type.Integer({ description: 'the first row that is not' })),
  reason: Type.Optional(Type.String()),
  checkpoints: Type.Integer({ description: 'signed checkpoints that the trail was held against' }),
  anchors: Type.Integer({ description: 'signed anchors that stand for archived rows' }),
});
