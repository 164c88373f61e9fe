import { sql } from 'kysely';
import type { JobFilter, JobPosition, JobSource, JobState, JobView } from 'svc/jobs';
import { SvcError, type Tables } from 'svc/sdk';

import type { ChatTables } from '../session/store.ts';
import type { RunRow } from './run-store.ts';
import type { Runs } from './runs.ts';

const queue = 'run';

const stateSql = sql<JobState>`
  case when state = 'waiting' then 'parked' when holder is null then 'waiting' else 'running' end`;

/**
 * Unfinished runs, as jobs next to those of other plugins. The course of a run is in its journal,
 * and visible to its person only.
 */
export class RunJobs implements JobSource {
  readonly #tables: Tables<ChatTables>;
  readonly #runs: Pick<Runs, 'end'>;

  constructor(tables: Tables<ChatTables>, runs: Pick<Runs, 'end'>) {
    this.#tables = tables;
    this.#runs = runs;
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
    return rows.map(({ job_state: state, ...row }) => viewOf(row, state));
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
    return found && viewOf(found, found.job_state);
  }

  async cancel(id: string): Promise<JobView> {
    const run = await this.find(id);
    if (run === undefined) {
      throw new SvcError('conflict', `run ${id} has ended already`, { reason: 'chat.run_over' });
    }
    await this.#runs.end(id);
    return (await this.find(id)) ?? { ...run, state: 'cancelled', cancellable: false };
  }

  #matching({ queue: wanted, state }: JobFilter) {
    return this.#tables.read
      .selectFrom('chat_runs')
      .where('state', '<>', 'ended')
      .where(
        wanted !== undefined && wanted !== queue
          ? sql<boolean>`false`
          : state === undefined
            ? sql<boolean>`true`
            : sql<boolean>`${stateSql} = ${state}`,
      );
  }
}

const viewOf = (row: RunRow, state: JobState): JobView => ({
  id: row.id,
  queue,
  title: row.agent === null ? 'Agent run' : `Agent run: ${row.agent}`,
  state,
  attempts: 1,
  created_at: row.created_at,
  due_at: state === 'waiting' ? row.created_at : null,
  started_at: row.created_at,
  ended_at: row.ended_at,
  progress: null,
  error: null,
  cancellable: row.cancelled === 0,
});
