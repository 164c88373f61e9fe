import type { BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';

import { isCompressed } from './find-files.ts';
import type { OpenFile } from './open-file.ts';
import { birthOf, ctimeOf, idOf, mtimeOf, type Place } from './place.ts';

/** Traces of files that had a path in between and were not found. */
export interface Between {
  /** Names of files that may be one of them. */
  readonly unsure: readonly string[];
  /** Time in which the path had a file that was not found; milliseconds since 1970. */
  readonly unseen?: { readonly from: number; readonly to: number } | undefined;
}

interface Stray {
  readonly name: string;
  readonly path: string;
  readonly stats: BigIntStats;
}

export interface StrayOptions {
  readonly names: readonly string[];
  /** The file that was being read, if it was found. */
  readonly rest: OpenFile | undefined;
  /** Returns whether a file is read, or to be read, under its own name. */
  readonly isOwn: (path: string) => boolean;
}

/** Time for which a renamed file may still be written to. */
const graceMs = 10_000;
/** Time in which a rotation renames a file and creates the next one. */
const rotationMs = 1_000;
/** Time for which a path may have no file without anything being missed. */
const lullMs = 60_000;

/**
 * Finds files that had a path after the one that was being read, under names that no rotation we
 * know gives. Such a file was created after the earlier one was written last, and written last
 * before the present one was created. It is sure if its name continues the path's; or if it was
 * moved, and its name begins as the path's, or is like the one that the earlier file has now, or
 * the next one came just then. Another one that was moved may belong to another program.
 */
export async function findStrays(
  place: Place,
  { names, rest, isOwn }: StrayOptions,
): Promise<{ readonly sure: readonly string[]; readonly unsure: readonly string[] }> {
  const folder = dirname(place.path);
  const present = await statsOf(place.path);
  if (place.birth === 0 || (present !== undefined && idOf(present) === place.id)) {
    return { sure: [], unsure: [] };
  }
  const fitting: Stray[] = [];
  for (const name of names) {
    const path = join(folder, name);
    const isCandidate = path !== place.path && path !== rest?.path && !isCompressed(name);
    const stats = isCandidate && !isOwn(path) ? await statsOf(path) : undefined;
    if (stats !== undefined && stats.isFile() && fits(stats, place, rest, present)) {
      fitting.push({ name, path, stats });
    }
  }
  const others = names.filter(
    (name) => join(folder, name) !== place.path && isOwn(join(folder, name)),
  );
  const ours = fitting.filter(({ name }) => !others.some((other) => beginsAs(other, name)));
  const nextOf = ({ stats }: Stray): BigIntStats | undefined =>
    [
      ...ours.filter(wasMoved).map((stray) => stray.stats),
      ...(present === undefined ? [] : [present]),
    ]
      .filter((later) => birthOf(later) > birthOf(stats))
      .toSorted((a, b) => birthOf(a) - birthOf(b))[0];
  const isLike = ({ path, name }: Stray): boolean =>
    beginsAs(basename(place.path), name) ||
    (rest !== undefined && rest.path !== place.path && shapeOf(rest.path) === shapeOf(path));
  const isNext = (stray: Stray): boolean => {
    const next = nextOf(stray);
    return next !== undefined && Math.abs(birthOf(next) - ctimeOf(stray.stats)) <= rotationMs;
  };
  const isSure = (stray: Stray): boolean =>
    stray.name.startsWith(`${basename(place.path)}.`) ||
    (wasMoved(stray) && (isLike(stray) || isNext(stray)));
  return {
    sure: ours.filter(isSure).map(({ path }) => path),
    unsure: ours.filter((stray) => wasMoved(stray) && !isSure(stray)).map(({ name }) => name),
  };
}

/** Returns whether something else was done to a file after it was written last, such as renaming it. */
const wasMoved = ({ stats }: Stray): boolean => stats.ctimeNs > stats.mtimeNs;

/** Returns the first time in which the path of a chain of files, oldest first, had one that is not among them. */
export function unseenIn(chain: readonly OpenFile[]): Between['unseen'] {
  for (const [index, { birth }] of chain.entries()) {
    const before = chain[index - 1];
    // It was renamed at this time or earlier.
    if (before !== undefined && birth > 0 && birth - before.ctime > lullMs) {
      return { from: before.ctime, to: birth };
    }
  }
  return undefined;
}

function fits(
  stats: BigIntStats,
  place: Place,
  rest: OpenFile | undefined,
  present: BigIntStats | undefined,
): boolean {
  const birth = birthOf(stats);
  const writtenLast = rest?.mtime ?? place.mtime;
  return (
    idOf(stats) !== place.id &&
    birth > place.birth &&
    birth >= writtenLast - graceMs &&
    (present === undefined ||
      (birth < birthOf(present) &&
        mtimeOf(stats) <= birthOf(present) + graceMs &&
        stats.uid === present.uid &&
        stats.mode === present.mode))
  );
}

/** Returns whether a name begins with another one, or with what that has before its extension. */
function beginsAs(base: string, name: string): boolean {
  const stem = base.slice(0, base.length - extname(base).length);
  return stem !== '' && name.startsWith(stem) && !/^[a-z0-9]/i.test(name.slice(stem.length));
}

/** A name without what counts in it. */
const shapeOf = (path: string): string => basename(path).replaceAll(/\d+/g, '0');

const statsOf = async (path: string): Promise<BigIntStats | undefined> =>
  await lstat(path, { bigint: true }).catch(() => undefined);
