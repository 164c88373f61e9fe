import { createHash, timingSafeEqual } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import type { AuthenticatorContract, Credential, Ids, Principal } from '../sdk/index.ts';
import { operator } from './principals.ts';

const prefix = 'svc_op_';

export interface OperatorToken {
  readonly token: string;
  readonly file: string;
}

/** A fresh token for this boot; the previous one is dead from here on. `write` replaces a file in one step, for its owner's eyes only. */
export function createOperatorToken(
  keysDir: string,
  ids: Ids,
  write: (file: string, text: string) => void,
): OperatorToken {
  mkdirSync(keysDir, { recursive: true, mode: 0o700 });
  const token = prefix + ids.token(32);
  const file = join(keysDir, 'operator.token');
  // A reader sees the old token or the new one, never half of it, and no earlier file's mode survives.
  write(file, `${token}\n`);
  return { token, file };
}

/** Knows the operator's token and no other; sync, so it costs a request no tick. */
export class OperatorAuthenticator implements AuthenticatorContract {
  readonly #expected: Buffer;

  constructor(token: string) {
    this.#expected = digest(token);
  }

  authenticate({ scheme, value }: Credential): Principal | undefined {
    return scheme === 'bearer' &&
      value.startsWith(prefix) &&
      timingSafeEqual(digest(value), this.#expected)
      ? operator
      : undefined;
  }
}

/** Hashed first, because timingSafeEqual throws on unequal lengths. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
