import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { keyFile, readKeys, writeDurably } from '../../../core/storage/index.ts';

const form = /^[\w+/=-]{43,64}$/;

/** Secret keys of a node as lines, oldest first: what its file holds, and what was given to it. */
export const keyLines = (dataDir: string, given: readonly string[] = []): readonly string[] => [
  ...(existsSync(keyFile(dataDir))
    ? readKeys(keyFile(dataDir)).map((key) => key.toString('base64url'))
    : []),
  ...given,
];

/** Writes secret keys that came from another node, whole or not at all; returns false if they are no keys. */
export function keepKeys(dataDir: string, lines: readonly unknown[]): lines is readonly string[] {
  if (
    lines.length === 0 ||
    lines.length > 64 ||
    !lines.every((line) => typeof line === 'string' && form.test(line))
  ) {
    return false;
  }
  mkdirSync(join(dataDir, 'keys'), { recursive: true, mode: 0o700 });
  writeDurably(keyFile(dataDir), lines.map((line) => `${line as string}\n`).join(''), 0o600);
  return true;
}
