import { createReadStream, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** Result of comparing the log with what was shipped of it. */
export interface Comparison {
  readonly ok: boolean;
  /** Rows that are the same in both. */
  readonly same: number;
  /** Rows of the file that are older than the log, whose first row follows them. */
  readonly archived: number;
  /** Rows between the first and the last of the file that the file lacks. */
  readonly missing: number;
  readonly first_bad_seq?: number;
  readonly reason?: string;
}

interface Link {
  readonly id: number;
  readonly prev_hash: string;
  readonly hash: string;
}

/** A line of a sink begins with these, so one that the receiver cut off can still be compared. */
const link = /\{"id":(\d{1,15}),"prev_hash":"([\da-f]{64})","hash":"([\da-f]{64})"/;

/** Compares what a sink has, or an earlier export, with the log of this moment, as `exported` gives it. */
export async function compare(
  path: string,
  exported: () => Promise<Readable>,
): Promise<Comparison> {
  const { hashes, links, twice } = await shippedIn(path);
  const [first, newest] = bounds(hashes);
  const missing = hashes.size === 0 ? 0 : newest - first + 1 - hashes.size;
  let same = 0;
  let before = 0;
  let last = 0;
  const verdict = (seq?: number, reason?: string): Comparison => ({
    ok: reason === undefined,
    same,
    archived: before,
    missing,
    ...(seq !== undefined && { first_bad_seq: seq }),
    ...(reason !== undefined && { reason }),
  });
  if (hashes.size === 0) {
    return verdict(undefined, 'the file has no entry of an audit log');
  }
  if (twice !== undefined) {
    return verdict(
      twice,
      'the file has two different entries of this number: the log was truncated and written again',
    );
  }
  const torn = links.find(([id, previous]) => (hashes.get(id - 1) ?? previous) !== previous);
  if (torn !== undefined) {
    return verdict(
      torn[0],
      'in the file it does not follow the previous entry: one of them was replaced',
    );
  }
  for await (const line of linesOf(await exported())) {
    const row = linkIn(line);
    if (row === undefined) {
      continue;
    }
    if (last === 0) {
      before = [...hashes.keys()].filter((id) => id < row.id).length;
    }
    last = row.id;
    const hash = hashes.get(row.id);
    if ((hashes.get(row.id - 1) ?? row.prev_hash) !== row.prev_hash) {
      return verdict(
        row.id - 1,
        'it is another entry in the file than in the log, whose next one follows another',
      );
    }
    if (hash !== undefined && hash !== row.hash) {
      return verdict(row.id, 'it is another entry in the file than in the log');
    }
    same += hash === undefined ? 0 : 1;
  }
  return newest > last
    ? verdict(
        last + 1,
        `the file goes up to entry ${newest}, the log ends with ${last}: the log was truncated, or an older backup was restored`,
      )
    : verdict();
}

/** Hashes by number, every entry with the hash of the one before, and a number that has two. */
async function shippedIn(path: string): Promise<{
  readonly hashes: ReadonlyMap<number, string>;
  readonly links: readonly (readonly [id: number, previous: string])[];
  readonly twice: number | undefined;
}> {
  const hashes = new Map<number, string>();
  const links: (readonly [number, string])[] = [];
  let twice: number | undefined;
  for (const file of filesOf(path)) {
    for await (const line of linesOf(createReadStream(file))) {
      const row = linkIn(line);
      if (row === undefined) {
        continue;
      }
      const earlier = hashes.get(row.id);
      if (earlier === undefined) {
        hashes.set(row.id, row.hash);
        links.push([row.id, row.prev_hash]);
      } else if (earlier !== row.hash) {
        twice ??= row.id;
      }
    }
  }
  return { hashes, links, twice };
}

/** A file, or all files of a folder, such as the objects of a bucket. */
function filesOf(path: string): readonly string[] {
  return statSync(path).isDirectory()
    ? readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name))
        .sort()
    : [path];
}

const linesOf = (input: Readable): AsyncIterable<string> =>
  createInterface({ input, crlfDelay: Infinity });

/** Reads an entry out of a line, whatever the receiver has put before it. */
function linkIn(line: string): Link | undefined {
  const found = link.exec(line);
  if (found !== null) {
    return { id: Number(found[1]), prev_hash: found[2]!, hash: found[3]! };
  }
  const start = line.indexOf('{"id":');
  try {
    const { id, prev_hash, hash } = JSON.parse(line.slice(Math.max(0, start))) as Partial<Link>;
    return start >= 0 && id !== undefined && prev_hash !== undefined && hash !== undefined
      ? { id, prev_hash, hash }
      : undefined;
  } catch {
    // Another line of the same log file, or half of one.
    return undefined;
  }
}

/** Lowest and highest number; a spread of a million arguments would be too many. */
function bounds(hashes: ReadonlyMap<number, string>): [number, number] {
  let [low, high] = [Infinity, 0];
  for (const id of hashes.keys()) {
    low = Math.min(low, id);
    high = Math.max(high, id);
  }
  return [low, high];
}
