import { open, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import type { Logger } from 'svc/sdk';

import { isGenerationOf } from './generations.ts';
import { idOf, type Place, readAt, unreadOf } from './place.ts';

/** Time for which missing lines are told. */
const toldMs = 86_400_000;
const maxTold = 100;
const maxEntries = 10_000;

interface Loss {
  readonly sentence: string;
  readonly at: number;
}

/** Lines that were out of reach before they were read: their file was deleted, compressed, or hidden by the policy. */
export class LostLines {
  readonly #log: Logger;
  readonly #monotonic: () => number;
  /** Losses by path, the latest last. */
  readonly #losses = new Map<string, Loss>();

  constructor(log: Logger, monotonic: () => number) {
    this.#log = log;
    this.#monotonic = monotonic;
  }

  get sentence(): string | undefined {
    const [latest, ...more] = [...this.#losses.values()]
      .filter(({ at }) => this.#monotonic() - at < toldMs)
      .toReversed();
    return latest === undefined
      ? undefined
      : `${latest.sentence}${more.length === 0 ? '' : `; so may lines of ${more.length} more files`}`;
  }

  /** Notes that the rest of a file was not found under any name; a file that went with its folder is not missed. */
  async add(place: Place): Promise<void> {
    const { path, offset } = place;
    const compressed = await compressedOf(place);
    const hasFolder = (await stat(dirname(path)).catch(() => undefined)) !== undefined;
    if (!hasFolder || compressed?.unread === 0 || (offset === 0 && unreadOf(place) === 0)) {
      return;
    }
    const isThere = await stat(path, { bigint: true }).catch(() => undefined);
    const where =
      compressed !== undefined
        ? `the file was compressed to ${basename(compressed.path)}`
        : isThere !== undefined && idOf(isThere) === place.id
          ? 'the file was emptied'
          : 'the file was deleted';
    const lost =
      compressed !== undefined
        ? `${compressed.unread} bytes of ${path} were not read`
        : unreadOf(place) > 0
          ? `at least ${unreadOf(place)} bytes of ${path} were not read`
          : `lines of ${path} after byte ${offset} may be missing`;
    const sentence = `${lost}: ${where} before the agent read them; rotate with "delaycompress" and keep at least one earlier file`;
    this.#losses.delete(path);
    this.#losses.set(path, { sentence, at: this.#monotonic() });
    for (const [oldest] of [...this.#losses].slice(0, -maxTold)) {
      this.#losses.delete(oldest);
    }
    this.#log.warn(
      {
        event: 'edge-logs.lines_lost',
        path,
        offset,
        ...(compressed && { compressed: compressed.path, bytes: compressed.unread }),
      },
      'the rest of a rotated log file was not found',
    );
  }
}

/** Returns the gzip file that may hold the rest, with the number of bytes in it that were not read. */
async function compressedOf({
  path,
  offset,
  mtime,
}: Place): Promise<{ readonly path: string; readonly unread: number } | undefined> {
  const folder = dirname(path);
  const names = await readdir(folder).catch(() => []);
  for (const name of names.slice(0, maxEntries)) {
    if (name.endsWith('.gz') && isGenerationOf(basename(path), name.slice(0, -'.gz'.length))) {
      const size = await unpackedSize(join(folder, name), mtime);
      if (size !== undefined && size >= offset) {
        return { path: join(folder, name), unread: size - offset };
      }
    }
  }
  return undefined;
}

/**
 * Returns the size that a gzip file states in its last four bytes; undefined if it was written
 * before `since`, as compressing keeps the time.
 */
async function unpackedSize(path: string, since: number): Promise<number | undefined> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) {
    return undefined;
  }
  try {
    const { size, mtimeMs } = await file.stat();
    const end = await readAt(file, Math.max(0, size - 4), 4);
    // Compressing keeps the time, though not below a second.
    return end.length < 4 || mtimeMs + 1_000 < since ? undefined : end.readUInt32LE();
  } finally {
    await file.close();
  }
}
