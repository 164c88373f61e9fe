import { sql } from 'kysely';
import type { JobFilter, JobPosition, JobSource, JobState, JobView } from 'svc/jobs';
import { type Clock, SvcError, type Tables } from 'svc/sdk';

import type { JobStore } from './job-store.ts';
import type { ImTables, JobRow } from './tables.ts';

const queue = 'message';

/** Where a row stands, as other queues call it. */
const stateSql = sql<JobState | null>`
  case when state = 'failed' then 'failed' when state = 'waiting' then 'parked'
    when state = 'queued' and holder is null then 'waiting' when state = 'queued' then 'running' end`;

/** Messages that wait for their answers, as jobs beside those of other plugins. */
export class MessageJobs implements JobSource {
  readonly #tables: Tables<ImTables>;
  readonly #jobs: JobStore;
  readonly #clock: Clock;

  constructor(tables: Tables<ImTables>, jobs: JobStore, clock: Clock) {
    this.#tables = tables;
    this.#jobs = jobs;
    this.#clock = clock;
  }

  async page(
    filter: JobFilter,
    before: JobPosition | undefined,
    limit: number,
  ): Promise<readonly JobView[]> {
    const rows = await this.#matching(filter)
      .selectAll()
      .select(stateSql.as('job_state'))
      .$if(before !== undefined, (query) =>
        query.where(
          sql<boolean>`(created_at, id) < (${before?.created_at ?? 0}, ${before?.id ?? ''})`,
        ),
      )
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    return rows.map(({ job_state: state, ...row }) => viewOf(row, state!));
  }

  async count(filter: JobFilter): Promise<number> {
    const { total } = await this.#matching(filter)
      .select((of) => of.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    return total;
  }

  async find(id: string): Promise<JobView | undefined> {
    const found = await this.#matching({})
      .selectAll()
      .select(stateSql.as('job_state'))
      .where('id', '=', id)
      .executeTakeFirst();
    return found && viewOf(found, found.job_state!);
  }

  /** One that is being dealt with ends by itself in a moment. */
  async cancel(id: string, by: string): Promise<JobView> {
    const isEnded = await this.#tables.write(async (tx) => {
      const row = await tx
        .selectFrom('imbridge_jobs')
        .select('id')
        .where('id', '=', id)
        .where('state', 'in', ['queued', 'waiting'])
        .where('holder', 'is', null)
        .executeTakeFirst();
      if (row !== undefined) {
        await this.#jobs.end(id, 'failed', this.#clock.now(), `cancelled by ${by}`);
      }
      return row !== undefined;
    });
    if (!isEnded) {
      throw new SvcError('conflict', `message ${id} is being answered, or has ended already`, {
        reason: 'imbridge.not_waiting',
      });
    }
    return (await this.find(id))!;
  }

  #matching({ queue: wanted, state }: JobFilter) {
    return this.#tables.read
      .selectFrom('imbridge_jobs')
      .where(
        wanted !== undefined && wanted !== queue
          ? sql<boolean>`false`
          : state === undefined
            ? sql<boolean>`state in ('queued', 'waiting', 'failed')`
            : sql<boolean>`${stateSql} = ${state}`,
      );
  }
}

const titles = {
  message: 'Answer a message',
  action: 'Carry out a button',
  tell: 'Tell a conversation',
};

/** Nothing of what was said is shown. */
const viewOf = (row: JobRow, state: JobState): JobView => ({
  id: row.id,
  queue,
  title: titles[row.kind],
  state,
  attempts: row.tries,
  created_at: row.created_at,
  due_at: state === 'waiting' ? row.next_at : null,
  started_at: null,
  ended_at: row.ended_at,
  progress: null,
  error: row.error,
  cancellable: state === 'waiting' || state === 'parked',
});
