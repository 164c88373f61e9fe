import { timestamp } from 'svc/sdk';
import { type TSchema, Type } from 'typebox';

import type { RunRow } from './run/run-store.ts';
import type { MessageRow, SessionRow } from './session/store.ts';

const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const Timestamp = Type.String({ format: 'date-time' });
const Uuid = Type.String({ minLength: 1, maxLength: 64 });
const Title = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' });
const Tags = Type.Array(Type.String({ minLength: 1, maxLength: 60 }), { maxItems: 20 });
const AgentName = Type.String({ minLength: 1, maxLength: 64 });

export const BySession = Type.Object({ id: Uuid });
export const ByRun = Type.Object({ id: Uuid, run_id: Uuid });

export const SessionQuery = Type.Object({
  tag: Type.Optional(Type.String({ minLength: 1, maxLength: 60 })),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Only sessions whose title contains this text',
    }),
  ),
  all: Type.Optional(
    Type.Boolean({ description: 'For administrators: include the sessions of all users' }),
  ),
});

export const NewSessionBody = Type.Object({
  title: Type.Optional(Title),
  tags: Type.Optional(Tags),
  agent: Type.Optional(AgentName),
  related_incident_id: Type.Optional(
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  ),
});

export const SessionPatch = Type.Object(
  { title: Type.Optional(Title), tags: Type.Optional(Tags) },
  { minProperties: 1 },
);

export const SessionItem = Type.Object({
  id: Type.String(),
  title: Type.String(),
  tags: Type.Array(Type.String()),
  agent: orNull(Type.String()),
  related_incident_id: orNull(Type.Integer()),
  user_id: orNull(Type.Integer()),
  created_at: Timestamp,
  updated_at: Timestamp,
  last_message_at: orNull(Timestamp),
});

const Usage = Type.Object({
  input_tokens: Type.Integer(),
  output_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
  cached_tokens: Type.Optional(
    Type.Integer({ description: 'Input tokens that the provider served from its cache' }),
  ),
  requests: Type.Integer({ description: 'Number of model turns' }),
});

const ToolCall = Type.Object({
  id: Type.String(),
  name: Type.String(),
  arguments: Type.Record(Type.String(), Type.Unknown()),
  status: Type.String({
    description:
      'ok, error, timeout, refused, denied, unknown; waiting and started while the run is active',
  }),
  result_preview: Type.String(),
  duration_ms: Type.Integer(),
  evidence_id: Type.Optional(Type.String()),
});

export const MessageQuery = Type.Object({ order: Type.Optional(Type.Enum(['asc', 'desc'])) });

export const MessageItem = Type.Object({
  id: Type.Integer(),
  session_id: Type.String(),
  run_id: Type.String(),
  role: Type.Enum(['user', 'assistant']),
  content: Type.String(),
  agent: orNull(Type.String()),
  model: orNull(Type.String()),
  tool_calls: Type.Array(ToolCall),
  usage: orNull(Usage),
  finish_reason: orNull(Type.String()),
  created_at: Timestamp,
});

export const Ask = Type.Object({
  content: Type.String({ minLength: 1, maxLength: 100_000, pattern: '\\S' }),
  agent: Type.Optional(AgentName),
  context: Type.Optional(
    Type.Record(Type.String({ maxLength: 64 }), Type.Unknown(), { maxProperties: 50 }),
  ),
});

export const Reply = Type.Object({
  message: Type.String(),
  agent: Type.Union([Type.String(), Type.Null()], {
    description: 'The persona that answers; null until one is chosen.',
  }),
  tool_calls: Type.Array(ToolCall),
  usage: Usage,
  run_id: Type.String(),
  finish_reason: Type.String({
    description:
      "stop, length, error, budget, cancelled; approval: waiting for a person's decision; background: still running",
  }),
  approvals: Type.Array(Type.String()),
});

export const StreamQuery = Type.Object({
  run_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'Default: the latest run of the session',
    }),
  ),
});

export const RunItem = Type.Object({
  run_id: Type.String(),
  session_id: Type.String(),
  agent: orNull(Type.String()),
  state: Type.Enum(['running', 'waiting', 'ended']),
  finish_reason: orNull(Type.String()),
  created_at: Timestamp,
  ended_at: orNull(Timestamp),
});

const at = (ms: number | null): string | null => (ms === null ? null : timestamp(ms));

export const shownSession = ({
  id,
  title,
  tags,
  agent,
  related_incident_id,
  user_id,
  ...row
}: SessionRow) => ({
  id,
  title,
  agent,
  related_incident_id,
  user_id,
  tags: JSON.parse(tags) as string[],
  created_at: timestamp(row.created_at),
  updated_at: timestamp(row.updated_at),
  last_message_at: at(row.last_message_at),
});

export const shownMessage = ({
  tool_calls: calls,
  usage,
  created_at: created,
  kept: _,
  ...row
}: MessageRow) => ({
  ...row,
  tool_calls: JSON.parse(calls) as never[],
  usage: usage === null ? null : (JSON.parse(usage) as never),
  created_at: timestamp(created),
});

export const shownRun = ({
  id,
  session_id,
  agent,
  state,
  finish_reason,
  created_at: created,
  ended_at: ended,
}: RunRow) => ({
  run_id: id,
  session_id,
  agent,
  state,
  finish_reason,
  created_at: timestamp(created),
  ended_at: at(ended),
});
