import { sql } from 'kysely';
import type { JobFilter, JobPosition, JobSource, JobView } from 'svc/jobs';
import { type Clock, type Tables } from 'svc/sdk';

import { errors } from './errors.ts';
import { isAtRest, isQueued } from './delivery-conditions.ts';
import type { Delivery, Notify, NotifyTables } from './tables.ts';

const queue = 'delivery';
const statesOf = { waiting: 'queued', running: 'sending', failed: 'failed' } as const;
const jobStates = { queued: 'waiting', sending: 'running', failed: 'failed' } as const;

/**
 * Deliveries that wait, are being sent or have failed, as jobs next to those of other plugins:
 * their queue folds and paces, which no other does.
 */
export class DeliveryJobs implements JobSource {
  readonly #tables: Tables<NotifyTables>;
  readonly #clock: Clock;

  constructor(tables: Tables<NotifyTables>, clock: Clock) {
    this.#tables = tables;
    this.#clock = clock;
  }

  async page(
    filter: JobFilter,
    before: JobPosition | undefined,
    limit: number,
  ): Promise<readonly JobView[]> {
    const rows = await matching(this.#tables.read, filter)
      .selectAll()
      .$if(before !== undefined, (query) =>
        query.where(
          sql<boolean>`(accepted_at, id) < (${before?.created_at ?? 0}, ${before?.id ?? ''})`,
        ),
      )
      .orderBy('accepted_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    return rows.map(viewOf);
  }

  async count(filter: JobFilter): Promise<number> {
    const { total } = await matching(this.#tables.read, filter)
      .select((of) => of.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    return total;
  }

  async find(id: string): Promise<JobView | undefined> {
    const row = await matching(this.#tables.read, {})
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    return row && viewOf(row);
  }

  /** Ends it as failed, which is reported like any other end. */
  async cancel(id: string, by: string): Promise<JobView> {
    const row = await this.#tables.write((tx) =>
      tx
        .updateTable('notify_deliveries')
        .set({
          state: 'failed',
          error: `cancelled by ${by}`,
          finished_at: Math.floor(this.#clock.now()),
        })
        .where('id', '=', id)
        .where(isQueued)
        .where(isAtRest)
        .returningAll()
        .executeTakeFirst(),
    );
    if (row === undefined) {
      throw errors.not_waiting({ id });
    }
    return viewOf(row);
  }
}

function matching(db: Notify, { queue: wanted, state }: JobFilter) {
  const states =
    state === undefined
      ? Object.values(statesOf)
      : state in statesOf
        ? [statesOf[state as keyof typeof statesOf]]
        : [];
  return db
    .selectFrom('notify_deliveries')
    .where('kind', '!=', 'digest')
    .where('state', 'in', wanted === undefined || wanted === queue ? states : []);
}

const viewOf = (row: Delivery): JobView => {
  const state = jobStates[row.state as keyof typeof jobStates];
  return {
    id: row.id,
    queue,
    title:
      row.kind === 'test'
        ? `Message to ${row.channel_name}`
        : `Incident ${row.incident_id} ${row.kind} to ${row.channel_name}`,
    state,
    attempts: row.attempts,
    created_at: row.accepted_at,
    due_at: state === 'waiting' ? row.due_at : null,
    started_at: null,
    ended_at: row.finished_at,
    progress: null,
    error: row.error,
    cancellable: state === 'waiting',
  };
};
