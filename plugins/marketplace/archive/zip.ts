import { crc32, inflateRawSync } from 'node:zlib';

import { EntryList, type PackFiles, refused, shown } from './entry-list.ts';

const end = 0x06054b50;
const central = 0x02014b50;
const local = 0x04034b50;
const endBytes = 22;
const longestComment = 0xffff;

interface Entry {
  readonly name: string;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
}

/** The files of a zip archive, by its central directory; what its two halves say differently is refused. */
export function unzip(bytes: Buffer): PackFiles {
  const list = new EntryList(bytes.length);
  let before = 0;
  for (const entry of entriesOf(bytes).toSorted((a, b) => a.offset - b.offset)) {
    list.reserve(entry.name, entry.size);
    if (entry.offset < before) {
      throw refused(`${shown(entry.name)} shares its bytes with another entry, as a bomb does`);
    }
    const { data, next } = dataOf(bytes, entry);
    before = next;
    if (entry.name.endsWith('/')) {
      list.addFolder(entry.name);
    } else {
      list.addFile(entry.name, unpacked(data, entry));
    }
  }
  return list.end();
}

function entriesOf(bytes: Buffer): readonly Entry[] {
  const at = endOf(bytes);
  const count = bytes.readUInt16LE(at + 10);
  const size = bytes.readUInt32LE(at + 12);
  const start = bytes.readUInt32LE(at + 16);
  if (count === 0xffff || size === 0xffffffff || start === 0xffffffff) {
    throw refused('the archive is a zip64; make a smaller one');
  }
  if (bytes.readUInt16LE(at + 4) !== 0 || start + size > at) {
    throw refused('the directory of the zip archive lies outside of it');
  }
  const entries: Entry[] = [];
  let cursor = start;
  for (let index = 0; index < count; index += 1) {
    if (cursor + 46 > start + size || bytes.readUInt32LE(cursor) !== central) {
      throw refused('the directory of the zip archive is damaged');
    }
    const nameBytes = bytes.readUInt16LE(cursor + 28);
    const next =
      cursor + 46 + nameBytes + bytes.readUInt16LE(cursor + 30) + bytes.readUInt16LE(cursor + 32);
    if (next > start + size) {
      throw refused('the directory of the zip archive is damaged');
    }
    entries.push(entryAt(bytes, cursor, nameBytes));
    cursor = next;
  }
  return entries;
}

/** The directory ends in a comment of any length. */
function endOf(bytes: Buffer): number {
  for (
    let at = bytes.length - endBytes;
    at >= 0 && at >= bytes.length - endBytes - longestComment;
    at -= 1
  ) {
    if (
      bytes.readUInt32LE(at) === end &&
      at + endBytes + bytes.readUInt16LE(at + 20) === bytes.length
    ) {
      return at;
    }
  }
  throw refused('the zip archive has no directory at its end; it may be truncated');
}

function entryAt(bytes: Buffer, at: number, nameBytes: number): Entry {
  const name = bytes.subarray(at + 46, at + 46 + nameBytes).toString('latin1');
  const flags = bytes.readUInt16LE(at + 8);
  const madeOn = bytes.readUInt8(at + 5);
  // The kind of file as Unix writes it; other systems write none.
  const kind = madeOn === 3 ? (bytes.readUInt16LE(at + 40) >> 12) & 0xf : 0;
  if ((flags & 1) !== 0) {
    throw refused(`${shown(name)} is protected by a password`);
  }
  if (kind === 0xa) {
    throw refused(`${shown(name)} is a symbolic link; a pack is made of plain files only`);
  }
  if (![0, 0x4, 0x8].includes(kind)) {
    throw refused(`${shown(name)} is neither a file nor a folder`);
  }
  const method = bytes.readUInt16LE(at + 10);
  if (method !== 0 && method !== 8) {
    throw refused(`${shown(name)} is compressed with method ${method}; use deflate`);
  }
  return {
    name,
    method,
    crc: bytes.readUInt32LE(at + 16),
    packed: bytes.readUInt32LE(at + 20),
    size: bytes.readUInt32LE(at + 24),
    offset: bytes.readUInt32LE(at + 42),
  };
}

function dataOf(
  bytes: Buffer,
  { name, offset, packed, method }: Entry,
): { readonly data: Buffer; readonly next: number } {
  if (offset + 30 > bytes.length || bytes.readUInt32LE(offset) !== local) {
    throw refused(`${shown(name)} is not where the directory of the archive says`);
  }
  const nameBytes = bytes.readUInt16LE(offset + 26);
  const begin = offset + 30 + nameBytes + bytes.readUInt16LE(offset + 28);
  const localName = bytes.subarray(offset + 30, offset + 30 + nameBytes).toString('latin1');
  if (
    localName !== name ||
    bytes.readUInt16LE(offset + 8) !== method ||
    begin + packed > bytes.length
  ) {
    throw refused(`${shown(name)} differs between the archive and its central directory`);
  }
  return { data: bytes.subarray(begin, begin + packed), next: begin + packed };
}

function unpacked(data: Buffer, { name, method, size, crc }: Entry): Buffer {
  let content: Buffer;
  try {
    content = method === 0 ? data : inflateRawSync(data, { maxOutputLength: Math.max(1, size) });
  } catch {
    throw refused(`${shown(name)} cannot be unpacked to the ${size} bytes that the archive says`);
  }
  if (content.length !== size || crc32(content) !== crc) {
    throw refused(
      `${shown(name)} is damaged: its size or checksum differs from what the archive says`,
    );
  }
  return content;
}
