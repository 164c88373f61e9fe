import { statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { type FSWatcher, watch } from 'chokidar';

import { type Logger, messageOf } from '../../../core/sdk/index.ts';

export interface RootWatchOptions {
  readonly ignore: (path: string) => boolean;
  readonly changed: (path: string) => void;
  /**
   * Time since which changes count, even if the watch began later; in milliseconds since the epoch.
   */
  readonly since: number;
  /** Time after which the watch counts as ready although the first scan goes on; 5 s by default. */
  readonly armWithinMs?: number;
  readonly log: Logger;
}

const lookEveryMs = 1_000;
const pollEveryMs = 500;

/** No watches or file descriptors left: asking for each file's state still works. */
const exhausted: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOSPC']);

/**
 * Watches one folder through all its lives. chokidar loses a root that is deleted, replaced, or
 * reached by a link that changes, so the root is checked every second and watched again if it is
 * another one.
 */
export class RootWatch {
  readonly #root: string;
  readonly #options: RootWatchOptions;
  readonly #closing = new AbortController();
  readonly #following: Promise<void>;
  /** Identity of the folder that is being watched. */
  #seen: string | undefined;
  #watcher: FSWatcher | undefined;
  #usePolling = false;
  /** Resolves once the folder, if it is there, is being watched. */
  readonly ready: Promise<void>;

  constructor(root: string, options: RootWatchOptions) {
    this.#root = root;
    this.#options = options;
    this.ready = this.#look().then(() => undefined);
    this.#following = this.#follow();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#following;
    await this.#watcher?.close();
  }

  async #follow(): Promise<void> {
    await this.ready;
    while (await paused(lookEveryMs, this.#closing.signal)) {
      if (await this.#look()) {
        this.#options.changed(this.#root);
      }
    }
  }

  /** True when the folder is not the one that was watched until now. */
  async #look(): Promise<boolean> {
    const identity = identityOf(this.#root);
    if (identity === this.#seen || this.#closing.signal.aborted) {
      return false;
    }
    this.#seen = identity;
    await this.#watcher?.close();
    this.#watcher = undefined;
    const real = identity && (await realpath(this.#root).catch(() => undefined));
    if (real) {
      await this.#arm(real);
    } else {
      // Also when it went away between the two calls: the next look finds out.
      this.#seen = undefined;
    }
    return true;
  }

  async #arm(real: string): Promise<void> {
    const { ignore, changed, since, armWithinMs = 5_000 } = this.#options;
    const named = (path: string): string => join(this.#root, relative(real, path));
    const watcher = watch(real, {
      alwaysStat: true,
      followSymlinks: false,
      usePolling: this.#usePolling,
      interval: pollEveryMs,
      binaryInterval: pollEveryMs,
      ignored: (path) => path !== real && (isNoise(basename(path)) || ignore(named(path))),
    });
    this.#watcher = watcher;
    // The first scan reports every file, and on a busy machine it outlasts the wait for it: until it
    // ends, only what has changed since then counts.
    let scanning = true;
    let countsSince = since;
    watcher.once('ready', () => (scanning = false));
    watcher.on('all', (_event, path, stats) => {
      // The root itself is looked at by whoever waits for the watch to be ready.
      const isNew = path !== real && (stats?.ctimeMs ?? Date.now()) >= countsSince;
      if (!scanning || isNew) {
        changed(named(path));
      }
    });
    watcher.on('error', (error) => this.#failed(error));
    const began = Date.now();
    await armed(watcher, armWithinMs, this.#closing.signal);
    countsSince = Math.min(since, began);
  }

  #failed(error: unknown): void {
    const { log } = this.#options;
    const root = this.#root;
    const cause = messageOf(error);
    if (!exhausted.has((error as NodeJS.ErrnoException).code)) {
      log.warn(
        { event: 'watch.part_failed', root, cause },
        'watching a subfolder of a watched folder failed',
      );
    } else if (!this.#usePolling) {
      this.#usePolling = true;
      this.#seen = undefined;
      log.warn(
        { event: 'watch.polling', root, cause },
        'no file watches left; polling this folder instead; raise fs.inotify.max_user_watches or ulimit -n',
      );
    }
  }
}

/** Which folder stands at `path`; the time of birth tells apart folders that got the same inode one after the other. */
function identityOf(path: string): string | undefined {
  try {
    // Each second and for each root: to wake a thread for that, and wait for it, costs fifty times as much.
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found?.isDirectory() ? `${found.dev}:${found.ino}:${found.birthtimeNs}` : undefined;
  } catch {
    // Why a path cannot be reached does not matter here: nothing can be watched, and whoever reads it tells.
    return undefined;
  }
}

/** Returns whether a name is an editor's or tool's file, temporary or permanent. */
const isNoise = (name: string): boolean =>
  name === 'node_modules' || /^\.|~$|^#.*#$|^4913$|\.(sw[a-z]|tmp|bak|part)$/.test(name);

/** Resolves when changes are being noticed, or when that takes too long, or at the end. */
function armed(watcher: FSWatcher, withinMs: number, end: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, withinMs);
    function done(): void {
      clearTimeout(timer);
      end.removeEventListener('abort', done);
      resolve();
    }
    watcher.once('ready', done);
    end.addEventListener('abort', done);
  });
}

/** False when the end came first. */
const paused = (ms: number, end: AbortSignal): Promise<boolean> =>
  delay(ms, true, { signal: end }).catch(() => false);
