import { constants } from 'node:fs';
import { open, rename } from 'node:fs/promises';

import { redactValue } from 'svc/probe';
import type { SkillClass } from 'svc/sdk';

export interface SkillLogLine {
  readonly at: string;
  readonly event: 'begin' | 'end';
  readonly audit_id: string;
  readonly key: string;
  readonly class?: SkillClass | undefined;
  readonly params?: unknown;
  readonly status?: string;
  readonly error?: string | undefined;
  readonly duration_ms?: number;
}

const maxBytes = 4 * 1024 * 1024;
const keptFiles = 4;
const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

/**
 * Log of what was asked of this host, written locally before it is done, whatever the manager
 * keeps; the oldest of five files is deleted when they are full.
 */
export class SkillLog {
  readonly #file: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor(file: string) {
    this.#file = file;
  }

  /**
   * Appends a line and resolves once it is written; `durable`: on the disk, too. Lines are in the
   * order of the calls.
   */
  append(line: SkillLogLine, durable: boolean): Promise<void> {
    const written = this.#last.then(() =>
      this.#append(`${JSON.stringify({ ...line, params: redactValue(line.params) })}\n`, durable),
    );
    this.#last = written.catch(() => undefined);
    return written;
  }

  async #append(text: string, durable: boolean): Promise<void> {
    const file = await open(this.#file, flags, 0o600);
    let size: number;
    try {
      await file.writeFile(text);
      if (durable) {
        await file.datasync();
      }
      ({ size } = await file.stat());
    } finally {
      await file.close();
    }
    if (size >= maxBytes) {
      for (let n = keptFiles - 1; n >= 0; n--) {
        await renameIfThere(n === 0 ? this.#file : `${this.#file}.${n}`, `${this.#file}.${n + 1}`);
      }
    }
  }
}

async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw error;
    }
  }
}
