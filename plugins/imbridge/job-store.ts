import { sql } from 'kysely';
import type { ImTarget } from 'svc/contracts/imbridge';
import type { Tables } from 'svc/sdk';

import type { ImTables, JobRow, JobState } from './tables.ts';

export type NewJob = Pick<
  JobRow,
  | 'id'
  | 'app_id'
  | 'event_key'
  | 'kind'
  | 'conversation'
  | 'lane'
  | 'payload'
  | 'run_id'
  | 'created_at'
  | 'next_at'
> &
  Partial<Pick<JobRow, 'sender'>>;

/** A message of ours, as the platform knows it. */
export interface Posted {
  readonly at: ImTarget;
  readonly id: string;
  readonly thread: ImTarget;
}

/** Of one statement, which takes 32,766 values. */
const mostAtOnce = 500;

/** All SQL of jobs. A write joins the one that it is called in. */
export class JobStore {
  readonly #tables: Tables<ImTables>;

  constructor(tables: Tables<ImTables>) {
    this.#tables = tables;
  }

  /** Which of them were new: a key that is taken is one that the platform repeats. */
  async add(jobs: readonly NewJob[]): Promise<ReadonlySet<string>> {
    const fresh = new Set<string>();
    if (jobs.length === 0) {
      return fresh;
    }
    const rows = jobs.map((job): JobRow => ({
      sender: '',
      ...job,
      state: 'queued',
      session_id: null,
      sent: null,
      answer: null,
      tries: 0,
      holder: null,
      error: null,
      ended_at: null,
    }));
    await this.#tables.write(async (tx) => {
      for (let at = 0; at < rows.length; at += mostAtOnce) {
        const added = await tx
          .insertInto('imbridge_jobs')
          .values(rows.slice(at, at + mostAtOnce))
          .onConflict((on) => on.columns(['app_id', 'event_key']).doNothing())
          .returning('id')
          .execute();
        added.forEach(({ id }) => fresh.add(id));
      }
    });
    return fresh;
  }

  async open(): Promise<number> {
    const { count } = await this.#tables.read
      .selectFrom('imbridge_jobs')
      .select((of) => of.fn.countAll<number>().as('count'))
      .where('ended_at', 'is', null)
      .executeTakeFirstOrThrow();
    return count;
  }

  /** The first of each lane, oldest first: of those that are due, and of which no earlier one is still to be dealt with. */
  due(now: number, process: string, most: number): Promise<JobRow[]> {
    return this.#tables.read
      .selectFrom('imbridge_jobs as job')
      .selectAll()
      .where('ended_at', 'is', null)
      .where('state', '=', 'queued')
      .where('next_at', '<=', now)
      .where((of) => of.or([of('holder', 'is', null), of('holder', 'not like', `${process}.%`)]))
      .where(
        sql<boolean>`NOT EXISTS (SELECT 1 FROM imbridge_jobs AS earlier WHERE earlier.lane = job.lane AND earlier.id < job.id AND earlier.ended_at IS NULL AND earlier.state = 'queued')`,
      )
      .orderBy('id')
      .limit(most)
      .execute();
  }

  /** When the first of those falls due that are not due yet. */
  async nextAt(now: number): Promise<number | undefined> {
    const row = await this.#tables.read
      .selectFrom('imbridge_jobs')
      .select((of) => of.fn.min('next_at').as('at'))
      .where('ended_at', 'is', null)
      .where('state', '=', 'queued')
      .where('next_at', '>', now)
      .executeTakeFirst();
    return row?.at ?? undefined;
  }

  /** Undefined when another generation has it. */
  claim(id: string, holder: string, process: string): Promise<JobRow | undefined> {
    return this.#tables.write((tx) =>
      tx
        .updateTable('imbridge_jobs')
        .set((of) => ({ holder, tries: of('tries', '+', 1) }))
        .where('id', '=', id)
        .where('state', '=', 'queued')
        .where((of) => of.or([of('holder', 'is', null), of('holder', 'not like', `${process}.%`)]))
        .returningAll()
        .executeTakeFirst(),
    );
  }

  update(id: string, change: Partial<Omit<JobRow, 'id' | 'app_id' | 'event_key'>>): Promise<void> {
    return this.#tables.write(
      async (tx) =>
        void (await tx.updateTable('imbridge_jobs').set(change).where('id', '=', id).execute()),
    );
  }

  /** What it was about is not kept longer than it is needed. */
  end(id: string, state: JobState, at: number, error: string | null): Promise<void> {
    return this.update(id, {
      state,
      ended_at: Math.floor(at),
      error,
      holder: null,
      payload: '{}',
      answer: null,
    });
  }

  /** Those that waited for people. */
  wake(runId?: string): Promise<void> {
    return this.#tables.write(async (tx) => {
      await tx
        .updateTable('imbridge_jobs')
        .set({ state: 'queued', next_at: 0 })
        .where('ended_at', 'is', null)
        .where('state', '=', 'waiting')
        .$if(runId !== undefined, (query) => query.where('run_id', '=', runId!))
        .execute();
    });
  }

  async byRun(runId: string): Promise<JobRow | undefined> {
    return await this.#tables.read
      .selectFrom('imbridge_jobs')
      .selectAll()
      .where('run_id', '=', runId)
      .executeTakeFirst();
  }

  /** Brought by its conversation within a time, before this one; or of that, by its sender alone. */
  async before(
    { app_id: app, conversation, sender, created_at: at, id }: JobRow,
    withinMs: number,
    whose: 'all' | 'own',
  ): Promise<number> {
    const brought = this.#tables.read
      .selectFrom('imbridge_jobs')
      .select((of) => of.fn.countAll<number>().as('count'))
      .where('app_id', '=', app)
      .where('conversation', '=', conversation)
      .where('created_at', '>', at - withinMs)
      .where('id', '<', id)
      .where('kind', '=', 'message');
    const { count } = await (
      whose === 'own' ? brought.where('sender', '=', sender) : brought
    ).executeTakeFirstOrThrow();
    return count;
  }

  /** Keys are kept as long as any platform repeats. */
  async forget(endedBefore: number): Promise<void> {
    await this.#tables.write((tx) =>
      tx.deleteFrom('imbridge_jobs').where('ended_at', '<', endedBefore).execute(),
    );
  }
}
