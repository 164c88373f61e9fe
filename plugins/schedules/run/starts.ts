import { Slots } from 'svc/cron';
import type { Kysely } from 'kysely';
import type { Jobs } from 'svc/jobs';
import {
  type AuditTrailContract,
  type Clock,
  type Handle,
  type Ids,
  type Principal,
  type Settings,
  type Tables,
} from 'svc/sdk';

import type { Authors } from '../author/authors.ts';
import { ScheduleStore } from '../store/schedule-store.ts';
import type { RunRow, ScheduleRow, ScheduleTables } from '../store/tables.ts';
import { atTime, type Occurrence } from './occurrence.ts';
import { slotId } from './run-id.ts';

export interface StartParts {
  readonly tables: Tables<ScheduleTables>;
  readonly jobs: Jobs<ScheduleTables>;
  readonly authors: Authors;
  readonly settings: Pick<Settings, 'get'>;
  readonly trail: Handle<AuditTrailContract>;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Payload of a job that carries out a run. */
export interface Carried {
  readonly run: string;
}

/** Payload of a job that tells people what became of a schedule. */
export interface Told {
  readonly schedule: number;
  readonly text: string;
  /** Incident in whose timeline it is told, if the schedule delivers there. */
  readonly incident?: number | undefined;
}

export const runQueue = 'run';
export const tellQueue = 'tell';
const lateMs = 60_000;
const maxWaiting = 10;
const minuteMs = 60_000;

/**
 * Starts of runs. A slot becomes a row and a job in one commit, and its id is derived from the slot:
 * however often svc is killed around it, it runs once.
 */
export class Starts {
  readonly #parts: StartParts;

  constructor(parts: StartParts) {
    this.#parts = parts;
  }

  /** Starts what is due by the clock; of slots that were missed, the newest alone. */
  async due(): Promise<void> {
    const { tables, clock } = this.#parts;
    const now = clock.now();
    for (const schedule of await new ScheduleStore(tables.read).due(now)) {
      const slots = new Slots(schedule.cron!, schedule.time_zone!);
      const slot = slots.newest(now) ?? schedule.next_at!;
      await this.propose(schedule, atTime(Math.max(slot, schedule.next_at!)), {
        next_at: slots.next(now) ?? null,
      });
    }
  }

  /** Starts a run for an occurrence, unless it has one or a limit leaves it out. */
  async propose(
    { id }: ScheduleRow,
    occurrence: Occurrence,
    change: { readonly next_at?: number | null } = {},
  ): Promise<void> {
    const { tables, authors, clock } = this.#parts;
    const now = clock.now();
    await tables.write(async (tx) => {
      const store = new ScheduleStore(tx);
      const schedule = await store.find(id);
      if (schedule?.state !== 'active') {
        return;
      }
      if (change.next_at !== undefined) {
        await store.update(id, { next_at: change.next_at });
      }
      if ((await store.run(slotId('run', id, occurrence.slot, occurrence.at))) !== undefined) {
        return;
      }
      const { principal, objection } = authors.now(schedule);
      if (principal === undefined) {
        await this.stop(tx, schedule, objection, occurrence.about.incident_id);
        return;
      }
      const leftOut = await this.#leftOut(store, schedule, occurrence, now);
      if (leftOut !== undefined) {
        await store.skip(id, leftOut);
        return;
      }
      await this.#add(tx, schedule, occurrence, principal);
    });
  }

  /** Starts a run that a person has asked for, whatever limits slots have. */
  async byHand(
    schedule: ScheduleRow,
    occurrence: Occurrence,
    principal: Principal,
  ): Promise<RunRow> {
    return await this.#parts.tables.write(async (tx) => {
      await this.#add(tx, schedule, occurrence, principal);
      const id = slotId('run', schedule.id, occurrence.slot, occurrence.at);
      return (await new ScheduleStore(tx).run(id))!;
    });
  }

  /** Stops a schedule under whose author nothing may run, and tells people. */
  async stop(
    tx: Kysely<ScheduleTables>,
    { id, name }: ScheduleRow,
    because: string,
    incident: number | undefined,
  ): Promise<void> {
    const now = Math.floor(this.#parts.clock.now());
    await new ScheduleStore(tx).update(id, { state: 'stopped', because, updated_at: now });
    await this.tell(tx, {
      schedule: id,
      text: `The schedule "${name}" was stopped: ${because}.`,
      incident,
    });
  }

  async tell(tx: Kysely<ScheduleTables>, told: Told): Promise<void> {
    await this.#parts.jobs.add<Told>(tx, tellQueue, [{ payload: told }]);
  }

  /** Returns why an occurrence gets no run. */
  async #leftOut(
    store: ScheduleStore,
    { id, starts_on: trigger }: ScheduleRow,
    { subject }: Occurrence,
    now: number,
  ): Promise<string | undefined> {
    const ahead = (await store.openRuns(id)).filter(({ state }) => state !== 'approval').length;
    if (trigger === 'cron') {
      return ahead > 0 ? 'the previous run had not ended' : undefined;
    }
    if (ahead >= maxWaiting) {
      return `${maxWaiting} runs were waiting already`;
    }
    const minutes = this.#parts.settings.get<number>('schedules.min_interval_minutes');
    return (await store.hasStarted(id, subject, now - minutes * minuteMs))
      ? `the same had started a run within ${minutes} minutes`
      : undefined;
  }

  /** Adds run, job and audit row in the caller's transaction. */
  async #add(
    tx: Kysely<ScheduleTables>,
    { id: schedule, name }: ScheduleRow,
    { slot, at, subject, about }: Occurrence,
    principal: Principal,
  ): Promise<void> {
    const { clock, ids, jobs, trail } = this.#parts;
    const now = Math.floor(clock.now());
    const id = slotId('run', schedule, slot, at);
    const late = now - at;
    const isNew = await new ScheduleStore(tx).addRun({
      id,
      schedule_id: schedule,
      slot,
      slot_at: Math.floor(at),
      subject,
      about: JSON.stringify(about),
      late_ms: late > lateMs ? Math.floor(late) : 0,
      state: 'waiting',
      session_id: slotId('session', schedule, slot, at),
      agent: null,
      error: null,
      delivered: null,
      input_tokens: 0,
      output_tokens: 0,
      cached_tokens: 0,
      created_at: now,
      started_at: null,
      ended_at: null,
    });
    if (!isNew) {
      return;
    }
    await jobs.add<Carried>(tx, runQueue, [
      {
        id,
        key: id,
        lane: `schedule ${schedule}`,
        title: `Run schedule ${name}`,
        payload: { run: id },
      },
    ]);
    if (trail.available) {
      await trail.get().append(tx, {
        occurredAt: now,
        principal,
        ip: '',
        userAgent: '',
        action: 'schedule:start',
        resourceType: 'schedule',
        resourceId: String(schedule),
        status: 'success',
        httpStatus: 0,
        error: undefined,
        requestId: ids.uuid(),
        before: null,
        after: { run_id: id, slot },
      });
    }
  }
}
