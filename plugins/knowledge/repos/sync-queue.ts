import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { Kysely } from 'kysely';
import type { Job, Jobs } from 'svc/jobs';
import type { Clock, Disposer, Logger, Scope, Tables } from 'svc/sdk';

import { unlimited } from '../documents/reader.ts';
import type { KnowledgeTables, RepoRow } from '../documents/tables.ts';
import { Clone, type CloneLimits } from './clone.ts';
import { errors } from './errors.ts';
import type { Git } from './git.ts';
import type { Remotes } from './remote.ts';
import type { RepoDocs } from './repo-docs.ts';
import { RepoStore } from './repo-store.ts';
import { type RepoSyncParts, type SyncProgress, syncRepo, type SyncResult } from './repo-sync.ts';
import { toTrouble, troubles } from './sync-trouble.ts';

export interface SyncQueueParts {
  readonly tables: Tables<KnowledgeTables>;
  readonly git: Git;
  readonly remotes: Remotes;
  readonly docs: RepoDocs;
  readonly syncSite: SyncSite;
  /** Folder of the clones. */
  readonly folder: string;
  readonly limits: () => CloneLimits;
  readonly jobs: Jobs<KnowledgeTables>;
  readonly scope: Scope;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
}

/** Syncs a website once, and throws as syncing a repository does. */
export type SyncSite = (
  repo: RepoRow,
  run: Pick<RepoSyncParts, 'docs' | 'progress' | 'signal'>,
) => Promise<SyncResult>;

interface Running {
  readonly stop: AbortController;
  readonly done: Promise<void>;
}

/** Payload of a job. */
interface Sync {
  readonly repo: number;
}

const queue = 'sync';
const keyOf = (id: number): string => `repo:${id}`;
const atOnce = 2;
/** Time limit of an attempt, whose parts have deadlines of their own. */
const tryMs = 6 * 60 * 60_000;
const longestPauseMs = 24 * 60 * 60_000;

/** Which repositories sync when: some at once, each one alone, later and later for what fails. */
export class SyncQueue {
  readonly #parts: SyncQueueParts;
  readonly #rows: RepoStore;
  readonly #running = new Map<number, Running>();
  readonly #progress = new Map<number, SyncProgress>();
  /** Repositories requested while they sync: the current sync may lack what was pushed since. */
  readonly #again = new Set<number>();

  constructor(parts: SyncQueueParts) {
    this.#parts = parts;
    this.#rows = new RepoStore(parts.tables.read);
    parts.jobs.queue<Sync>(queue, {
      atOnce,
      timeoutMs: tryMs,
      title: ({ repo }) => `Sync repository ${repo}`,
      work: (job) => this.#carry(job),
      onFailed: (tx, { payload, cause }) => this.#giveUp(tx, payload.repo, cause),
    });
  }

  /** Reports interrupted syncs, and schedules them again. */
  async begin(): Promise<void> {
    const due = Math.floor(this.#parts.clock.now());
    await this.#parts.remotes.sweep();
    await this.#parts.tables.write((tx) =>
      new RepoStore(tx).recover({
        status: 'failed',
        last_error: troubles.interrupted,
        last_error_code: 'interrupted',
        due_at: due,
      }),
    );
  }

  /** Starts syncs that are due. */
  async look(): Promise<void> {
    const due = await this.#rows.due(this.#parts.clock.now());
    for (const { id } of due) {
      await this.start(id);
    }
  }

  progressOf(id: number): SyncProgress | undefined {
    return this.#progress.get(id);
  }

  /** Syncs at the next turn; a running sync is repeated when it is done. */
  async start(id: number): Promise<void> {
    const { tables, jobs, clock } = this.#parts;
    if (this.#running.has(id)) {
      this.#again.add(id);
    } else {
      this.#progress.set(id, { phase: 'waiting', done: 0, total: 0 });
    }
    await tables.write(async (tx) => {
      await new RepoStore(tx).update(id, {
        status: 'syncing',
        last_tried_at: Math.ceil(clock.now()),
        due_at: null,
      });
      await jobs.add(tx, queue, [{ payload: { repo: id }, key: keyOf(id), again: true }]);
    });
  }

  /** Ends its sync, and resolves once nothing of it runs any more. */
  async stop(id: number): Promise<void> {
    const { tables, jobs } = this.#parts;
    this.#again.delete(id);
    await tables.write((tx) => jobs.withdraw(tx, queue, keyOf(id)));
    const running = this.#running.get(id);
    running?.stop.abort();
    await running?.done;
    this.#progress.delete(id);
  }

  /** Deletes what is left of a repository on disk. */
  async forget({ ref }: Pick<RepoRow, 'ref'>): Promise<void> {
    await rm(this.#folderOf(ref), { recursive: true, force: true });
  }

  async #carry(job: Job<Sync, KnowledgeTables>): Promise<void> {
    const { repo: id } = job.payload;
    const stop = new AbortController();
    let finish!: () => void;
    this.#running.set(id, { stop, done: new Promise((resolve) => (finish = resolve)) });
    const end = (): void => stop.abort(job.signal.reason);
    job.signal.addEventListener('abort', end);
    try {
      await this.#sync(id, stop.signal, job);
      // Cancelled or shutting down: the job is informed. A removed one is done.
      job.signal.throwIfAborted();
    } finally {
      job.signal.removeEventListener('abort', end);
      this.#running.delete(id);
      this.#progress.delete(id);
      if (this.#again.delete(id)) {
        this.#progress.set(id, { phase: 'waiting', done: 0, total: 0 });
      }
      finish();
    }
  }

  /** A sync that was cancelled, or that has ended svc again and again, is due when it would have been after any failure. */
  async #giveUp(tx: Kysely<KnowledgeTables>, id: number, cause: string): Promise<void> {
    const store = new RepoStore(tx);
    const repo = await store.find(id, unlimited);
    this.#progress.delete(id);
    if (repo !== undefined) {
      await store.update(id, {
        status: 'failed',
        last_error: cause,
        last_error_code: 'interrupted',
        failures: repo.failures + 1,
        due_at: this.#due(repo, repo.failures + 1),
      });
    }
  }

  async #sync(id: number, signal: AbortSignal, job: Job<Sync, KnowledgeTables>): Promise<void> {
    const { clock, git, limits, log, scope, tables, remotes, docs, syncSite } = this.#parts;
    const repo = await this.#rows.find(id, unlimited);
    if (repo === undefined) {
      return;
    }
    const every = (ms: number, work: () => Promise<void>): Disposer =>
      scope.interval(`size of repository ${id}`, ms, work);
    const clone = new Clone({
      git,
      folder: this.#folderOf(repo.ref),
      limits: limits(),
      signal,
      every,
    });
    const progress = (now: SyncProgress): void => {
      this.#progress.set(id, now);
      job.progress({ done: now.done, total: now.total, note: now.phase });
    };
    const keep = (change: Parameters<RepoStore['update']>[1]): Promise<void> =>
      tables.write((tx) => new RepoStore(tx).update(id, change));
    await keep({ status: 'syncing', due_at: null });
    try {
      const result =
        repo.kind === 'website'
          ? await syncSite(repo, { docs, progress, signal })
          : await syncRepo(repo, { remotes, docs, clone, progress, signal });
      const now = Math.ceil(clock.now());
      await keep({
        // To be done once more: a kill in between finds it syncing, and does so too.
        status: this.#again.has(id) ? 'syncing' : 'ready',
        last_synced_at: now,
        last_commit: result.commit,
        last_error: null,
        last_error_code: null,
        failures: 0,
        last_result: JSON.stringify(result),
        due_at: this.#due(repo, 0),
      });
      log.info(
        { event: 'knowledge.repo_synced', repo: id, ...result, samples: undefined },
        'repository synced',
      );
    } catch (error) {
      // Removed, cancelled, or this plugin is shutting down: then the next generation takes the
      // job.
      if (signal.aborted) {
        void (
          job.signal.aborted ||
          log.info({ event: 'knowledge.repo_sync_stopped', repo: id }, 'repository sync stopped')
        );
        return;
      }
      const { code, message } = toTrouble(error);
      log.warn(
        { event: 'knowledge.repo_sync_failed', repo: id, code, cause: message },
        'repository sync failed; keeping the previous documents',
      );
      await keep({
        status: this.#again.has(id) ? 'syncing' : 'failed',
        last_error: message.slice(0, 1_000),
        last_error_code: code,
        failures: repo.failures + 1,
        due_at: this.#due(repo, repo.failures + 1),
      });
    }
  }

  /**
   * Returns the time of the next sync with jitter, so that repositories of one server spread out;
   * null if only on demand.
   */
  #due({ sync_interval: seconds }: RepoRow, failures: number): number | null {
    const pause = Math.min(longestPauseMs, seconds * 1000 * 2 ** Math.min(failures, 6));
    return seconds === 0
      ? null
      : Math.ceil(
          this.#parts.clock.now() +
            Math.max(pause, seconds * 1000) * (0.9 + 0.2 * this.#parts.random()),
        );
  }

  #folderOf(ref: string): string {
    if (!/^[0-9a-f-]{36}$/.test(ref)) {
      throw errors.clone_name();
    }
    return join(this.#parts.folder, `${ref}.git`);
  }
}
