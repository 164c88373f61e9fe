import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';

import { errors } from './errors.ts';

/** About 0.3 s and 128 MB a try. */
const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 } as const;
const shortest = 12;
const magic = Buffer.from('svc-key-1\n');

/** The keys of a data folder, so that only a passphrase opens them: such a backup may lie where others can read it. */
export function sealKeys(keys: Buffer, passphrase: string): Buffer {
  if (passphrase.length < shortest) {
    throw errors.passphrase_too_short({ shortest });
  }
  const [salt, nonce] = [randomBytes(16), randomBytes(12)];
  const cipher = createCipheriv('aes-256-gcm', scryptSync(passphrase, salt, 32, cost), nonce);
  const sealed = Buffer.concat([cipher.update(keys), cipher.final()]);
  return Buffer.concat([magic, salt, nonce, cipher.getAuthTag(), sealed]);
}

export function openKeys(file: Buffer, passphrase: string): Buffer {
  const at = magic.length;
  if (!file.subarray(0, at).equals(magic) || file.length < at + 44) {
    throw errors.sealed_key_damaged();
  }
  const key = scryptSync(passphrase, file.subarray(at, at + 16), 32, cost);
  const decipher = createDecipheriv('aes-256-gcm', key, file.subarray(at + 16, at + 28));
  decipher.setAuthTag(file.subarray(at + 28, at + 44));
  try {
    return Buffer.concat([decipher.update(file.subarray(at + 44)), decipher.final()]);
  } catch {
    throw errors.passphrase_wrong();
  }
}
