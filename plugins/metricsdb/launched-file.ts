import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Launched } from './settings.ts';

const fileOf = (folder: string): string => join(folder, 'launched.json');

/** What was launched last; nothing when the file is missing or says nothing that can be used. */
export function readLaunched(folder: string): Launched {
  try {
    const { driver, retention } = JSON.parse(readFileSync(fileOf(folder), 'utf8')) as Record<string, unknown>;
    return {
      ...((driver === 'embedded' || driver === 'process' || driver === 'remote') && { driver }),
      ...(typeof retention === 'string' && /^[1-9]\d{0,3}[ywdh]$/.test(retention) && { retention }),
    };
  } catch {
    // Nothing was ever launched, or the file was damaged: the settings alone count then.
    return {};
  }
}

export function writeLaunched(folder: string, launched: Launched): void {
  const draft = `${fileOf(folder)}.new`;
  writeFileSync(draft, JSON.stringify(launched), { mode: 0o600 });
  renameSync(draft, fileOf(folder));
}
