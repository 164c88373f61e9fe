import { resolve } from 'node:path';

import { type FolderWatch, messageOf, type WatchOptions } from '../../../core/sdk/index.ts';
import { RootWatch } from './watch-root.ts';

const maxPaths = 1_000;

let openWatches = 0;

/** Watches that have not been closed, for the census. */
export const folderWatches = (): number => openWatches;

/** Tells that something below some folders may have changed: a hint to look again, never a contract. */
export function watchFolders({
  roots,
  ignore = () => false,
  onChange,
  since = Infinity,
  debounceMs = 100,
  log,
}: WatchOptions): FolderWatch {
  const folders = [...new Set(roots.map((root) => resolve(root)))];
  const tell = async (paths: ReadonlySet<string>): Promise<void> => {
    try {
      await onChange(paths);
    } catch (error) {
      log.error(
        { event: 'watch.change_failed', cause: messageOf(error), paths: [...paths].slice(0, 10) },
        'failed to apply changed files',
      );
    }
  };
  const hints = gatherHints(debounceMs, folders, tell);
  const watches = folders.map(
    (root) => new RootWatch(root, { ignore, changed: (path) => hints.add(path), since, log }),
  );
  openWatches += 1;
  return {
    ready: Promise.all(watches.map((watch) => watch.ready)).then(() => undefined),
    async close() {
      openWatches -= 1;
      hints.end();
      await Promise.all(watches.map((watch) => watch.close()));
    },
  };
}

/** Passes paths on together once none has come for `quietMs`, and at the latest after ten times that. */
function gatherHints(
  quietMs: number,
  roots: readonly string[],
  tell: (paths: ReadonlySet<string>) => Promise<void>,
) {
  let paths = new Set<string>();
  let quiet: NodeJS.Timeout | undefined;
  let latest: NodeJS.Timeout | undefined;
  let ended = false;
  const stop = (): void => {
    clearTimeout(quiet);
    clearTimeout(latest);
    quiet = latest = undefined;
  };
  const flush = (): void => {
    stop();
    const told = paths;
    paths = new Set();
    void tell(told);
  };
  return {
    add(path: string): void {
      if (ended) {
        return;
      }
      paths.add(path);
      if (paths.size > maxPaths) {
        paths = new Set(roots);
      }
      clearTimeout(quiet);
      quiet = setTimeout(flush, quietMs);
      latest ??= setTimeout(flush, quietMs * 10);
    },
    end(): void {
      ended = true;
      stop();
    },
  };
}
