import { type FSWatcher, lstatSync, readdirSync, type Stats, watch } from 'node:fs';
import { join, sep } from 'node:path';
import { setImmediate as breath, setTimeout as delay } from 'node:timers/promises';

export interface TreeWatchOptions {
  readonly ignored: (path: string) => boolean;
  readonly changed: (path: string) => void;
  readonly failed: (error: unknown) => void;
  /** Time since which changes count although the watch began later, in milliseconds since the epoch. */
  readonly since: number;
  /** Asks for the state of each file instead of being told. */
  readonly polls: boolean;
}

/** State of a path when it was last looked at. */
interface Entry {
  readonly stamp: string;
  readonly isFolder: boolean;
}

const pollEveryMs = 500;
/** A file may change twice within one step of its clock: this long, the same stamp proves nothing. */
const unsettledMs = 1_000;

/**
 * Reports the paths that change below a folder. The system is asked to watch folders only: they
 * report their files, and there are ten times fewer of them.
 */
export class TreeWatch {
  readonly #root: string;
  readonly #options: TreeWatchOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #closing = new AbortController();
  readonly #polling: Promise<void>;
  /** Resolves once everything below the folder is being watched. */
  readonly ready: Promise<void>;

  constructor(root: string, options: TreeWatchOptions) {
    this.#root = root;
    this.#options = options;
    // A time of a file has parts of a millisecond, which the one of now has not.
    this.ready = this.#enter(root, Math.min(options.since, Date.now() + 1));
    this.#polling = options.polls ? this.#poll() : Promise.resolve();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#watchers.forEach((watcher) => watcher.close());
    this.#watchers.clear();
    await Promise.all([this.ready, this.#polling]);
  }

  /** Watches a folder and those below it, and reports what has changed in them since then. */
  async #enter(folder: string, since: number): Promise<void> {
    const open = [folder];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      // Watched before it is read: so nothing can happen in between.
      this.#watch(next);
      for (const path of this.#pathsIn(next)) {
        const stats = statsOf(path);
        if (stats === undefined || this.#entries.has(path)) {
          continue;
        }
        this.#entries.set(path, entryOf(stats));
        if (stats.ctimeMs >= since) {
          this.#options.changed(path);
        }
        if (stats.isDirectory()) {
          open.push(path);
        }
      }
      await breath();
      if (this.#closing.signal.aborted) {
        return;
      }
    }
  }

  #watch(folder: string): void {
    if (this.#options.polls || this.#closing.signal.aborted) {
      return;
    }
    try {
      const watcher = watch(folder, (_event, name) => {
        if (name !== null) {
          this.#look(join(folder, name), unsettledMs);
        }
      });
      watcher.on('error', (error) => this.#options.failed(error));
      this.#watchers.get(folder)?.close();
      this.#watchers.set(folder, watcher);
    } catch (error) {
      this.#failed(error);
    }
  }

  #pathsIn(folder: string): string[] {
    try {
      return readdirSync(folder)
        .map((name) => join(folder, name))
        .filter((path) => !this.#options.ignored(path));
    } catch (error) {
      this.#failed(error);
      return [];
    }
  }

  /** Reports a failure, but not of what is gone by now: the folder around it reports that. */
  #failed(error: unknown): void {
    if (!['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) {
      this.#options.failed(error);
    }
  }

  /** Compares a path with what was there before. */
  #look(path: string, withinMs: number): void {
    if (this.#closing.signal.aborted || this.#options.ignored(path)) {
      return;
    }
    const before = this.#entries.get(path);
    const stats = statsOf(path);
    if (stats === undefined) {
      this.#leave(path);
      return;
    }
    const entry = entryOf(stats);
    const isSame = before?.stamp === entry.stamp;
    if (isSame && (entry.isFolder || stats.mtimeMs < Date.now() - withinMs)) {
      return;
    }
    if (!isSame && (before?.isFolder ?? false)) {
      this.#leave(path);
    }
    this.#entries.set(path, entry);
    this.#options.changed(path);
    if (entry.isFolder) {
      void this.#enter(path, -Infinity);
    }
  }

  /** Reports a path, and all that was below it, as gone. */
  #leave(path: string): void {
    const below = path + sep;
    const { isFolder } = this.#entries.get(path) ?? {};
    for (const known of isFolder ? this.#entries.keys() : [path]) {
      if ((known === path || known.startsWith(below)) && this.#entries.delete(known)) {
        this.#watchers.get(known)?.close();
        this.#watchers.delete(known);
        this.#options.changed(known);
      }
    }
  }

  async #poll(): Promise<void> {
    const { signal } = this.#closing;
    await this.ready;
    while (await delay(pollEveryMs, true, { signal }).catch(() => false)) {
      const folders = [...this.#entries].filter(([, { isFolder }]) => isFolder);
      for (const folder of [this.#root, ...folders.map(([path]) => path)]) {
        this.#pathsIn(folder)
          .filter((path) => !this.#entries.has(path))
          .forEach((path) => this.#look(path, 0));
        await breath();
      }
      for (const path of this.#entries.keys()) {
        this.#look(path, 0);
      }
    }
  }
}

/** Undefined for what is not there, or may not be looked at. */
function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** The time of a folder changes with what is in it, which is reported by its own name. */
function entryOf(stats: Stats): Entry {
  const isFolder = stats.isDirectory();
  return {
    isFolder,
    stamp: isFolder ? `${stats.ino}` : `${stats.ino}:${stats.mtimeMs}:${stats.size}`,
  };
}
