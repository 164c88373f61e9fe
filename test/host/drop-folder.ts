import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

import type { Logger } from '../../core/sdk/index.ts';

/** A folder of its own for one test, gone afterwards; `write` makes the folders on the way. */
export function dropFolder(t: TestContext): {
  readonly path: string;
  at(...names: string[]): string;
  write(name: string, content: string | Uint8Array): string;
} {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'svc-drop-')));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  const at = (...names: string[]): string => join(path, ...names);
  return {
    path,
    at,
    write(name, content) {
      mkdirSync(dirname(at(name)), { recursive: true });
      writeFileSync(at(name), content);
      return at(name);
    },
  };
}

export const persona = (name: string, description = 'a test agent', more = ''): string =>
  `---\nname: ${name}\ndescription: ${description}\nwhen_to_use: in tests\n${more}---\nYou are ${name}.\n`;

export const skill = (name: string, description = 'teaches a test'): string =>
  `---\nname: ${name}\ndescription: ${description}\n---\n# ${name}\n`;

/**
 * Waits for the promised effect: a change shows within a second; a loaded test machine gets two.
 */
export async function shows(what: string, isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + 2_000;
  while (!isSo()) {
    if (performance.now() > deadline) {
      throw new Error(`after two seconds still not: ${what}`);
    }
    await delay(10);
  }
}

/** Keeps what is said, for tests that care. */
export function listening(): Logger & { readonly lines: string[] } {
  const lines: string[] = [];
  const keep =
    (level: string) =>
    (_fields: object, message: string): void =>
      void lines.push(`${level}: ${message}`);
  return {
    lines,
    debug: keep('debug'),
    info: keep('info'),
    warn: keep('warn'),
    error: keep('error'),
  };
}
