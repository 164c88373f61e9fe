import { type Insertable, type Kysely, sql, type Updateable } from 'kysely';
import { type Page, pageOf, type PageRequest } from 'svc/sdk';

import type { RunRow, ScheduleRow, ScheduleTables, Trigger } from './tables.ts';

export type NewSchedule = Insertable<ScheduleTables['schedules_schedules']>;
export type ScheduleChange = Updateable<ScheduleTables['schedules_schedules']>;

/** Totals of one schedule. */
export interface Totals {
  readonly runs: number;
  readonly failed: number;
  readonly tokens: number;
  readonly tokens_today: number;
}

const open = ['waiting', 'running', 'approval'] as const;

/** All SQL of schedules; in the caller's transaction where one is given. */
export class ScheduleStore {
  readonly #db: Kysely<ScheduleTables>;

  constructor(db: Kysely<ScheduleTables>) {
    this.#db = db;
  }

  /** Lists schedules of one person; of all, if none is given. */
  page(
    owner: number | undefined,
    q: string | undefined,
    page: PageRequest,
  ): Promise<Page<ScheduleRow>> {
    const rows = this.#db
      .selectFrom('schedules_schedules')
      .selectAll()
      .$if(owner !== undefined, (query) => query.where('owner', '=', owner!))
      .$if(q !== undefined, (query) =>
        query.where(sql<boolean>`instr(lower(name), ${q!.toLowerCase()}) > 0`),
      );
    return pageOf(rows, 'id', page);
  }

  find(id: number): Promise<ScheduleRow | undefined> {
    return this.#db
      .selectFrom('schedules_schedules')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
  }

  named(owner: number, name: string): Promise<ScheduleRow | undefined> {
    return this.#db
      .selectFrom('schedules_schedules')
      .selectAll()
      .where('owner', '=', owner)
      .where('name', '=', name)
      .executeTakeFirst();
  }

  async countActive(): Promise<number> {
    const { total } = await this.#db
      .selectFrom('schedules_schedules')
      .where('state', '=', 'active')
      .select((of) => of.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    return total;
  }

  /** Returns active schedules whose time has come. */
  due(now: number): Promise<ScheduleRow[]> {
    return this.#db
      .selectFrom('schedules_schedules')
      .selectAll()
      .where('state', '=', 'active')
      .where('next_at', '<=', now)
      .orderBy('next_at')
      .execute();
  }

  startingOn(trigger: Trigger): Promise<ScheduleRow[]> {
    return this.#db
      .selectFrom('schedules_schedules')
      .selectAll()
      .where('state', '=', 'active')
      .where('starts_on', '=', trigger)
      .orderBy('id')
      .execute();
  }

  insert(row: NewSchedule): Promise<ScheduleRow> {
    return this.#db
      .insertInto('schedules_schedules')
      .values(row)
      .returningAll()
      .executeTakeFirstOrThrow();
  }

  update(id: number, change: ScheduleChange): Promise<ScheduleRow | undefined> {
    return this.#db
      .updateTable('schedules_schedules')
      .set(change)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst();
  }

  async remove(id: number): Promise<void> {
    await this.#db.deleteFrom('schedules_schedules').where('id', '=', id).execute();
  }

  /** Notes that a slot was left out. */
  async skip(id: number, because: string): Promise<void> {
    await this.#db
      .updateTable('schedules_schedules')
      .set((of) => ({ skipped: of('skipped', '+', 1), skipped_because: because }))
      .where('id', '=', id)
      .execute();
  }

  runs(schedule: number, page: PageRequest): Promise<Page<RunRow>> {
    return pageOf(
      this.#db.selectFrom('schedules_runs').selectAll().where('schedule_id', '=', schedule),
      'seq',
      page,
    );
  }

  run(id: string): Promise<RunRow | undefined> {
    return this.#db
      .selectFrom('schedules_runs')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
  }

  /** Inserts a run, unless there is one of this slot. */
  async addRun(row: Omit<RunRow, 'seq'>): Promise<boolean> {
    const { numInsertedOrUpdatedRows: added } = await this.#db
      .insertInto('schedules_runs')
      .values(row)
      .onConflict((on) => on.doNothing())
      .executeTakeFirst();
    return Number(added) > 0;
  }

  async changeRun(id: string, change: Partial<Omit<RunRow, 'seq' | 'id'>>): Promise<void> {
    await this.#db.updateTable('schedules_runs').set(change).where('id', '=', id).execute();
  }

  /** Returns runs of a schedule that have not ended. */
  openRuns(schedule: number): Promise<RunRow[]> {
    return this.#db
      .selectFrom('schedules_runs')
      .selectAll()
      .where('schedule_id', '=', schedule)
      .where('state', 'in', open)
      .execute();
  }

  /** Returns whether any run waits for a signature. */
  async hasParked(): Promise<boolean> {
    const found = await this.#db
      .selectFrom('schedules_runs')
      .select('id')
      .where('state', '=', 'approval')
      .limit(1)
      .executeTakeFirst();
    return found !== undefined;
  }

  /** Returns whether something has started a run of a schedule since then. */
  async hasStarted(schedule: number, subject: string, since: number): Promise<boolean> {
    const found = await this.#db
      .selectFrom('schedules_runs')
      .select('id')
      .where('schedule_id', '=', schedule)
      .where('subject', '=', subject)
      .where('created_at', '>', since)
      .limit(1)
      .executeTakeFirst();
    return found !== undefined;
  }

  /** Returns the run of a schedule that ended last. */
  lastEnded(schedule: number): Promise<RunRow | undefined> {
    return this.#db
      .selectFrom('schedules_runs')
      .selectAll()
      .where('schedule_id', '=', schedule)
      .where('ended_at', 'is not', null)
      .orderBy('ended_at', 'desc')
      .limit(1)
      .executeTakeFirst();
  }

  /** Returns totals by schedule; `day` is the beginning of today. */
  async totals(schedules: readonly number[], day: number): Promise<ReadonlyMap<number, Totals>> {
    const rows = await this.#db
      .selectFrom('schedules_runs')
      .where('schedule_id', 'in', [...schedules])
      .groupBy('schedule_id')
      .select([
        'schedule_id',
        sql<number>`count(*)`.as('runs'),
        sql<number>`count(*) filter (where state = 'failed')`.as('failed'),
        sql<number>`sum(input_tokens + output_tokens)`.as('tokens'),
        sql<number>`sum(iif(coalesce(started_at, 0) >= ${day}, input_tokens + output_tokens, 0))`.as(
          'tokens_today',
        ),
      ])
      .execute();
    return new Map(rows.map(({ schedule_id: id, ...totals }) => [id, totals]));
  }

  /** Deletes runs that ended before then; resolves to their number. */
  async removeRunsBefore(at: number): Promise<number> {
    const { numDeletedRows } = await this.#db
      .deleteFrom('schedules_runs')
      .where('ended_at', '<', at)
      .executeTakeFirst();
    return Number(numDeletedRows);
  }
}
