import { createCipheriv, createDecipheriv, type KeyObject, randomFillSync } from 'node:crypto';

const nonceBytes = 12;
const tagBytes = 16;

/** Drawn in bulk: asking the system for twelve bytes costs as much as sealing with them. Each byte is used once. */
const pool = Buffer.alloc(nonceBytes * 256);
let drawn = pool.length;

/** Encrypts `text` so that it opens only with the same key and the same `purpose`. */
export function seal(key: KeyObject, purpose: string, text: string): string {
  const nonce = freshNonce();
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(purpose));
  return Buffer.concat([
    nonce,
    cipher.update(text, 'utf8'),
    cipher.final(),
    cipher.getAuthTag(),
  ]).toString('base64url');
}

function freshNonce(): Buffer {
  if (drawn === pool.length) {
    randomFillSync(pool);
    drawn = 0;
  }
  drawn += nonceBytes;
  return Buffer.from(pool.subarray(drawn - nonceBytes, drawn));
}

/** The text again, or `undefined` when it was tampered with, sealed for another purpose or by another key. */
export function unseal(key: KeyObject, purpose: string, sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length < nonceBytes + tagBytes) {
    return undefined;
  }
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(-tagBytes));
  try {
    return (
      decipher.update(bytes.subarray(nonceBytes, -tagBytes), undefined, 'utf8') +
      decipher.final('utf8')
    );
  } catch {
    // A wrong tag is the ordinary answer to a forged text, not a fault.
    return undefined;
  }
}
