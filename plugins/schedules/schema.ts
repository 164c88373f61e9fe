import { timestamp } from 'svc/sdk';
import { type Static, type TSchema, Type } from 'typebox';

import type { Totals } from './store/schedule-store.ts';
import { type About, places, type RunRow, type ScheduleRow, triggers } from './store/tables.ts';

const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const Timestamp = Type.String({ format: 'date-time' });
const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const Severity = Type.Enum(['info', 'warning', 'critical']);

const fields = {
  name: Type.String({ minLength: 1, maxLength: 80, pattern: '\\S', examples: ['Morning check'] }),
  agent: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'Persona that answers; default: the best match for the question',
    examples: ['coordinator'],
  }),
  question: Type.String({
    minLength: 1,
    maxLength: 8_000,
    pattern: '\\S',
    examples: ['What needs attention today?'],
  }),
  trigger: Type.Enum([...triggers], {
    description:
      'cron: at the times of an expression; incident: when an incident fires; deploy: when a deploy is recorded; agent_offline: when an agent loses its connection',
  }),
  cron: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'Five fields: minute, hour, day of the month, month, day of the week',
    examples: ['0 7 * * *'],
  }),
  time_zone: Type.String({
    minLength: 1,
    maxLength: 60,
    description: 'Time zone of the cron expression; default: UTC',
    examples: ['Europe/Berlin'],
  }),
  severity_min: Type.Enum(['info', 'warning', 'critical'], {
    description: 'Minimum severity of incidents; default: critical',
  }),
  service: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'Service whose deploys start a run; default: all',
    examples: ['shop-api'],
  }),
  deliver_to: Type.Enum([...places], {
    description:
      'timeline: a note on the incident that started the run; channel: notification channels; document: a document in the knowledge base',
  }),
  channel_ids: Type.Array(Id, { maxItems: 20, uniqueItems: true }),
  tokens_per_day: Type.Integer({
    minimum: 1_000,
    maximum: 1_000_000_000,
    description: 'Tokens that its runs may use in one UTC day; default: schedules.tokens_per_day',
  }),
};

const { name, agent, question, trigger, cron, deliver_to, channel_ids } = fields;
const { time_zone, severity_min, service, tokens_per_day } = fields;

export const NewSchedule = Type.Object({
  name,
  agent: Type.Optional(agent),
  question,
  trigger: Type.Optional(trigger),
  cron: Type.Optional(cron),
  time_zone: Type.Optional(time_zone),
  severity_min: Type.Optional(severity_min),
  service: Type.Optional(service),
  deliver_to,
  channel_ids: Type.Optional(channel_ids),
  tokens_per_day: Type.Optional(tokens_per_day),
});
export type NewSchedule = Static<typeof NewSchedule>;

export const SchedulePatch = Type.Object(
  {
    name: Type.Optional(name),
    agent: Type.Optional(orNull(agent)),
    question: Type.Optional(question),
    cron: Type.Optional(cron),
    time_zone: Type.Optional(time_zone),
    severity_min: Type.Optional(severity_min),
    service: Type.Optional(orNull(service)),
    deliver_to: Type.Optional(deliver_to),
    channel_ids: Type.Optional(channel_ids),
    tokens_per_day: Type.Optional(orNull(tokens_per_day)),
  },
  { minProperties: 1 },
);
export type SchedulePatch = Static<typeof SchedulePatch>;

export const ById = Type.Object({ id: Id });

export const ScheduleQuery = Type.Object({
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Only schedules whose name contains this text',
    }),
  ),
  all: Type.Optional(Type.Boolean({ description: 'For administrators: schedules of all users' })),
});

export const RunByHand = Type.Object({
  incident_id: Type.Optional(Id),
});

export const ScheduleItem = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  agent: orNull(Type.String()),
  question: Type.String(),
  trigger: Type.Enum([...triggers]),
  when: Type.String({ description: 'When it runs, in words' }),
  cron: orNull(Type.String()),
  time_zone: orNull(Type.String()),
  severity_min: orNull(Severity),
  service: orNull(Type.String()),
  deliver_to: Type.Enum([...places]),
  channel_ids: Type.Array(Type.Integer()),
  tokens_per_day: Type.Integer(),
  state: Type.Enum(['active', 'paused', 'stopped']),
  because: orNull(Type.String({ description: 'Why it is not active' })),
  owner: Type.String({ description: 'E-mail address of the person under whose name it runs' }),
  next_at: orNull(Timestamp),
  runs: Type.Integer({ description: 'Runs within the retention period' }),
  failed_runs: Type.Integer(),
  tokens: Type.Integer({ description: 'Tokens of these runs' }),
  tokens_today: Type.Integer(),
  skipped: Type.Integer({ description: 'Number of runs that were skipped' }),
  skipped_because: orNull(Type.String({ description: 'Why the last of them was skipped' })),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const RunItem = Type.Object({
  run_id: Type.String(),
  state: Type.Enum(['waiting', 'running', 'approval', 'done', 'failed']),
  due_at: Timestamp,
  late_seconds: Type.Integer({ description: '0 unless it started more than a minute late' }),
  started_by: Type.String(),
  incident_id: orNull(Type.Integer()),
  session_id: Type.String({
    description: 'Chat session with the question, the calls and the answer',
  }),
  agent: orNull(Type.String()),
  error: orNull(Type.String()),
  delivered: orNull(Type.String({ description: 'Where the answer was delivered' })),
  input_tokens: Type.Integer(),
  output_tokens: Type.Integer(),
  cached_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
  created_at: Timestamp,
  started_at: orNull(Timestamp),
  ended_at: orNull(Timestamp),
});

const at = (ms: number | null): string | null => (ms === null ? null : timestamp(ms));

const none: Totals = { runs: 0, failed: 0, tokens: 0, tokens_today: 0 };

export const shownSchedule = (
  row: ScheduleRow,
  owner: string,
  usualTokens: number,
  { runs, failed, tokens, tokens_today: today }: Totals = none,
): Static<typeof ScheduleItem> => ({
  id: row.id,
  name: row.name,
  agent: row.agent,
  question: row.question,
  trigger: row.starts_on,
  when: whenOf(row),
  cron: row.cron,
  time_zone: row.time_zone,
  severity_min: row.severity_min,
  service: row.service,
  deliver_to: row.deliver_to,
  channel_ids: JSON.parse(row.channel_ids) as number[],
  tokens_per_day: row.tokens_per_day ?? usualTokens,
  state: row.state,
  because: row.because,
  owner,
  next_at: row.state === 'active' ? at(row.next_at) : null,
  runs,
  failed_runs: failed,
  tokens,
  tokens_today: today,
  skipped: row.skipped,
  skipped_because: row.skipped_because,
  created_at: timestamp(row.created_at),
  updated_at: timestamp(row.updated_at),
});

function whenOf({ starts_on: trigger, ...row }: ScheduleRow): string {
  switch (trigger) {
    case 'cron':
      return `${row.cron} (${row.time_zone})`;
    case 'incident':
      return `incident, ${row.severity_min} or worse`;
    case 'deploy':
      return row.service === null ? 'deploy' : `deploy of ${row.service}`;
    case 'agent_offline':
      return 'agent offline';
  }
}

export const shownRun = (row: RunRow): Static<typeof RunItem> => ({
  run_id: row.id,
  state: row.state,
  due_at: timestamp(row.slot_at),
  late_seconds: Math.round(row.late_ms / 1_000),
  started_by: row.subject,
  incident_id: (JSON.parse(row.about) as About).incident_id ?? null,
  session_id: row.session_id,
  agent: row.agent,
  error: row.error,
  delivered: row.delivered,
  input_tokens: row.input_tokens,
  output_tokens: row.output_tokens,
  cached_tokens: row.cached_tokens,
  total_tokens: row.input_tokens + row.output_tokens,
  created_at: timestamp(row.created_at),
  started_at: at(row.started_at),
  ended_at: at(row.ended_at),
});
