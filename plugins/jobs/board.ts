import type { JobFilter, JobPosition, JobSource, JobView } from 'svc/jobs';
import {
  type Contribution,
  type Logger,
  messageOf,
  type OpenPoint,
  type Page,
  type PageRequest,
  SvcError,
} from 'svc/sdk';

export interface BoardFilter extends JobFilter {
  readonly plugin?: string | undefined;
}

/** A job with the plugin whose it is. */
export interface OwnedJob extends JobView {
  readonly plugin: string;
}

type Source = Contribution<JobSource>;

/** Jobs of all plugins as one list. */
export class Board {
  readonly #sources: Pick<OpenPoint<JobSource>, 'list'>;
  readonly #log: Logger;

  constructor(sources: Pick<OpenPoint<JobSource>, 'list'>, log: Logger) {
    this.#sources = sources;
    this.#log = log;
  }

  /**
   * Returns a page, newest first: each source is asked for a page of its own, of which the newest
   * are taken.
   */
  async page(
    { plugin, ...filter }: BoardFilter,
    { limit, after }: PageRequest,
  ): Promise<Page<OwnedJob>> {
    const before: JobPosition | undefined = after && {
      created_at: Number(after[0]),
      id: String(after[1]),
    };
    const sources = this.#sources
      .list()
      .filter(({ pluginId }) => plugin === undefined || pluginId === plugin);
    const found = await Promise.all(
      sources.map(async (source) => ({
        jobs: await this.#asked(
          source,
          async ({ value }) => [...(await value.page(filter, before, limit + 1))],
          [],
        ),
        count: await this.#asked(source, ({ value }) => value.count(filter), 0),
        plugin: source.pluginId,
      })),
    );
    const jobs = found
      .flatMap(({ jobs: own, plugin: id }) => own.map((job) => ({ ...job, plugin: id })))
      .toSorted(newestFirst);
    const items = jobs.slice(0, limit);
    const last = items.at(-1);
    return {
      items,
      total: found.reduce((sum, { count }) => sum + count, 0),
      next: jobs.length > limit && last ? [last.created_at, last.id] : undefined,
    };
  }

  /** Ends a job that waits, tells one that runs to stop. */
  async cancel(id: string, by: string): Promise<OwnedJob> {
    for (const source of this.#sources.list()) {
      const found = await this.#asked(source, ({ value }) => value.find(id), undefined);
      if (found !== undefined) {
        return { ...(await source.value.cancel(id, by)), plugin: source.pluginId };
      }
    }
    throw new SvcError('not_found', `there is no job ${id}; it may have ended`, {
      reason: 'jobs.not_listed',
    });
  }

  /** A plugin that is about to leave, or cannot read its jobs, hides none of the others. */
  async #asked<R>(source: Source, question: (source: Source) => Promise<R>, none: R): Promise<R> {
    try {
      return await question(source);
    } catch (error) {
      this.#log.warn(
        { event: 'jobs.source_failed', source: source.pluginId, cause: messageOf(error) },
        "failed to list a plugin's jobs; omitting them",
      );
      return none;
    }
  }
}

const newestFirst = (a: JobView, b: JobView): number =>
  b.created_at - a.created_at || (a.id < b.id ? 1 : -1);
