import { statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { type FSWatcher, watch } from 'chokidar';

import { type Logger, messageOf } from '../../../core/sdk/index.ts';

export interface RootWatch {
  /** Resolves once the folder, if it is there, is being watched. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

export interface RootWatchOptions {
  readonly ignore: (path: string) => boolean;
  readonly changed: (path: string) => void;
  /** What changed since this moment counts, also when the watch began later; in milliseconds since the epoch. */
  readonly since: number;
  readonly log: Logger;
}

const lookEveryMs = 1_000;
const pollEveryMs = 500;
const armWithinMs = 5_000;

/** No watches or file descriptors left: asking for each file's state still works. */
const exhausted: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOSPC']);

/**
 * Watches one folder through all its lives. chokidar loses a root that is deleted, replaced, or reached by a link
 * that is turned elsewhere, so the root is looked at every second and watched anew when it is another one.
 */
export function watchRoot(
  root: string,
  { ignore, changed, since, log }: RootWatchOptions,
): RootWatch {
  const closing = new AbortController();
  let seen: string | undefined;
  let watcher: FSWatcher | undefined;
  let usePolling = false;

  /** True when the folder is not the one that was watched until now. */
  const look = async (): Promise<boolean> => {
    const identity = identityOf(root);
    if (identity === seen || closing.signal.aborted) {
      return false;
    }
    seen = identity;
    await watcher?.close();
    watcher = undefined;
    const real = identity && (await realpath(root).catch(() => undefined));
    if (real) {
      await arm(real);
    } else {
      // Also when it went away between the two calls: the next look finds out.
      seen = undefined;
    }
    return true;
  };

  const arm = async (real: string): Promise<void> => {
    const named = (path: string): string => join(root, relative(real, path));
    watcher = watch(real, {
      alwaysStat: true,
      followSymlinks: false,
      usePolling,
      interval: pollEveryMs,
      binaryInterval: pollEveryMs,
      ignored: (path) => path !== real && (isNoise(basename(path)) || ignore(named(path))),
    });
    let arming = true;
    watcher.on('all', (_event, path, stats) => {
      // The root itself is looked at by whoever waits for the watch to be ready.
      if (!arming || (path !== real && stats !== undefined && stats.ctimeMs >= since)) {
        changed(named(path));
      }
    });
    watcher.on('error', failed);
    await armed(watcher, closing.signal);
    arming = false;
  };

  const failed = (error: unknown): void => {
    const cause = messageOf(error);
    if (!exhausted.has((error as NodeJS.ErrnoException).code)) {
      log.warn(
        { event: 'watch.part_failed', root, cause },
        'part of a watched folder cannot be watched',
      );
    } else if (!usePolling) {
      usePolling = true;
      seen = undefined;
      log.warn(
        { event: 'watch.polling', root, cause },
        'no file watches left, so this folder is polled; raise fs.inotify.max_user_watches or ulimit -n',
      );
    }
  };

  const ready = look().then(() => undefined);
  const following = ready.then(async () => {
    while (await paused(lookEveryMs, closing.signal)) {
      if (await look()) {
        changed(root);
      }
    }
  });
  return {
    ready,
    async close() {
      closing.abort();
      await following;
      await watcher?.close();
    },
  };
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

/** What editors and tools put beside the files that matter, for a moment or for good. */
const isNoise = (name: string): boolean =>
  name === 'node_modules' || /^\.|~$|^#.*#$|^4913$|\.(sw[a-z]|tmp|bak|part)$/.test(name);

/** Resolves when changes are being noticed, or when that takes too long, or at the end. */
function armed(watcher: FSWatcher, end: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, armWithinMs);
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
