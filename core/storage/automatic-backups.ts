import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { timestamp } from '../sdk/index.ts';

export interface AutomaticBackups {
  /** Saves the data as it was at boot; does it once. */
  backUp(): Promise<void>;
  /** The newest of them. */
  last(): string | undefined;
}

export interface AutomaticBackupOptions {
  readonly folder: string;
  readonly appVersion: string;
  readonly now: () => number;
  /** Data that is new in this boot is not worth a copy. */
  readonly needed: boolean;
  readonly backup: (dir: string) => Promise<unknown>;
}

const kept = 3;

/** One backup a boot, before the first migration of data that was there; the last few are kept. */
export function automaticBackups({ folder, appVersion, now, needed, backup }: AutomaticBackupOptions): AutomaticBackups {
  let running: Promise<void> | undefined = needed ? undefined : Promise.resolve();

  const made = (): string[] =>
    existsSync(folder)
      ? readdirSync(folder)
          .filter((name) => /^\d{4}-.*-before-/.test(name))
          .toSorted()
      : [];

  async function make(): Promise<void> {
    await backup(join(folder, `${timestamp(now()).replaceAll(':', '')}-before-${appVersion}`));
    for (const name of made().slice(0, -kept)) {
      rmSync(join(folder, name), { recursive: true });
    }
  }

  return {
    async backUp() {
      running ??= make();
      try {
        await running;
      } catch (error) {
        running = undefined;
        throw error;
      }
    },
    last: () =>
      made()
        .map((name) => join(folder, name))
        .at(-1),
  };
}
