import { randomBytes } from 'node:crypto';
import { execFile } from 'node:child_process';
import { rmSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { promisify } from 'node:util';

const mebibyte = 1024 * 1024;
/** An allocation takes milliseconds; a disk that hangs must not keep the next look waiting for ever. */
const allocationMs = 10_000;

/** Reserve of disk space that a file occupies, to be released when there is none left. */
export class Reserve {
  readonly #file: string;
  readonly #bytes: number;
  #refused = false;

  constructor(file: string, bytes: number) {
    this.#file = file;
    this.#bytes = bytes;
  }

  /**
   * Allocates the space without writing it; returns whether that worked. Node has no call for that,
   * a program does: without the program or a suitable file system it returns false, is not tried
   * again, and the space can only be written.
   */
  async allocate(): Promise<boolean> {
    if (this.#refused || this.#isLaid()) {
      return this.#isLaid();
    }
    try {
      await (await open(this.#file, 'a', 0o600)).close();
      await promisify(execFile)('fallocate', ['-l', String(this.#bytes), this.#file], {
        timeout: allocationMs,
      });
    } catch {
      // Not distinguished from a full disk here: writing the space then fails with that error.
      this.#refused = true;
      this.giveUp();
    }
    return this.#isLaid();
  }

  /**
   * Writes the space, as long as it is wanted; returns whether all of it was written. Random bytes,
   * because a compressing file system would store zeros in no space.
   */
  async write(wanted: () => boolean): Promise<boolean> {
    let handle: FileHandle | undefined;
    try {
      handle = await open(this.#file, 'a', 0o600);
      let { size } = await handle.stat();
      const chunk = randomBytes(Math.min(this.#bytes, mebibyte));
      while (size < this.#bytes && wanted()) {
        const length = Math.min(chunk.length, this.#bytes - size);
        size += (await handle.write(chunk, 0, length)).bytesWritten;
      }
      await handle.sync();
      return size >= this.#bytes;
    } catch (error) {
      this.giveUp();
      throw error;
    } finally {
      await handle?.close();
    }
  }

  giveUp(): void {
    rmSync(this.#file, { force: true });
  }

  #isLaid(): boolean {
    const { size = 0 } = statSync(this.#file, { throwIfNoEntry: false }) ?? {};
    return size >= this.#bytes;
  }
}
