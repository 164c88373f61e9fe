import type { Generated, Selectable } from 'kysely';
import type { Severity } from 'svc/contracts/notify';

export const triggers = ['cron', 'incident', 'deploy', 'agent_offline'] as const;
export type Trigger = (typeof triggers)[number];

export const places = ['timeline', 'channel', 'document'] as const;
export type Place = (typeof places)[number];

export type ScheduleState = 'active' | 'paused' | 'stopped';
export type RunState = 'waiting' | 'running' | 'approval' | 'done' | 'failed';

export interface ScheduleTables {
  schedules_schedules: {
    id: Generated<number>;
    owner: number;
    name: string;
    agent: string | null;
    question: string;
    starts_on: Trigger;
    cron: string | null;
    time_zone: string | null;
    severity_min: Severity | null;
    service: string | null;
    deliver_to: Place;
    /** JSON. */
    channel_ids: string;
    tokens_per_day: number | null;
    state: ScheduleState;
    because: string | null;
    failures: number;
    skipped: number;
    skipped_because: string | null;
    active_since: number;
    next_at: number | null;
    created_at: number;
    updated_at: number;
  };
  schedules_runs: {
    seq: Generated<number>;
    id: string;
    schedule_id: number;
    slot: string;
    slot_at: number;
    subject: string;
    /** JSON of an `About`. */
    about: string;
    late_ms: number;
    state: RunState;
    session_id: string;
    agent: string | null;
    error: string | null;
    delivered: string | null;
    input_tokens: number;
    output_tokens: number;
    cached_tokens: number;
    created_at: number;
    started_at: number | null;
    ended_at: number | null;
  };
}

export type ScheduleRow = Selectable<ScheduleTables['schedules_schedules']>;
export type RunRow = Selectable<ScheduleTables['schedules_runs']>;

/** Facts about what started a run; none for a time. */
export interface About {
  readonly incident_id?: number;
  readonly device_id?: string;
  readonly edge_id?: number;
  readonly change_id?: number;
}
