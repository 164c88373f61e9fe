import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Logger } from '../../../../core/sdk/index.ts';

/** A folder that is gone after the test. */
export function folderOf(t: { after(step: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-telemetry-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Keeps what was said, as `level: message`. */
export function listener(): Logger & { readonly said: string[] } {
  const said: string[] = [];
  const at =
    (level: string) =>
    (_fields: object, message: string): void =>
      void said.push(`${level}: ${message}`);
  return { said, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
