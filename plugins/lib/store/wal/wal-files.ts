import { type FileHandle, open, rename, rm, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';

/** File operations of the log, replaceable by tests that simulate a full disk or a kill. */
export interface WalFiles {
  /** A new file, whose name survives a power cut when this resolves. */
  create(path: string): Promise<WalFile>;
  /** Writes a whole file; after a kill or a power cut it is the old one or the new one. */
  replace(path: string, content: Uint8Array): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Frees the space of a file that keeps its name. */
  empty(path: string): Promise<void>;
  remove(path: string): Promise<void>;
}

export interface WalFile {
  /** All of it or an error; without a copy. */
  write(parts: readonly Uint8Array[], position: number): Promise<void>;
  /** Syncs the file: what was written survives a power cut when this resolves. */
  sync(): Promise<void>;
  truncate(size: number): Promise<void>;
  close(): Promise<void>;
}

/** Second place of the list of segments, which is not deleted together with the first. */
export interface ListCopy {
  read(): Uint8Array | undefined;
  write(list: Uint8Array): void;
}

export const nodeFiles: WalFiles = {
  async create(path) {
    const handle = await open(path, 'wx', 0o600);
    try {
      await syncFolder(dirname(path));
    } catch (error) {
      await handle.close();
      throw error;
    }
    return walFile(handle);
  },
  async replace(path, content) {
    const draft = `${path}.tmp`;
    const handle = await open(draft, 'w', 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, path);
    await syncFolder(dirname(path));
  },
  rename,
  empty: (path) => truncate(path),
  remove: (path) => rm(path, { force: true }),
};

/** Makes the names in a folder survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Returns the short path of a store, for people who need not know where the data folder is. */
export const placeOf = (folder: string): string => folder.split(/[\\/]/).slice(-2).join('/');

/** Max vectors that the kernel accepts at once. */
const maxVectors = 1_000;

function walFile(handle: FileHandle): WalFile {
  return {
    async write(parts, position) {
      let at = position;
      for (let i = 0; i < parts.length; i += maxVectors) {
        at += await writeAll(
          handle,
          parts.length > maxVectors ? parts.slice(i, i + maxVectors) : parts,
          at,
        );
      }
    },
    sync: () => handle.datasync(),
    truncate: async (size) => {
      await handle.truncate(size);
      await handle.sync();
    },
    close: () => handle.close(),
  };
}

async function writeAll(
  handle: FileHandle,
  parts: readonly Uint8Array[],
  position: number,
): Promise<number> {
  const total = sizeOf(parts);
  let { bytesWritten: written } = await handle.writev(parts, position);
  // A short write indicates a disk that is almost full: the next one fails, or continues.
  while (written < total) {
    const rest = behind(parts, written);
    const { bytesWritten } = await handle.writev(rest, position + written);
    if (bytesWritten === 0) {
      throw Object.assign(new Error('the file takes no more bytes'), { code: 'ENOSPC' });
    }
    written += bytesWritten;
  }
  return total;
}

export function sizeOf(parts: readonly Uint8Array[]): number {
  let total = 0;
  for (const part of parts) {
    total += part.length;
  }
  return total;
}

function behind(parts: readonly Uint8Array[], skip: number): Uint8Array[] {
  const rest: Uint8Array[] = [];
  let before = 0;
  for (const part of parts) {
    if (before + part.length > skip) {
      rest.push(before >= skip ? part : part.subarray(skip - before));
    }
    before += part.length;
  }
  return rest;
}
