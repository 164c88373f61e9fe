import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';

import { isSvcError, messageOf, type SvcError } from 'svc/sdk';
import { ByteReader, ByteWriter } from '../bytes/bytes.ts';
import { crc32 } from '../bytes/crc32.ts';
import { placeOf, syncFolder } from '../wal/wal-files.ts';
import { codecs, compress, type Compressed, decompress } from './codec.ts';
import { errors } from './errors.ts';
import type { SectionCache } from './section-cache.ts';
import type { Unpacker } from './unpacker.ts';

/**
 * A block is written once: magic, sections one behind the other, the index of the sections, and a trailer of 16 bytes
 * (length and checksum of the index, magic).
 */
const magic = Buffer.from('svcblk1\n');
const trailerBytes = 16;
export const draftSuffix = '.tmp';

export interface BlockWriter {
  /** Adds a section and answers its index; `raw` for what does not get smaller. */
  section(bytes: Uint8Array, options?: { readonly raw?: boolean }): number;
  /** Adds a section that is compressed already, with its original length. */
  compressed(section: Compressed, rawLength: number): number;
}

interface Section {
  readonly offset: number;
  readonly stored: number;
  readonly raw: number;
  readonly codec: number;
  readonly sum: number;
}

/** Writes a block. The file gets its name only once all of it is on disk. A name is used once. */
export async function writeBlock(
  folder: string,
  name: string,
  write: (writer: BlockWriter) => void | Promise<void>,
): Promise<{ file: string; bytes: number }> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `${name}${draftSuffix}`);
  await rm(draft, { force: true });
  try {
    const bytes = await writeDraft(draft, write);
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
  write: (writer: BlockWriter) => void | Promise<void>,
): Promise<number> {
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
    await write({
      compressed,
      section: (bytes, options) =>
        compressed(
          options?.raw === true ? { codec: codecs.none, bytes } : compress(bytes),
          bytes.length,
        ),
    });
    const index = indexOf(sections);
    const trailer = Buffer.alloc(trailerBytes);
    trailer.writeUInt32LE(index.length, 0);
    trailer.writeUInt32LE(crc32(index), 4);
    magic.copy(trailer, 8);
    size += writeAll(handle.fd, index) + writeAll(handle.fd, trailer);
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

function indexOf(sections: readonly Section[]): Uint8Array {
  const writer = new ByteWriter(sections.length * 16 + 8);
  writer.uvarint(sections.length);
  for (const { codec, raw, stored, sum } of sections) {
    writer.u8(codec);
    writer.uvarint(raw);
    writer.uvarint(stored);
    writer.u32le(sum);
  }
  return writer.take();
}

export interface BlockFile {
  readonly path: string;
  readonly sections: number;
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
};

function damaged(path: string, what: string, cause?: unknown, section?: number): DamagedBlock {
  return Object.assign(errors.damaged_block({ block: basename(path), what }, { cause }), {
    damagedBlock: path,
    section,
  });
}

export const isDamagedBlock = (error: unknown): error is DamagedBlock =>
  isSvcError(error) && 'damagedBlock' in error;

/** Sections that were read lately stay in `cache`, unpacked. */
export function openBlock(path: string, cache?: SectionCache): BlockFile {
  const descriptor = openDescriptor(path);
  let sections: readonly Section[];
  try {
    sections = readIndex(descriptor, path);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
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

function readIndex(descriptor: number, path: string): Section[] {
  const { size } = fstatSync(descriptor);
  const trailer = Buffer.alloc(trailerBytes);
  const start = Buffer.alloc(magic.length);
  if (
    size < magic.length + trailerBytes ||
    !readAll(descriptor, start, 0) ||
    !readAll(descriptor, trailer, size - trailerBytes)
  ) {
    throw damaged(path, `it has only ${size} bytes`);
  }
  const length = trailer.readUInt32LE(0);
  if (
    !start.equals(magic) ||
    !trailer.subarray(8).equals(magic) ||
    length > size - magic.length - trailerBytes
  ) {
    throw damaged(path, 'it does not begin and end like a block');
  }
  const index = Buffer.alloc(length);
  if (
    !readAll(descriptor, index, size - trailerBytes - length) ||
    crc32(index) !== trailer.readUInt32LE(4)
  ) {
    throw damaged(path, 'its index does not hold what was written');
  }
  const sections = sectionsOf(index);
  const end = sections.reduce((sum, { stored }) => sum + stored, magic.length);
  if (end !== size - trailerBytes - length) {
    throw damaged(path, 'its sections have not the size that the index tells');
  }
  return sections;
}

function sectionsOf(index: Uint8Array): Section[] {
  const reader = new ByteReader(index);
  const sections: Section[] = [];
  let offset = magic.length;
  for (let count = reader.uvarint(); count > 0; count--) {
    const codec = reader.u8();
    const raw = reader.uvarint();
    const stored = reader.uvarint();
    sections.push({ offset, stored, raw, codec, sum: reader.u32le() });
    offset += stored;
  }
  return sections;
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

/** Reads bytes; returns whether the file has that many there. */
function readAll(descriptor: number, into: Uint8Array, position: number): boolean {
  for (let filled = 0; filled < into.length;) {
    const count = readSync(descriptor, into, filled, into.length - filled, position + filled);
    if (count === 0) {
      return false;
    }
    filled += count;
  }
  return true;
}
