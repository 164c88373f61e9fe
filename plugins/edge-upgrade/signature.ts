import { createPublicKey, type KeyObject, verify } from 'node:crypto';

import { errors } from './errors.ts';

/** Prefix of the 32 bytes of an Ed25519 key in SPKI form. */
const spkiHead = Buffer.from('302a300506032b6570032100', 'hex');

/** Parses the setting `upgrade.release_key`; undefined if there is none. */
export const releaseKey = (base64: string): KeyObject | undefined =>
  base64 === ''
    ? undefined
    : createPublicKey({
        key: Buffer.concat([spkiHead, Buffer.from(base64, 'base64')]),
        format: 'der',
        type: 'spki',
      });

/** Ed25519 over the 32 bytes of the digest. */
export function assertSigned(
  key: KeyObject | undefined,
  sha256: string,
  signature: string | undefined,
): void {
  if (!key) {
    return;
  }
  if (signature === undefined) {
    throw errors.unsigned();
  }
  if (!verify(null, Buffer.from(sha256, 'hex'), key, Buffer.from(signature, 'base64'))) {
    throw errors.signature();
  }
}
