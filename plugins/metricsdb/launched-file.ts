import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Launched } from './settings.ts';

/** Keeps what was launched last over a restart. */
export class LaunchedFile {
  readonly #path: string;

  constructor(folder: string) {
    this.#path = join(folder, 'launched.json');
  }

  /** Nothing when the file is missing or says nothing that can be used. */
  read(): Launched {
    try {
      const { driver, retention } = JSON.parse(readFileSync(this.#path, 'utf8')) as Record<string, unknown>;
      return {
        ...((driver === 'embedded' || driver === 'process' || driver === 'remote') && { driver }),
        ...(typeof retention === 'string' && /^[1-9]\d{0,3}[ywdh]$/.test(retention) && { retention }),
      };
    } catch {
      // Nothing was ever launched, or the file was damaged: the settings alone count then.
      return {};
    }
  }

  write(launched: Launched): void {
    const draft = `${this.#path}.new`;
    writeFileSync(draft, JSON.stringify(launched), { mode: 0o600 });
    renameSync(draft, this.#path);
  }
}
