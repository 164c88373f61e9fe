import { type BigIntStats, constants, type Dir } from 'node:fs';
import { type FileHandle, lstat, open, opendir, readlink } from 'node:fs/promises';

import type { SkillCall } from 'svc/contracts/edge-skills';
import type { SlowCalls } from 'svc/probe';

import type { AllowedPaths, NamedPath } from './allowed-paths.ts';
import { errors } from './errors.ts';

export interface WalkEntry {
  readonly path: string;
  readonly stats: BigIntStats;
}

export interface WalkReport {
  /** Entries that were looked at. */
  readonly entries: number;
  /** Folders and entries that could not be looked at. */
  readonly unreadable: number;
  /** Why it ended before all was seen. */
  readonly cut: 'entries' | 'time' | undefined;
  /** Folders of which it has not seen everything, those nearest to its beginning. */
  readonly left: readonly string[];
}

export interface WalkOptions<T> {
  readonly paths: AllowedPaths;
  readonly slow: SlowCalls;
  readonly call: SkillCall;
  readonly maxEntries: number;
  readonly root: T;
  /**
   * Called for every entry with the value of its folder; the result is the value for its own
   * entries, if it is a folder.
   */
  readonly see: (entry: WalkEntry, folder: T) => T;
}

interface Folder<T> {
  readonly path: string;
  readonly depth: number;
  readonly given: T;
}

const namesOnly = 0o10000000 | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const [batchSize, deepest] = [64, 64];
const maxLeft = 10;

/**
 * Looks at everything below a folder, on the same file system, without following links. Each folder is held by a handle while it is
 * read, so that one that is swapped for a link meanwhile leads nowhere else.
 */
export async function walkTree<T>(start: NamedPath, options: WalkOptions<T>): Promise<WalkReport> {
  const { paths, slow, call, maxEntries, see } = options;
  if (!start.stats.isDirectory()) {
    throw errors.no_folder({ path: start.path });
  }
  const waiting: Folder<T>[] = [{ path: start.path, depth: 0, given: options.root }];
  let [entries, unreadable] = [0, 0];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const { path, depth, given } = folder;
    const reader = new FolderReader(path, slow);
    for (;;) {
      call.signal.throwIfAborted();
      if (entries >= maxEntries || call.hurry()) {
        await reader.close();
        return {
          entries,
          unreadable,
          cut: entries >= maxEntries ? 'entries' : 'time',
          left: nearest([folder, ...waiting]),
        };
      }
      const batch = await reader.next(Math.min(batchSize, maxEntries - entries));
      if (batch === undefined) {
        unreadable++;
        break;
      }
      for (const { name, stats } of batch.entries) {
        const entry = path === '/' ? `/${name}` : `${path}/${name}`;
        entries++;
        if (stats === undefined) {
          unreadable++;
        } else if (stats.dev === start.stats.dev && paths.allows(entry)) {
          const next = see({ path: entry, stats }, given);
          if (stats.isDirectory() && depth < deepest) {
            waiting.push({ path: entry, depth: depth + 1, given: next });
          }
        }
      }
      if (batch.done) {
        break;
      }
    }
    await reader.close();
  }
  return { entries, unreadable, cut: undefined, left: [] };
}

/** Returns the folders closest to the beginning of a walk: with them go all those below. */
const nearest = (folders: readonly Folder<unknown>[]): readonly string[] =>
  folders
    .toSorted((a, b) => a.depth - b.depth)
    .slice(0, maxLeft)
    .map(({ path }) => path);

interface Batch {
  readonly entries: readonly { readonly name: string; readonly stats: BigIntStats | undefined }[];
  readonly done: boolean;
}

/** Reader of one folder, in batches; a batch that never returns keeps its handles until it does. */
class FolderReader {
  readonly #path: string;
  readonly #slow: SlowCalls;
  #handle: FileHandle | undefined;
  #dir: Dir | undefined;
  #left = false;

  constructor(path: string, slow: SlowCalls) {
    this.#path = path;
    this.#slow = slow;
  }

  /** Undefined when it cannot be read. */
  async next(most: number): Promise<Batch | undefined> {
    const outcome = await this.#slow.run(this.#path, async () => {
      try {
        return await this.#read(most);
      } finally {
        if (this.#left) {
          await this.#release();
        }
      }
    });
    if (outcome.state === 'done') {
      return outcome.value;
    }
    this.#left = outcome.state === 'stuck';
    return undefined;
  }

  async close(): Promise<void> {
    if (!this.#left) {
      await this.#release();
    }
  }

  async #read(most: number): Promise<Batch> {
    const dir = (this.#dir ??= await this.#open());
    const names: string[] = [];
    while (names.length < most) {
      const entry = await dir.read();
      if (entry === null) {
        return { entries: await this.#look(names), done: true };
      }
      names.push(entry.name);
    }
    return { entries: await this.#look(names), done: false };
  }

  async #open(): Promise<Dir> {
    this.#handle = await open(this.#path, namesOnly);
    const here = `/proc/self/fd/${this.#handle.fd}`;
    if ((await readlink(here)) !== this.#path) {
      throw new Error('it is not there any more');
    }
    return await opendir(here, { bufferSize: batchSize });
  }

  #look(names: readonly string[]): Promise<Batch['entries']> {
    const here = `/proc/self/fd/${this.#handle!.fd}`;
    // Undefined: gone meanwhile.
    return Promise.all(
      names.map(async (name) => ({
        name,
        stats: await lstat(`${here}/${name}`, { bigint: true }).catch(() => undefined),
      })),
    );
  }

  async #release(): Promise<void> {
    const [dir, handle] = [this.#dir, this.#handle];
    this.#dir = undefined;
    this.#handle = undefined;
    await dir?.close();
    await handle?.close();
  }
}
