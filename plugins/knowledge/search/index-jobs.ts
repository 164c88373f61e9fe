import type { JobFilter, JobPosition, JobSource, JobView } from 'svc/jobs';

import { errors } from './errors.ts';

/** Remaining work of something that follows the documents, and its start. */
export interface Remainder {
  readonly since: number;
  readonly done: number;
  /** 0: not known. */
  readonly total: number;
  /** Error of the last run; null if it succeeded, or is running for the first time. */
  readonly error: string | null;
}

export interface Following {
  readonly queue: string;
  readonly title: string;
  /** Undefined: there is nothing to do. */
  readonly remainder: () => Remainder | undefined;
}

/**
 * Work that follows the documents, shown next to jobs: one each while there is something to do. It
 * has no lease, since what it writes is local and records its own progress; if cancelled, it would
 * have to be done all the same.
 */
export class IndexJobs implements JobSource {
  readonly #all: readonly Following[];

  constructor(all: readonly Following[]) {
    this.#all = all;
  }

  async page(
    { queue, state }: JobFilter,
    before: JobPosition | undefined,
    limit: number,
  ): Promise<readonly JobView[]> {
    return this.#open()
      .filter(
        (job) =>
          (queue === undefined || job.queue === queue) &&
          (state === undefined || job.state === state) &&
          (before === undefined ||
            job.created_at < before.created_at ||
            (job.created_at === before.created_at && job.id < before.id)),
      )
      .slice(0, limit);
  }

  async count(filter: JobFilter): Promise<number> {
    return (await this.page(filter, undefined, this.#all.length)).length;
  }

  async find(id: string): Promise<JobView | undefined> {
    return this.#open().find((job) => job.id === id);
  }

  async cancel(): Promise<JobView> {
    throw errors.not_cancellable();
  }

  #open(): readonly JobView[] {
    return this.#all
      .flatMap(({ queue, title, remainder }): JobView[] => {
        const left = remainder();
        return left === undefined ? [] : [viewOf(queue, title, left)];
      })
      .toSorted((a, b) => b.created_at - a.created_at || (a.id < b.id ? 1 : -1));
  }
}

const viewOf = (
  queue: string,
  title: string,
  { since, done, total, error }: Remainder,
): JobView => ({
  id: `knowledge-${queue}`,
  queue,
  title,
  state: error === null ? 'running' : 'waiting',
  attempts: 1,
  created_at: since,
  due_at: null,
  started_at: since,
  ended_at: null,
  progress: { done, total, note: '' },
  error,
  cancellable: false,
});
