import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

import { errors } from './errors.ts';

export interface PackSignature {
  /** Signature of the archive's sha256, written as text; in base64. */
  readonly signature: string;
  /** Public key in the form for a registry. */
  readonly public_key: string;
  /** The key was made by this. */
  readonly made: boolean;
}

/** Signs the hash of an archive with the key in a file, which is created if missing. */
export const signPack = (sha256: string, keyFile: string): PackSignature =>
  signed(Buffer.from(sha256), keyFile);

/** Signs a version of svc, for its agents and for `svc update`: the 32 bytes of its digest. */
export const signRelease = (sha256: string, keyFile: string): PackSignature =>
  signed(Buffer.from(sha256, 'hex'), keyFile);

function signed(bytes: Buffer, keyFile: string): PackSignature {
  const made = !existsSync(keyFile);
  if (made) {
    const { privateKey } = generateKeyPairSync('ed25519');
    writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), {
      mode: 0o600,
      flag: 'wx',
    });
  }
  const key = keyIn(keyFile);
  const raw = Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x!, 'base64url');
  return {
    signature: sign(null, bytes, key).toString('base64'),
    public_key: `ed25519:${raw.toString('base64')}`,
    made,
  };
}

function keyIn(file: string): KeyObject {
  const key = createPrivateKey(readFileSync(file));
  if (key.asymmetricKeyType !== 'ed25519') {
    throw errors.key_type({ file, type: String(key.asymmetricKeyType) });
  }
  return key;
}
