import type { Group } from '../lines/group.ts';
import { FileSearch } from './find-files.ts';
import { type OpenFile } from './open-file.ts';
import { beforeBytes, type Place, readAt, readHead } from './place.ts';
import { beginning, type Named, type Start } from './tail.ts';
import type { Tails } from './tails.ts';

export interface DiscoveryOptions {
  readonly tails: Tails;
  readonly groups: readonly Group[];
  readonly allows: (path: string) => boolean;
  readonly maxFiles: number;
  /** Files that were made later are read from their beginning. */
  readonly since: number;
  /** Start position if the checkpoint was broken; undefined if it was not. */
  readonly broken: 'end' | 'beginning' | 'skip' | undefined;
}

/** Lag of the clock by which file systems record creation times. */
const clockMs = 1_000;
const maxBack = 256 * 1024;

/** Finds files that are to be read, and decides where reading them begins. */
export class Discovery {
  readonly #options: DiscoveryOptions;
  /** Paths of which an earlier process had read a file that no longer exists. */
  readonly #anew = new Set<string>();
  #first = true;
  /**
   * Files that were found and not read, because the limit was reached or there was too much to
   * examine.
   */
  trouble: string | undefined;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
  }

  /** Takes up the files of an earlier process. */
  async resume(places: readonly Place[]): Promise<void> {
    const { tails } = this.#options;
    // Files read to the end are known first, so that no generation of a file is taken for a new
    // one.
    for (const place of places.toSorted((a, b) => Math.sign(rank(a) - rank(b)) || 0)) {
      const group = this.#groupOf(place);
      if (place.state === 'parked' || place.state === 'skipped' || group === undefined) {
        tails.park(place.state === 'skipped' ? place : { ...place, state: 'parked' });
      } else if (await tails.resume(place, group)) {
        this.#anew.add(place.path);
      }
    }
  }

  async scan(signal: AbortSignal): Promise<void> {
    const { tails, groups, maxFiles } = this.#options;
    await this.#dropForbidden();
    const found = new Set<string>();
    const forbidden = new Set<string>();
    let tooMany = 0;
    let exhausted = false;
    for (const group of groups) {
      const search = new FileSearch(signal);
      for (const glob of group.globs) {
        for (const named of await search.find(glob)) {
          if (signal.aborted) {
            return;
          }
          if (!this.#options.allows(named.path) && !group.excludes(named.path)) {
            forbidden.add(named.path);
            tails.unreadable.forbid(named.path);
          } else if (this.#groupOf(named) === group) {
            found.add(named.path);
            tooMany +=
              tails.hasPath(named.path) || (await this.#consider(named, group, maxFiles)) ? 0 : 1;
          }
        }
      }
      exhausted ||= search.exhausted;
      for (const [path, error] of search.closed) {
        found.add(path);
        tails.unreadable.add(path, error);
      }
    }
    this.#first = false;
    tails.unreadable.keep(found, forbidden);
    this.trouble =
      tooMany > 0
        ? `${tooMany} files are not read: max_files is ${maxFiles}`
        : exhausted
          ? 'the folders contain more entries than a scan reads: use a narrower pattern'
          : undefined;
  }

  /** The first group that holds it, if it may be read at all. */
  #groupOf({ path, found }: Named): Group | undefined {
    return this.#options.allows(path)
      ? this.#options.groups.find((group) => group.holds(found) && !group.excludes(path))
      : undefined;
  }

  async #dropForbidden(): Promise<void> {
    const { tails } = this.#options;
    for (const tail of tails.live) {
      if (this.#groupOf(tail) === undefined) {
        await tails.drop(tail);
      }
    }
  }

  /** Considers a file; returns false if there was no capacity for it. */
  async #consider(named: Named, group: Group, maxFiles: number): Promise<boolean> {
    const { tails } = this.#options;
    const file = await tails.open(named.path);
    if (file === undefined) {
      return true;
    }
    const start = await this.#startOf(file, named);
    if (start === undefined || (tails.size >= maxFiles && !(await this.#makeRoom(file.mtime)))) {
      await file.file.close();
      return start === undefined;
    }
    this.#anew.delete(named.path);
    await tails.begin(named, file, group, start);
    if (start === beginning) {
      await tails.beginEarlier(named, file, group, this.#options.since - clockMs);
    }
    return true;
  }

  /** Undefined when it is not to be read. */
  async #startOf(file: OpenFile, { found }: Named): Promise<Start | undefined> {
    const { tails, since, broken } = this.#options;
    if (tails.holds(file.id)) {
      return undefined;
    }
    const place = await tails.findParked(file);
    if (place !== undefined) {
      return place.state === 'parked' && file.size > place.offset ? place : undefined;
    }
    if (await tails.isCopy(file)) {
      tails.park(await asRead(file, found, 'parked'));
      return undefined;
    }
    if (this.#anew.has(file.path)) {
      return beginning;
    }
    if (broken !== undefined && this.#first) {
      if (broken === 'skip') {
        tails.park(await asRead(file, found, 'skipped'));
        return undefined;
      }
      return broken === 'beginning' ? beginning : await lastLine(file);
    }
    const isNew = file.birth > 0 ? file.birth + clockMs > since : !this.#first;
    return isNew ? beginning : await lastLine(file);
  }

  /** Closes the file that was idle longest, if it is older than the one that needs its place. */
  async #makeRoom(mtime: number): Promise<boolean> {
    const { tails } = this.#options;
    const [quietest] = tails.live
      .filter((tail) => tail.behind === 0 && tail.mtime < mtime)
      .toSorted((a, b) => a.mtime - b.mtime);
    if (quietest !== undefined) {
      await tails.drop(quietest);
    }
    return quietest !== undefined;
  }
}

/** Returns the rank that sorts files of one path in the order of their lines. */
const rank = ({ state, mtime }: Place): number =>
  state === 'live' ? Infinity : state === 'left' ? mtime : -1;

async function asRead(
  { path, file, id, size, birth, mtime }: OpenFile,
  found: string,
  state: Place['state'],
): Promise<Place> {
  return {
    path,
    found,
    id,
    birth,
    mtime,
    head: await readHead(file, size),
    ...(await at(file, size)),
    state,
  };
}

/** The end of the file, or the beginning of its last line while that is not whole. */
async function lastLine({ file, size }: OpenFile): Promise<Start> {
  const from = Math.max(0, size - maxBack);
  const newline = (await readAt(file, from, size - from)).lastIndexOf(10);
  return await at(file, newline < 0 ? (from === 0 ? 0 : size) : from + newline + 1);
}

async function at(file: OpenFile['file'], offset: number): Promise<Start> {
  const from = Math.max(0, offset - beforeBytes);
  return { offset, before: (await readAt(file, from, offset - from)).toString('base64'), part: 0 };
}
