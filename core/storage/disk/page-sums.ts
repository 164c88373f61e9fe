import { closeSync, openSync, readSync } from 'node:fs';
import { crc32 } from 'node:zlib';

const headerBytes = 100;
const pagesAtOnce = 256;

/** Checksum of each page of a database file, in order; a torn last page has one, too. */
export function pageSums(file: string): Uint32Array {
  const descriptor = openSync(file, 'r');
  try {
    const size = pageSizeOf(descriptor);
    const piece = Buffer.alloc(size * pagesAtOnce);
    const sums: number[] = [];
    for (let at = 0, read = -1; read !== 0; at += read) {
      read = readSync(descriptor, piece, 0, piece.length, at);
      for (let page = 0; page < read; page += size) {
        sums.push(crc32(piece.subarray(page, Math.min(page + size, read))));
      }
    }
    return Uint32Array.from(sums);
  } finally {
    closeSync(descriptor);
  }
}

/** SQLite writes it big-endian at byte 16, and 65,536 as 1; of a damaged header any size will do. */
function pageSizeOf(descriptor: number): number {
  const header = Buffer.alloc(headerBytes);
  readSync(descriptor, header, 0, headerBytes, 0);
  const size = header.readUInt16BE(16);
  return size === 1 ? 65_536 : Math.max(size, 512);
}

/** Numbers of the pages, from 1, whose checksums differ. */
export function changedPages(before: Uint32Array, after: Uint32Array): readonly number[] {
  const pages: number[] = [];
  for (let page = 0; page < Math.max(before.length, after.length); page += 1) {
    if (before[page] !== after[page]) {
      pages.push(page + 1);
    }
  }
  return pages;
}

/** The checksums as text, for a file that is written and read as text. */
export const sumsAsText = (sums: Uint32Array): string =>
  Buffer.from(sums.buffer, sums.byteOffset, sums.byteLength).toString('base64');

export function sumsFromText(text: string): Uint32Array {
  const bytes = Buffer.from(text, 'base64');
  const sums = new Uint32Array(bytes.length >> 2);
  new Uint8Array(sums.buffer).set(bytes.subarray(0, sums.byteLength));
  return sums;
}
