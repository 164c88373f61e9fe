import { AsyncResource } from 'node:async_hooks';

import { type Clock, isSvcError, type LiveSet, type Logger } from 'svc/sdk';

import type { CarriedFileSet } from './carried-files.ts';
import type { DropInStatus } from './drop-in.ts';
import {
  claimNames,
  type DropInEntries,
  entriesOf,
  type NameClaims,
  sameEntries,
  yieldNames,
} from './name-claims.ts';
import type { DropInRoot } from './scan.ts';
import { WatchedFolder } from './watched-folder.ts';

export interface DropInOptions {
  /** Absolute paths; of two files that use one name, the one in the earlier root serves. */
  readonly roots: readonly DropInRoot[];
  /** Files that plugins carry: those that ship with svc come before all roots, those of packs after them. */
  readonly carried: CarriedFileSet;
  /** Gets the complete set, each time it is another one; for names that others hold it throws a conflict, and is asked again without those. */
  readonly live: Pick<LiveSet, 'replace'>;
  readonly clock: Clock;
  readonly log: Logger;
}

const maxHints = 1_000;
/** Max lines about ignored files in one pass. */
const maxIgnored = 20;

/** Keeps what serves equal to the files that plugins carry and to those that lie in the folders. */
export class DropIns {
  readonly #roots: readonly string[];
  readonly #folders: readonly WatchedFolder[];
  readonly #carried: CarriedFileSet;
  readonly #live: Pick<LiveSet, 'replace'>;
  readonly #now: () => number;
  readonly #log: Logger;
  /** Passes see what serves now, not what the one who asked for them is pinned to. */
  readonly #apart = new AsyncResource('svc.drop-ins');
  #published: DropInEntries = { personas: [], skills: [] };
  #claims: NameClaims = new Map();
  /** Files as last logged; undefined before the first pass. */
  #logged: readonly DropInStatus[] | undefined;
  #ignored: ReadonlySet<string> = new Set();
  #hints = new Set<string>();
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #closed = false;

  constructor({ roots, carried, live, clock, log }: DropInOptions) {
    this.#roots = roots.map(({ path }) => path);
    this.#folders = roots.map((root) => new WatchedFolder(root));
    this.#carried = carried;
    this.#live = live;
    this.#now = () => clock.now();
    this.#log = log;
  }

  /** Reloads everything. */
  load(): Promise<void> {
    return this.refresh(this.#roots);
  }

  /**
   * Looks again where `paths` point: at files, or at roots, which are then read as a whole; and at what plugins carry, in any
   * case. Resolves once the outcome serves.
   */
  async refresh(paths: Iterable<string> = []): Promise<void> {
    if (this.#closed) {
      return;
    }
    for (const path of paths) {
      this.#hints.add(path);
    }
    if (this.#hints.size > maxHints) {
      this.#hints = new Set(this.#roots);
    }
    await this.#pass();
  }

  list(): readonly DropInStatus[] {
    return [...this.#carried.list(), ...this.#folders.flatMap((folder) => folder.list())];
  }

  /** Ends current work; nothing is read or published afterwards. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled([this.#running, this.#next]);
  }

  /** One at a time; all who ask while one runs share the next. */
  #pass(): Promise<void> {
    const begin = (): Promise<void> => {
      this.#next = undefined;
      return (this.#running = this.#apart
        .runInAsyncScope(() => this.#look())
        .finally(() => {
          // With a next pass chained the place stays taken.
          this.#running = this.#next && this.#running;
        }));
    };
    return this.#running ? (this.#next ??= this.#running.then(begin, begin)) : begin();
  }

  async #look(): Promise<void> {
    const paths = this.#hints;
    this.#hints = new Set();
    // Awaited even if nothing changed: the caller may be in the middle of a publication, which
    // leads to another.
    await this.#carried.visit(this.#now);
    for (const folder of this.#folders) {
      if ([...paths].some((path) => folder.concerns(path))) {
        await folder.visit(paths, this.#now);
      }
    }
    try {
      this.#publish();
    } finally {
      this.#logChanges();
      this.#logIgnored();
    }
  }

  /** Publishes whatever is good and has its name to itself. */
  #publish(): void {
    const claims = claimNames(
      [this.#carried.shipped, ...this.#folders.map(({ files }) => files), this.#carried.ofPacks],
      this.#claims,
    );
    while (!this.#closed && !sameEntries(entriesOf(claims), this.#published)) {
      const entries = entriesOf(claims);
      try {
        this.#live.replace(entries);
        this.#published = entries;
      } catch (error) {
        if (!isSvcError(error) || error.code !== 'conflict' || !yieldNames(claims, error)) {
          throw error;
        }
      }
    }
    this.#claims = claims;
  }

  /** Logs each ignored file once: whoever drops in `scout.txt` waits for a persona that never appears. */
  #logIgnored(): void {
    const ignored = this.#folders.flatMap((folder) => folder.ignored);
    for (const file of ignored.filter((one) => !this.#ignored.has(one)).slice(0, maxIgnored)) {
      this.#log.warn(
        { event: 'dropins.file_ignored', file },
        'file ignored: a persona is agents/NAME.md, a skill is skills/NAME/SKILL.md',
      );
    }
    this.#ignored = new Set(ignored);
  }

  /** One line in the log for each file that came, went, broke or was repaired; the first pass has one line for all files. */
  #logChanges(): void {
    const earlier = new Map(this.#logged?.map((entry) => [entry.file, entry]));
    const isFirst = this.#logged === undefined;
    this.#logged = this.list();
    if (isFirst) {
      const loaded = this.#logged.filter(({ loaded_at: at }) => at !== undefined);
      const personas = loaded.filter(({ kind }) => kind === 'persona').length;
      this.#log.info(
        { personas, skills: loaded.length - personas },
        'personas and skills loaded from files',
      );
    }
    for (const { kind, name, file, error, loaded_at } of this.#logged) {
      const last = earlier.get(file);
      earlier.delete(file);
      if (error !== undefined && error !== last?.error) {
        this.#log.warn({ event: 'dropins.file_broken', file }, error);
      } else if (
        error === undefined &&
        (last?.error !== undefined || loaded_at !== last?.loaded_at)
      ) {
        this.#log[isFirst ? 'debug' : 'info']({ file }, `${kind} "${name}" loaded`);
      }
    }
    for (const { kind, name, file } of earlier.values()) {
      this.#log.info({ file }, `${kind} "${name}" removed`);
    }
  }
}
