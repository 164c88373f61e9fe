import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import type { ChildOrigin } from './program-file.ts';

/** Returns the file that records it for a pack; deleted with the pack. */
export const idleStartFile = (cacheDir: string, id: string): string =>
  join(cacheDir, 'packs', `${id}.sleeps`);

/**
 * Record of whether a pack may be without a process until its first call: exactly this code has
 * started before, under this program, and has no work of its own. Stored next to the copies of
 * packs; without it, as after the cache was cleared, the pack just starts.
 */
export class IdleStart {
  readonly #file: string;
  readonly #known: string;

  constructor(
    id: string,
    { cacheDir, program }: Pick<ChildOrigin, 'cacheDir' | 'program'>,
    folder: string,
  ) {
    this.#file = idleStartFile(cacheDir, id);
    this.#known = `${basename(folder)} ${createHash('sha256').update(program).digest('hex')}\n`;
  }

  get isKnown(): boolean {
    return existsSync(this.#file) && readFileSync(this.#file, 'utf8') === this.#known;
  }

  remember(isResident: boolean): void {
    if (isResident) {
      rmSync(this.#file, { force: true });
    } else if (!this.isKnown) {
      mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
      writeFileSync(this.#file, this.#known, { mode: 0o600 });
    }
  }
}
