import { createPublicKey, type KeyObject, verify } from 'node:crypto';

import { errors } from './errors.ts';

/** The points of small order by their y, without the sign; other spellings of them, beyond the prime, are refused as a whole. */
const smallOrder: ReadonlySet<string> = new Set([
  '00'.repeat(32),
  `01${'00'.repeat(31)}`,
  `ec${'ff'.repeat(30)}7f`,
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
]);

function isOfSmallOrder(key: Buffer): boolean {
  const y = Buffer.from(key);
  y[31]! &= 0x7f;
  const isBeyondPrime =
    y[0]! >= 0xed && y[31] === 0x7f && y.subarray(1, 31).every((byte) => byte === 0xff);
  return isBeyondPrime || smallOrder.has(y.toString('hex'));
}

/** `ed25519:` and the 32 bytes of the key in base64. */
export function publicKeyOf(text: string): KeyObject {
  const raw = /^ed25519:([A-Za-z0-9+/]{43}=)$/.exec(text)?.[1];
  if (raw === undefined) {
    throw errors.key_form();
  }
  if (isOfSmallOrder(Buffer.from(raw, 'base64'))) {
    throw errors.key_weak();
  }
  return createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(raw, 'base64').toString('base64url') },
    format: 'jwk',
  });
}

/** Returns whether the key of a registry has signed this hash, written as text. */
export function isSigned(key: string, sha256: string, signature: string | undefined): boolean {
  return (
    signature !== undefined &&
    /^[A-Za-z0-9+/]{86}==$/.test(signature) &&
    verify(null, Buffer.from(sha256), publicKeyOf(key), Buffer.from(signature, 'base64'))
  );
}
