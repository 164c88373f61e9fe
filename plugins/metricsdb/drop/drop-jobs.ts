import type { JobFilter, JobPosition, JobSource, JobView } from 'svc/jobs';

import type { Drop } from '../store/drop/drop-table.ts';
import type { Dropping } from './dropping.ts';
import { errors } from './errors.ts';

const queue = 'drop';

/** Drops of series as jobs next to those of other plugins: their state is in the store itself. */
export class DropJobs implements JobSource {
  readonly #dropping: Pick<Dropping, 'list'>;

  constructor(dropping: Pick<Dropping, 'list'>) {
    this.#dropping = dropping;
  }

  async page(
    filter: JobFilter,
    before: JobPosition | undefined,
    limit: number,
  ): Promise<readonly JobView[]> {
    return (await this.#matching(filter))
      .filter(
        ({ created_at: at, id }) =>
          before === undefined ||
          at < before.created_at ||
          (at === before.created_at && id < before.id),
      )
      .slice(0, limit);
  }

  async count(filter: JobFilter): Promise<number> {
    return (await this.#matching(filter)).length;
  }

  async find(id: string): Promise<JobView | undefined> {
    return (await this.#matching({})).find((job) => job.id === id);
  }

  cancel(): Promise<JobView> {
    throw errors.drop_not_cancellable();
  }

  /** Newest first. */
  async #matching({ queue: wanted, state }: JobFilter): Promise<readonly JobView[]> {
    const drops = wanted === undefined || wanted === queue ? await this.#dropping.list() : [];
    return drops
      .map(viewOf)
      .filter((job) => state === undefined || job.state === state)
      .toReversed();
  }
}

function viewOf({ id, selection, asked, series, blocks, done, error, ended }: Drop): JobView {
  const texts = selection.selectors.map(
    (list) =>
      `{${list.map(({ name, op, value }) => `${name}${op}${JSON.stringify(value)}`).join(', ')}}`,
  );
  return {
    id: `metrics-drop-${String(id).padStart(6, '0')}`,
    queue,
    title: `Drop ${texts.join(' and ')}`.slice(0, 200),
    state: ended !== undefined ? 'done' : error !== undefined ? 'waiting' : 'running',
    attempts: 1,
    created_at: asked,
    due_at: null,
    started_at: asked,
    ended_at: ended ?? null,
    progress: { done, total: blocks, note: `${series} series left memory` },
    error: error ?? null,
    cancellable: false,
  };
}
