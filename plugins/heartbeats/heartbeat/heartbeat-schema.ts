import { type Static, Type } from 'typebox';

const Timestamp = Type.String({ format: 'date-time' });
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

export const ByName = Type.Object({ name: Type.String({ maxLength: 80 }) });
export const ByToken = Type.Object({ token: Type.String({ maxLength: 100 }) });
export const ByTokenAndSignal = Type.Object({
  token: Type.String({ maxLength: 100 }),
  signal: Type.String({ maxLength: 10 }),
});

const pace = {
  period_s: Type.Integer({
    minimum: 30,
    maximum: 366 * 86_400,
    description: 'Seconds between two reports; for jobs without a cron expression',
  }),
  cron: Type.String({
    minLength: 1,
    maxLength: 100,
    examples: ['15 2 * * *'],
    description: 'When the job starts, as in its crontab',
  }),
  time_zone: Type.String({
    maxLength: 60,
    default: 'UTC',
    examples: ['Europe/Berlin'],
    description: 'Time zone of the cron expression',
  }),
  grace_s: Type.Integer({
    minimum: 10,
    maximum: 7 * 86_400,
    default: 300,
    description: 'Seconds that a report may be late, and that a run may take after its start',
  }),
} as const;

const { period_s: Period, cron: CronText, time_zone: Zone, grace_s: Grace } = pace;

export const HeartbeatDraft = Type.Object({
  name: Type.String({
    pattern: '^[A-Za-z0-9](?:[A-Za-z0-9 ._-]{0,78}[A-Za-z0-9])?$',
    examples: ['nightly-backup'],
    description: 'Value of the label heartbeat on its series. Cannot be changed.',
  }),
  period_s: Type.Optional(Period),
  cron: Type.Optional(CronText),
  time_zone: Type.Optional(Zone),
  grace_s: Type.Optional(Grace),
});
export type HeartbeatDraft = Static<typeof HeartbeatDraft>;

export const HeartbeatChange = Type.Object({
  period_s: Type.Optional(orNull(Period)),
  cron: Type.Optional(orNull(CronText)),
  time_zone: Type.Optional(Zone),
  grace_s: Type.Optional(Grace),
  paused: Type.Optional(Type.Boolean()),
});
export type HeartbeatChange = Static<typeof HeartbeatChange>;

export const HeartbeatShown = Type.Object({
  name: Type.String(),
  period_s: orNull(Period),
  cron: orNull(CronText),
  time_zone: Zone,
  grace_s: Grace,
  paused: Type.Boolean(),
  state: Type.Enum(['waiting', 'up', 'running', 'late', 'down', 'paused'], {
    description:
      'waiting: no report yet; running: started but not finished; late: overdue, but still within grace_s',
  }),
  since: Timestamp,
  cause: orNull(Type.String()),
  expected_at: orNull(Timestamp),
  last_ping_at: orNull(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type HeartbeatShown = Static<typeof HeartbeatShown>;

export const HeartbeatAddress = Type.Object({
  url: Type.String({
    description:
      'The job requests this address when it has succeeded, and appends /start, /fail or an exit code for other reports. Anyone who knows the address can report.',
  }),
});
export type HeartbeatAddress = Static<typeof HeartbeatAddress>;
export const HeartbeatMade = Type.Object({
  ...HeartbeatShown.properties,
  ...HeartbeatAddress.properties,
});
export type HeartbeatMade = Static<typeof HeartbeatMade>;

export const PingShown = Type.Object({
  at: Timestamp,
  kind: Type.Enum(['success', 'start', 'fail']),
  exit_code: orNull(Type.Integer()),
  duration_ms: orNull(
    Type.Integer({ description: 'Time since the start of the run, if that was reported' }),
  ),
  source: orNull(Type.String({ description: 'Address that the report came from' })),
  log: orNull(Type.String({ description: 'Last 100 KB of the body of the report' })),
});
export type PingShown = Static<typeof PingShown>;
export const Pings = Type.Object({ items: Type.Array(PingShown) });
