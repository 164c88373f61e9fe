import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';

import { isSvcError, messageOf, type SvcError } from 'svc/sdk';
import { crc32 } from '../bytes/crc32.ts';
import { placeOf, syncFolder } from '../wal/wal-files.ts';
import {
  type BlockIndex,
  encodeIndex,
  magic,
  readAll,
  readIndex,
  type Section,
} from './block-index.ts';
import { draftSuffix } from './block-name.ts';
import { codecs, compress, type Compressed, decompress } from './codec.ts';
import { type BlockDescription, encodeDescription } from './description.ts';
import { errors } from './errors.ts';
import { type FlippedBit, flippedBit } from '../bytes/flipped-bit.ts';
import type { SectionCache } from './section-cache.ts';
import type { Unpacker } from './unpacker.ts';

export interface BlockWriter {
  /** Adds a section and answers its index; `raw` for what does not get smaller. */
  section(bytes: Uint8Array, options?: { readonly raw?: boolean }): number;
  /** Adds a section that is compressed already, with its original length. */
  compressed(section: Compressed, rawLength: number): number;
  /** Adds what the block says about itself, once. */
  describe(description: BlockDescription): void;
}

/** A block that is on disk. */
export interface WrittenBlock {
  readonly file: string;
  readonly bytes: number;
}

/** Writes a block. The file gets its name only once all of it is on disk. A name is used once. */
export async function writeBlock(
  folder: string,
  name: string,
  write: (writer: BlockWriter) => void | Promise<void>,
): Promise<WrittenBlock> {
  const written = await attemptBlock(folder, name, async (writer) => {
    await write(writer);
    return true;
  });
  return written!;
}

/** Writes a block, unless `write` resolves with false: then there is none. */
export async function attemptBlock(
  folder: string,
  name: string,
  write: (writer: BlockWriter) => Promise<boolean>,
): Promise<WrittenBlock | undefined> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `${name}${draftSuffix}`);
  await rm(draft, { force: true });
  try {
    const bytes = await writeDraft(draft, write);
    if (bytes === undefined) {
      await rm(draft, { force: true });
      return undefined;
    }
    await rename(draft, join(folder, name));
    await syncFolder(folder);
    return { file: name, bytes };
  } catch (error) {
    await rm(draft, { force: true });
    const full = (error as NodeJS.ErrnoException | null)?.code === 'ENOSPC';
    throw full
      ? errors.disk_full({ folder: placeOf(folder) }, { cause: error, retryAfterSeconds: 30 })
      : error;
  }
}

async function writeDraft(
  draft: string,
  write: (writer: BlockWriter) => Promise<boolean>,
): Promise<number | undefined> {
  const handle = await open(draft, 'wx', 0o600);
  try {
    const sections: Section[] = [];
    let size = writeAll(handle.fd, magic);
    const compressed = ({ codec, bytes: stored }: Compressed, rawLength: number): number => {
      sections.push({
        offset: size,
        stored: stored.length,
        raw: rawLength,
        codec,
        sum: crc32(stored),
      });
      size += writeAll(handle.fd, stored);
      return sections.length - 1;
    };
    let description: number | undefined;
    const section: BlockWriter['section'] = (bytes, options) =>
      compressed(
        options?.raw === true ? { codec: codecs.none, bytes } : compress(bytes),
        bytes.length,
      );
    const isKept = await write({
      compressed,
      section,
      describe: (described) => void (description = section(encodeDescription(described))),
    });
    if (!isKept) {
      return undefined;
    }
    size += writeAll(handle.fd, encodeIndex({ sections, description }));
    await handle.sync();
    return size;
  } finally {
    await handle.close();
  }
}

function writeAll(descriptor: number, bytes: Uint8Array): number {
  for (let written = 0; written < bytes.length;) {
    written += writeSync(descriptor, bytes, written, bytes.length - written);
  }
  return bytes.length;
}

export interface BlockFile {
  readonly path: string;
  readonly sections: number;
  /** The section that describes the block; undefined in blocks of earlier versions. */
  readonly description: number | undefined;
  /** Bit of the index that is read as it was written. */
  readonly flipped: FlippedBit | undefined;
  /** Reads a section and checks it. It may be shared with other readers: do not change it. */
  read(index: number): Uint8Array;
  /**
   * Returns the section if `isWanted` accepts it, which reads it in memory of the unpacker; the
   * cache keeps only accepted ones.
   */
  search(
    index: number,
    unpacker: Unpacker,
    isWanted: (section: Uint8Array) => boolean,
  ): Uint8Array | undefined;
  storedBytes(index: number): number;
  rawBytes(index: number): number;
  close(): void;
}

/**
 * Error of a block that does not contain what was written; `damagedBlock` is the path, also across
 * threads.
 */
export type DamagedBlock = SvcError & {
  readonly damagedBlock: string;
  readonly section: number | undefined;
  /** The damage without the name of the block. */
  readonly what: string;
  /** True if a section was read, and its checksum is another. */
  readonly isChanged: boolean;
};

function damaged(path: string, what: string, cause?: unknown, section?: number): DamagedBlock {
  return Object.assign(errors.damaged_block({ block: basename(path), what }, { cause }), {
    damagedBlock: path,
    section,
    what,
    isChanged: section !== undefined && cause === undefined,
  });
}

export const isDamagedBlock = (error: unknown): error is DamagedBlock =>
  isSvcError(error) && 'damagedBlock' in error;

/** Sections that were read lately stay in `cache`, unpacked. */
export function openBlock(path: string, cache?: SectionCache): BlockFile {
  const descriptor = openDescriptor(path);
  let index: BlockIndex;
  try {
    index = indexOf(descriptor, path);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  const { sections, description, flipped } = index;
  let isOpen = true;

  function sectionAt(index: number): Section {
    const section = sections[index];
    if (section === undefined) {
      throw damaged(path, `section ${index} is asked for and there are ${sections.length}`);
    }
    return section;
  }

  function assertOpen(): void {
    if (!isOpen) {
      throw errors.block_closed({ path });
    }
  }

  /** Loads a section. With an unpacker, the result is valid until that is used again. */
  function load(index: number, unpacker?: Unpacker): Uint8Array {
    const { offset, stored, raw, codec, sum } = sectionAt(index);
    const bytes = unpacker?.room(stored) ?? Buffer.allocUnsafeSlow(stored);
    if (!isRead(descriptor, bytes, offset, { path, index }) || crc32(bytes) !== sum) {
      throw damaged(path, `section ${index} does not hold what was written`, undefined, index);
    }
    return unpacker === undefined
      ? decompress(codec, bytes, raw)
      : unpacker.unpack(codec, bytes, raw);
  }

  return {
    path,
    sections: sections.length,
    description,
    flipped,
    read(index) {
      assertOpen();
      return cache === undefined ? load(index) : cache.get(path, index, () => load(index));
    },
    search(index, unpacker, isWanted) {
      assertOpen();
      if (cache !== undefined) {
        return cache.search(path, index, () => load(index, unpacker), isWanted);
      }
      const section = load(index, unpacker);
      return isWanted(section) ? new Uint8Array(section) : undefined;
    },
    storedBytes: (index) => sectionAt(index).stored,
    rawBytes: (index) => sectionAt(index).raw,
    close() {
      if (isOpen) {
        isOpen = false;
        cache?.forget(path);
        closeSync(descriptor);
      }
    },
  };
}

function openDescriptor(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    throw damaged(
      path,
      (error as NodeJS.ErrnoException).code === 'ENOENT'
        ? 'the file is missing'
        : messageOf(error).replaceAll(path, basename(path)),
      error,
    );
  }
}

function indexOf(descriptor: number, path: string): BlockIndex {
  const found = readIndex(descriptor);
  if (typeof found === 'string') {
    throw damaged(path, found);
  }
  return found;
}

/**
 * Writes a flipped bit of a block as it was, where the checksums say which one it is: in the index
 * and in each section. Returns whether anything was written.
 */
export function mendBits(path: string): boolean {
  const descriptor = openSync(path, 'r+');
  try {
    const { sections, flipped } = indexOf(descriptor, path);
    const flips = [
      ...(flipped === undefined ? [] : [flipped]),
      ...sections.flatMap((section) => flipOf(descriptor, section) ?? []),
    ];
    flips.forEach(({ at, mask }) => {
      const byte = Buffer.alloc(1);
      readSync(descriptor, byte, 0, 1, at);
      byte[0]! ^= mask;
      writeSync(descriptor, byte, 0, 1, at);
    });
    if (flips.length > 0) {
      fsyncSync(descriptor);
    }
    return flips.length > 0;
  } finally {
    closeSync(descriptor);
  }
}

/** The flipped bit of a section, if it can be unpacked without; undefined for an intact one. */
function flipOf(
  descriptor: number,
  { offset, stored, raw, codec, sum }: Section,
): FlippedBit | undefined {
  const bytes = Buffer.alloc(stored);
  if (!readAll(descriptor, bytes, offset) || crc32(bytes) === sum) {
    return undefined;
  }
  const flip = flippedBit(bytes, sum);
  if (flip === undefined) {
    return undefined;
  }
  bytes[flip.at]! ^= flip.mask;
  try {
    decompress(codec, bytes, raw);
    return { at: offset + flip.at, mask: flip.mask };
  } catch {
    // Another damage that only looks like one bit: the section stays as it is, and marked.
    return undefined;
  }
}

/** Reads like `readAll`; a disk error counts as damage, too. */
function isRead(
  descriptor: number,
  into: Uint8Array,
  position: number,
  { path, index }: { readonly path: string; readonly index: number },
): boolean {
  try {
    return readAll(descriptor, into, position);
  } catch (error) {
    throw damaged(path, messageOf(error), error, index);
  }
}
