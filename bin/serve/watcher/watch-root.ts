import { statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { type Logger, messageOf } from '../../../core/sdk/index.ts';
import { TreeWatch } from './tree-watch.ts';

export interface RootWatchOptions {
  readonly ignore: (path: string) => boolean;
  readonly changed: (path: string) => void;
  /**
   * Time since which changes count, even if the watch began later; in milliseconds since the epoch.
   */
  readonly since: number;
  readonly log: Logger;
}

const lookEveryMs = 1_000;

/** No watches or file descriptors left: asking for each file's state still works. */
const exhausted: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOSPC']);

/**
 * Watches one folder through all its lives. It may be deleted, replaced, or reached by a link that
 * changes, so it is checked every second and watched again if it is another one.
 */
export class RootWatch {
  readonly #root: string;
  readonly #options: RootWatchOptions;
  readonly #closing = new AbortController();
  readonly #following: Promise<void>;
  /** Identity of the folder that is being watched. */
  #seen: string | undefined;
  #watch: TreeWatch | undefined;
  #polls = false;
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
    await this.#watch?.close();
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
    await this.#watch?.close();
    this.#watch = undefined;
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
    const { ignore, changed, since } = this.#options;
    const named = (path: string): string => join(this.#root, relative(real, path));
    this.#watch = new TreeWatch(real, {
      ignored: (path) => isNoise(basename(path)) || ignore(named(path)),
      changed: (path) => changed(named(path)),
      failed: (error) => this.#failed(error),
      since,
      polls: this.#polls,
    });
    await this.#watch.ready;
  }

  #failed(error: unknown): void {
    const { log } = this.#options;
    const root = this.#root;
    const cause = messageOf(error);
    if (!exhausted.has((error as NodeJS.ErrnoException).code)) {
      log.warn(
        { event: 'watch.part_failed', root, cause },
        'failed to watch a subfolder of a watched folder',
      );
    } else if (!this.#polls) {
      this.#polls = true;
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

/** False when the end came first. */
const paused = (ms: number, end: AbortSignal): Promise<boolean> =>
  delay(ms, true, { signal: end }).catch(() => false);
