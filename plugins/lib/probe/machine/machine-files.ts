import {
  closeSync,
  openSync,
  opendirSync,
  readdirSync,
  readlinkSync,
  readSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';

/**
 * Error codes of files that do not exist, may not be read, or disappeared meanwhile (a process that
 * ended, a removed device).
 */
export const absentCodes: ReadonlySet<string> = new Set([
  'ENOENT',
  'ENOTDIR',
  'EACCES',
  'EPERM',
  'ESRCH',
  'EINVAL',
  'ENODEV',
  'ENXIO',
  'EIO',
  'EOPNOTSUPP',
  'ENOTSUP',
  'EISDIR',
]);

const largest = 8 * 1024 * 1024;

/**
 * Small files of the kernel, read at once: they come from memory, and a round through the thread pool costs more than the reading.
 * Not for anything that a disk, a network or the memory of another process can hold up.
 */
export class MachineFiles {
  readonly root: string;
  #bytes = Buffer.allocUnsafe(16 * 1024);

  constructor(root = '/') {
    this.root = root;
  }

  path(path: string): string {
    return this.root === '/' ? path : join(this.root, path);
  }

  /**
   * Reads a file as text; undefined if it is absent; throws if that is unknown, as when file
   * descriptors run out.
   */
  text(path: string, maxBytes = largest): string | undefined {
    const size = this.#read(path, maxBytes);
    return size === undefined ? undefined : this.#bytes.toString('utf8', 0, size);
  }

  /** Reads a file as it is, into separate memory. */
  bytes(path: string, maxBytes = largest): Uint8Array | undefined {
    const size = this.#read(path, maxBytes);
    return size === undefined ? undefined : Uint8Array.prototype.slice.call(this.#bytes, 0, size);
  }

  /** Returns the first word as a number; undefined if there is none. */
  number(path: string): number | undefined {
    const text = this.text(path, 256)?.trim();
    const value = text === undefined || text === '' ? NaN : Number(text.split(/\s/, 1)[0]);
    return Number.isFinite(value) ? value : undefined;
  }

  names(path: string): string[] | undefined {
    return present(() => readdirSync(this.path(path)));
  }

  /** Counts the entries of a folder without keeping names; returns `most` if there are more. */
  count(path: string, most: number): number | undefined {
    return present(() => {
      const folder = opendirSync(this.path(path), { bufferSize: 256 });
      try {
        let count = 0;
        while (count < most && folder.readSync() !== null) {
          count++;
        }
        return count;
      } finally {
        folder.closeSync();
      }
    });
  }

  size(path: string): number | undefined {
    return present(() => statSync(this.path(path)).size);
  }

  link(path: string): string | undefined {
    return present(() => readlinkSync(this.path(path)));
  }

  /** Reads up to `maxBytes` into the memory that is used again; a file of /proc has no size before it is read. */
  #read(path: string, maxBytes: number): number | undefined {
    return present(() => {
      const file = openSync(this.path(path), 'r');
      try {
        let size = 0;
        for (;;) {
          const room = Math.min(this.#bytes.length, maxBytes) - size;
          if (room <= 0) {
            if (size >= maxBytes) {
              return size;
            }
            const grown = Buffer.allocUnsafe(this.#bytes.length * 2);
            this.#bytes.copy(grown, 0, 0, size);
            this.#bytes = grown;
            continue;
          }
          const got = readSync(file, this.#bytes, size, room, null);
          if (got === 0) {
            return size;
          }
          size += got;
        }
      } finally {
        closeSync(file);
      }
    });
  }
}

function present<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (absentCodes.has((error as NodeJS.ErrnoException).code ?? '')) {
      return undefined;
    }
    throw error;
  }
}
