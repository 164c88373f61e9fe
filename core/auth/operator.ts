import { createHash, timingSafeEqual } from 'node:crypto';
import { closeSync, fchmodSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import type { AuthenticatorContract, Credential, Ids } from '../sdk/index.ts';
import { operator } from './principals.ts';

const prefix = 'svc_op_';

export interface OperatorToken {
  readonly token: string;
  readonly file: string;
}

/** A fresh token for this boot, readable by the owner of the key folder only; the previous one is dead from here on. */
export function createOperatorToken(keysDir: string, ids: Ids): OperatorToken {
  mkdirSync(keysDir, { recursive: true, mode: 0o700 });
  const token = prefix + ids.token(32);
  const file = join(keysDir, 'operator.token');
  writeWhole(file, `${token}\n`);
  return { token, file };
}

/** Knows the operator's token and nobody else; sync, so it costs a request no tick. */
export function operatorAuthenticator(token: string): AuthenticatorContract {
  const expected = digest(token);
  return {
    authenticate: ({ scheme, value }: Credential) =>
      scheme === 'bearer' && value.startsWith(prefix) && timingSafeEqual(digest(value), expected) ? operator : undefined,
  };
}

/** Hashed first, because timingSafeEqual throws on unequal lengths. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** By rename: a reader sees the old token or the new one, never half of it, and no earlier file's mode survives. */
function writeWhole(file: string, text: string): void {
  const draft = `${file}.${process.pid}.new`;
  const handle = openSync(draft, 'w', 0o600);
  try {
    fchmodSync(handle, 0o600);
    writeSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(draft, file);
}
