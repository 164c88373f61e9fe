import { lstat, opendir, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';

import { isCompressed } from './find-files.ts';
import { type OpenFile } from './open-file.ts';
import { birthOf, continues, idOf, type Place } from './place.ts';
import { type Between, findStrays, unseenIn } from './strays.ts';

export interface Generations {
  /** The file that was being read, under the name it has now, or the copy that was made before it was emptied. */
  readonly rest: OpenFile | undefined;
  /** Files that had the path after it and were rotated too, oldest first. */
  readonly between: readonly OpenFile[];
  /** Traces of further such files that were not found. */
  readonly missed: Between;
}

export interface GenerationsOptions {
  readonly open: (path: string) => Promise<OpenFile | undefined>;
  /** Returns whether it has been read, or is being read. */
  readonly isKnown: (file: OpenFile) => Promise<boolean>;
  /** Returns whether a file is to be read under its own name. */
  readonly isOwn: (path: string) => boolean;
}

const maxEntries = 10_000;
const maxGenerations = 64;
const maxLooks = 8;

/**
 * Searches the folder of a file's path for where its lines went when they were rotated. The caller
 * closes the files.
 */
export async function findGenerations(
  place: Place,
  { open, isKnown, isOwn }: GenerationsOptions,
): Promise<Generations> {
  const files = await openAll(place.path, open);
  if (!files.some(({ id }) => id === place.id)) {
    const renamed = await openRenamed(place, open);
    files.push(...(renamed === undefined ? [] : [renamed]));
  }
  const rest = await restOf(place, files);
  const names = await namesIn(dirname(place.path));
  const { sure, unsure } = await findStrays(place, { names, rest, isOwn });
  for (const path of sure.filter((found) => !files.some((file) => file.path === found))) {
    const stray = await open(path);
    files.push(...(stray === undefined ? [] : [stray]));
  }
  const between: OpenFile[] = [];
  for (const file of files) {
    const isLater = file.mtime >= place.mtime && (file.birth === 0 || file.birth >= place.birth);
    if (file !== rest && file.path !== place.path && isLater && !(await isKnown(file))) {
      between.push(file);
    }
  }
  between.sort(byTime);
  const present = files.find(({ path }) => path === place.path);
  const chain = [rest, ...between, present].filter((file) => file !== undefined);
  await Promise.all(
    files
      .filter((file) => file !== rest && !between.includes(file))
      .map(({ file }) => file.close()),
  );
  return { rest, between, missed: { unsure, unseen: unseenIn(chain) } };
}

/**
 * The files of one path by the names that they have now. Rotation renames them while we look, and a file that is renamed
 * shows under neither name: so it is looked again until nothing new comes up and the folder has stayed as it was.
 */
async function openAll(path: string, open: GenerationsOptions['open']): Promise<OpenFile[]> {
  const files = new Map<string, OpenFile>();
  let known = -1;
  for (
    let looks = 0, from = '';
    looks < maxLooks && (files.size > known || from !== (await changedAt(path)));
    looks++
  ) {
    from = await changedAt(path);
    known = files.size;
    for (const name of await rotated(path)) {
      const file = await open(name);
      if (file !== undefined) {
        await files.get(file.id)?.file.close();
        files.set(file.id, file);
      }
    }
  }
  return [...files.values()];
}

/** Opens the file itself, wherever in its folder it was moved to under a name that no rotation we know gives. */
async function openRenamed(
  { path, id, birth }: Place,
  open: GenerationsOptions['open'],
): Promise<OpenFile | undefined> {
  const folder = dirname(path);
  for (const name of await namesIn(folder)) {
    const at = join(folder, name);
    const stats = await lstat(at, { bigint: true }).catch(() => undefined);
    const isIt =
      stats !== undefined &&
      idOf(stats) === id &&
      (birth === 0 || Math.abs(birthOf(stats) - birth) < 1);
    if (isIt && !isCompressed(name)) {
      return await open(at);
    }
  }
  return undefined;
}

/**
 * Returns when a name in the folder of the path was last added or removed, according to the file
 * system; empty if the folder is gone.
 */
const changedAt = async (path: string): Promise<string> =>
  String((await stat(dirname(path), { bigint: true }).catch(() => undefined))?.mtimeNs);

/** File systems count time in ticks; within one, the rotation itself says what came first: counts grow with age, dates do not. */
function byTime(a: OpenFile, b: OpenFile): number {
  const [first, second] = [a, b].map(
    ({ path }) => /\d+(?=\D*$)/.exec(basename(path))?.[0] ?? '',
  ) as [string, string];
  const isCount = first.length <= 4 && second.length <= 4;
  return (
    a.mtime - b.mtime ||
    a.birth - b.birth ||
    (isCount ? Number(second) - Number(first) : first.localeCompare(second))
  );
}

async function restOf(place: Place, files: readonly OpenFile[]): Promise<OpenFile | undefined> {
  for (const same of [true, false]) {
    for (const file of files) {
      const mayBe =
        (file.id === place.id) === same && (same || (place.offset > 0 && file.path !== place.path));
      if (mayBe && (await continues(file.file, file.size, place))) {
        return file;
      }
    }
  }
  return undefined;
}

/**
 * Returns whether `name` is a rotated form of `base`: with a number, a date or a word such as `old`
 * appended, inserted before its extension, or in place of it.
 */
export function isGenerationOf(base: string, name: string): boolean {
  const ending = extname(base);
  const stem = base.slice(0, base.length - ending.length);
  return (
    isCounted(base, name, '') ||
    (stem !== '' &&
      /[a-z]/i.test(ending) &&
      (isCounted(stem, name, ending) || isCounted(stem, name, '')))
  );
}

function isCounted(start: string, name: string, end: string): boolean {
  return (
    name.startsWith(start) &&
    name.endsWith(end) &&
    counted.test(name.slice(start.length, name.length - end.length))
  );
}

const counted =
  /^[._-](?:\d[\d.T:_-]*Z?|(?:old|bak|backup|prev|previous|last|orig)(?:[._-]\d+)?)$/i;

/** The file's own path and those of its generations, the most lately written ones when there are many. */
async function rotated(path: string): Promise<string[]> {
  const [folder, base] = [dirname(path), basename(path)];
  const names = (await namesIn(folder)).filter(
    (name) => name !== base && isGenerationOf(base, name) && !isCompressed(name),
  );
  return [path, ...(await newest(names.map((name) => join(folder, name))))];
}

async function namesIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const { name } of await opendir(folder)) {
      if (names.push(name) >= maxEntries) {
        break;
      }
    }
  } catch {
    // The folder is gone, and everything in it.
  }
  return names;
}

async function newest(paths: readonly string[]): Promise<string[]> {
  if (paths.length <= maxGenerations) {
    return [...paths];
  }
  const written: { path: string; at: number }[] = [];
  for (const path of paths) {
    const stats = await stat(path).catch(() => undefined);
    written.push({ path, at: stats?.mtimeMs ?? 0 });
  }
  return written
    .toSorted((a, b) => b.at - a.at)
    .slice(0, maxGenerations)
    .map(({ path }) => path);
}
