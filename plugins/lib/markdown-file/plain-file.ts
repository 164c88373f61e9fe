import { constants } from 'node:fs';
import { lstat, open, realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';

import type { SvcError } from 'svc/sdk';

import { errors } from './errors.ts';

/**
 * The text of a file that really stands where its path says: below `root`, no link on the way, not a device or a
 * pipe, UTF-8, and at most `maxBytes` long even while somebody is writing to it.
 */
export async function readPlainFile(root: string, file: string, maxBytes: number): Promise<string> {
  const stats = await lstat(file);
  if (
    stats.isSymbolicLink() ||
    (await realpath(file)) !== join(await realpath(root), relative(root, file))
  ) {
    throw refusal(file, 'is a symbolic link or lies behind one; put the file itself in the folder');
  }
  if (!stats.isFile()) {
    throw refusal(file, 'is not a plain file');
  }
  const bytes = await firstBytes(file, stats.size, maxBytes + 1);
  if (bytes.length > maxBytes) {
    throw refusal(
      file,
      `is larger than ${maxBytes / 1024} KiB; move what is not always needed into another file`,
    );
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refusal(file, 'is not UTF-8 text; save it in that encoding');
  }
}

/**
 * Opened without following a link and without waiting for a pipe's writer, in case it was swapped since. Reads into the room
 * that the file needs: at a start a hundred small files are read at once.
 */
async function firstBytes(file: string, size: number, limit: number): Promise<Uint8Array> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    let buffer = Buffer.allocUnsafe(Math.min(size + 1, limit));
    let length = 0;
    for (let read = -1; read !== 0 && length < limit; length += read) {
      if (length === buffer.length) {
        // It has grown since its size was read.
        buffer = Buffer.concat([buffer], limit);
      }
      read = (await handle.read(buffer, length, buffer.length - length, length)).bytesRead;
    }
    return buffer.subarray(0, length);
  } finally {
    await handle.close();
  }
}

const refusal = (file: string, reason: string): SvcError => errors.unreadable({ file, reason });
