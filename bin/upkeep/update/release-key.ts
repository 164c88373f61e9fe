import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { isSea } from 'node:sea';

import { writeDurably } from '../../../core/storage/index.ts';
import { errors } from './errors.ts';

/** Prefix of the 32 bytes of an Ed25519 key in SPKI form. */
const spkiHead = Buffer.from('302a300506032b6570032100', 'hex');
const form = /^(?:ed25519:)?([A-Za-z0-9+/]{43}=)$/;

/**
 * Parses a key as `svc pack sign` and `npm run build -- --sign` show it, with or without the word
 * before it.
 */
export function publicKey(text: string): KeyObject {
  const [, base64] = form.exec(text.trim()) ?? [];
  if (base64 === undefined) {
    throw errors.key_form();
  }
  return createPublicKey({
    key: Buffer.concat([spkiHead, Buffer.from(base64, 'base64')]),
    format: 'der',
    type: 'spki',
  });
}

/**
 * Returns the key that the next version must be signed with: the one stored next to the program
 * since the first update, or the one built into the program. Any other is refused, so that only a
 * change of that file changes whom this machine trusts.
 */
export async function trustedKey(
  keptIn: string,
  given: string | undefined,
): Promise<string | undefined> {
  const kept = existsSync(keptIn) ? readFileSync(keptIn, 'utf8').trim() : await builtInKey();
  if (given === undefined || kept === undefined) {
    return given ?? kept;
  }
  if (!publicKey(given).equals(publicKey(kept))) {
    throw errors.key_differs({ kept, keptIn });
  }
  return kept;
}

/**
 * Stores the key next to the program from the first update on; a version that it has signed may
 * name its successor.
 */
export function keepKey(keptIn: string, key: string, next: string | undefined): void {
  const kept = existsSync(keptIn) ? readFileSync(keptIn, 'utf8').trim() : undefined;
  const wanted =
    next === undefined || publicKey(next).equals(publicKey(key)) ? (kept ?? key) : next;
  if (kept !== wanted) {
    writeDurably(keptIn, `${wanted}\n`, 0o644);
  }
}

/** The one that this program was built with. */
export async function builtInKey(): Promise<string | undefined> {
  return isSea() ? (await import('../../product/unpacked.ts')).contents().releaseKey : undefined;
}

/** Ed25519 over the 32 bytes of the digest, as the packages of agents are signed. */
export function assertSigned(
  key: string,
  sha256: string,
  signature: string | undefined,
  name: string,
): void {
  if (signature === undefined) {
    throw errors.signature_missing({ name });
  }
  if (!verify(null, Buffer.from(sha256, 'hex'), publicKey(key), Buffer.from(signature, 'base64'))) {
    throw errors.signature_wrong({ name, key });
  }
}
