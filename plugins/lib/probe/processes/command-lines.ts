import { open } from 'node:fs/promises';

import type { MachineFiles } from '../machine/machine-files.ts';
import { type After, SlowCalls } from '../machine/slow-calls.ts';

const longest = 16 * 1024;
const deadlineMs = 1_000;

/** Reads the first bytes of a file, up to `most`. */
export type ReadStart = (path: string, most: number) => Promise<Buffer>;

/**
 * Arguments of processes, which are in the memory of each: reading them may block for as long as
 * that memory is locked, so it happens in the background, one at a time, and a process that does
 * not respond is left alone until it does.
 */
export class CommandLines {
  readonly #files: MachineFiles;
  readonly #calls: SlowCalls;
  readonly #read: ReadStart;

  constructor(files: MachineFiles, after: After, read: ReadStart = readStart) {
    this.#files = files;
    this.#calls = new SlowCalls({ slots: 1, deadlineMs, after });
    this.#read = read;
  }

  /**
   * Returns the arguments; none for kernel threads, dead processes, and those that ended meanwhile.
   */
  async of(pid: number): Promise<readonly string[]> {
    const outcome = await this.#calls.run(String(pid), () =>
      this.#read(this.#files.path(`/proc/${pid}/cmdline`), longest),
    );
    if (outcome.state !== 'done' || outcome.value.length === 0) {
      return [];
    }
    const args = outcome.value.toString('utf8').replace(/\0+$/, '').split('\0');
    // A secret that was cut in two has no shape any more.
    return outcome.value.length < longest ? args : [...args.slice(0, -1), '…'];
  }
}

async function readStart(path: string, most: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(most), 0, most, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
