import { open, readdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';

import { isGenerationOf } from './generations.ts';
import type { OpenFile } from './open-file.ts';
import { continues, type Place, readAt } from './place.ts';

/** Gzip file that may hold the rest of a file, with the number of bytes in it that were not read. */
export interface Compressed {
  readonly path: string;
  readonly unread: number;
}

export interface UnpackOptions {
  readonly open: (path: string) => Promise<OpenFile | undefined>;
  /** Folder of this agent, on whose disk the content is kept while it is read. */
  readonly scratch: string;
}

const maxEntries = 10_000;
/** Max size of what is unpacked: a small file may hold any amount. */
const maxUnpacked = 256 * 1024 * 1024;

/** Returns the gzip files that may hold the rest of a file. */
export async function compressedOf({ path, offset, mtime }: Place): Promise<readonly Compressed[]> {
  const folder = dirname(path);
  const found: Compressed[] = [];
  for (const name of (await readdir(folder).catch(() => [])).slice(0, maxEntries)) {
    if (name.endsWith('.gz') && isGenerationOf(basename(path), name.slice(0, -'.gz'.length))) {
      const size = await statedSize(join(folder, name), mtime);
      if (size !== undefined && size >= offset) {
        found.push({ path: join(folder, name), unread: size - offset });
      }
    }
  }
  return found;
}

/**
 * Opens the content of the gzip file that a file was compressed to before it was read to its end;
 * undefined if there is none with more lines, or it cannot be unpacked. The caller closes it.
 */
export async function openCompressed(
  place: Place,
  { open: openPacked, scratch }: UnpackOptions,
): Promise<OpenFile | undefined> {
  for (const { path, unread } of await compressedOf(place)) {
    const isFit = unread > 0 && place.head.size > 0 && place.offset + unread <= maxUnpacked;
    const packed = isFit ? await openPacked(path) : undefined;
    const content = packed && (await unpacked(packed, scratch));
    if (content !== undefined && (await continues(content.file, content.size, place))) {
      return content;
    }
    await content?.file.close();
  }
  return undefined;
}

/** Unpacks into a file without a name, which goes with whoever reads it; closes the packed one. */
async function unpacked(packed: OpenFile, scratch: string): Promise<OpenFile | undefined> {
  const path = join(scratch, 'unpacked');
  const file = await open(path, 'w+', 0o600);
  let size = 0;
  try {
    await unlink(path);
    await pipeline(
      packed.file.createReadStream({ start: 0, autoClose: false }),
      createGunzip(),
      async (pieces: AsyncIterable<Buffer>) => {
        for await (const piece of pieces) {
          size += piece.length;
          if (size > maxUnpacked) {
            throw new Error(`${packed.path} holds more than ${maxUnpacked} bytes`);
          }
          await file.appendFile(piece);
        }
      },
    );
  } catch {
    // It is damaged, holds too much, or the disk is full: the caller reports its lines as not read.
    await file.close();
    return undefined;
  } finally {
    await packed.file.close();
  }
  return { ...packed, file, id: `gz:${packed.id}`, size };
}

/**
 * Returns the size that a gzip file states in its last four bytes; undefined if it was written
 * before `since`, as compressing keeps the time.
 */
async function statedSize(path: string, since: number): Promise<number | undefined> {
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
