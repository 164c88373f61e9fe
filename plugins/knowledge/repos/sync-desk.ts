import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import { type Clock, type Disposer, type Logger, type Scope, SvcError, type Tables } from 'svc/sdk';

import type { KnowledgeTables, RepoRow } from '../documents/tables.ts';
import { Clone, type CloneLimits } from './clone.ts';
import type { Git } from './git.ts';
import type { Remotes } from './remote.ts';
import type { RepoDocs } from './repo-docs.ts';
import { RepoStore } from './repo-store.ts';
import { type SyncProgress, syncRepo } from './repo-sync.ts';
import { toTrouble, troubles } from './sync-trouble.ts';

export interface SyncDeskParts {
  readonly tables: Tables<KnowledgeTables>;
  readonly git: Git;
  readonly remotes: Remotes;
  readonly docs: RepoDocs;
  /** Of the clones. */
  readonly folder: string;
  readonly limits: () => CloneLimits;
  readonly scope: Scope;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
}

interface Running {
  readonly stop: AbortController;
  readonly done: Promise<void>;
}

const atOnce = 2;
const longestPauseMs = 24 * 60 * 60_000;

/** Which repositories sync when: some at once, each one alone, later and later for what fails. */
export class SyncDesk {
  readonly #parts: SyncDeskParts;
  readonly #rows: RepoStore;
  readonly #running = new Map<number, Running>();
  readonly #progress = new Map<number, SyncProgress>();
  readonly #waiting: number[] = [];
  /** Asked for while they sync: what has come to their branch since may not be in it. */
  readonly #again = new Set<number>();

  constructor(parts: SyncDeskParts) {
    this.#parts = parts;
    this.#rows = new RepoStore(parts.tables.read);
  }

  /** What a kill has interrupted is told, and due again. */
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

  /** Starts what is due. */
  async look(): Promise<void> {
    const due = await this.#rows.due(this.#parts.clock.now());
    for (const { id } of due) {
      await this.start(id);
    }
  }

  progressOf(id: number): SyncProgress | undefined {
    return this.#progress.get(id);
  }

  /** Syncs as soon as it is its turn; one that syncs already does so once more when it is done. */
  async start(id: number): Promise<void> {
    if (this.#running.has(id)) {
      this.#again.add(id);
      return;
    }
    if (this.#waiting.includes(id)) {
      return;
    }
    this.#wait(id);
    await this.#parts.tables.write((tx) =>
      new RepoStore(tx).update(id, {
        status: 'syncing',
        last_tried_at: Math.ceil(this.#parts.clock.now()),
        due_at: null,
      }),
    );
    this.#go();
  }

  #wait(id: number): void {
    this.#waiting.push(id);
    this.#progress.set(id, { phase: 'waiting', done: 0, total: 0 });
  }

  /** Ends its sync, and resolves once nothing of it runs any more. */
  async stop(id: number): Promise<void> {
    const place = this.#waiting.indexOf(id);
    if (place >= 0) {
      this.#waiting.splice(place, 1);
      this.#progress.delete(id);
    }
    this.#again.delete(id);
    const running = this.#running.get(id);
    running?.stop.abort();
    await running?.done;
  }

  /** What is left of a repository on disk. */
  async forget({ ref }: Pick<RepoRow, 'ref'>): Promise<void> {
    await rm(this.#folderOf(ref), { recursive: true, force: true });
  }

  #go(): void {
    while (this.#running.size < atOnce && this.#waiting.length > 0) {
      const id = this.#waiting.shift()!;
      const stop = new AbortController();
      let finish!: () => void;
      this.#running.set(id, { stop, done: new Promise((resolve) => (finish = resolve)) });
      this.#parts.scope.task(`sync repository ${id}`, async (ending) => {
        try {
          await this.#sync(id, AbortSignal.any([ending, stop.signal]), ending);
        } finally {
          this.#running.delete(id);
          this.#progress.delete(id);
          if (this.#again.delete(id)) {
            this.#wait(id);
          }
          finish();
          void (ending.aborted || this.#go());
        }
      });
    }
  }

  async #sync(id: number, signal: AbortSignal, ending: AbortSignal): Promise<void> {
    const { clock, git, limits, log, scope, tables, remotes, docs } = this.#parts;
    const repo = await this.#rows.find(id, {});
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
    const progress = (now: SyncProgress): void => void this.#progress.set(id, now);
    const keep = (change: Parameters<RepoStore['update']>[1]): Promise<void> =>
      tables.write((tx) => new RepoStore(tx).update(id, change));
    try {
      const result = await syncRepo(repo, { remotes, docs, clone, progress, signal });
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
      // Removed, or this plugin leaves: its next start tells so, and tries again.
      if (signal.aborted) {
        void (
          ending.aborted ||
          log.info(
            { event: 'knowledge.repo_sync_stopped', repo: id },
            'sync of a repository stopped',
          )
        );
        return;
      }
      const { code, message } = toTrouble(error);
      log.warn(
        { event: 'knowledge.repo_sync_failed', repo: id, code, cause: message },
        'repository not synced; what was synced before stays',
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

  /** With jitter, so that repositories of one server part; null: never by itself. */
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
      throw new SvcError(
        'internal',
        'the folder of a repository has another name than it was given; restore the database',
      );
    }
    return join(this.#parts.folder, `${ref}.git`);
  }
}
