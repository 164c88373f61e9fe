import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';

import { messageOf } from 'svc/sdk';

import { errors } from './errors.ts';

/** A key pair as OpenSSH reads it. */
export interface SshKey {
  /** `ssh-ed25519 AAAA…`, without a comment. */
  readonly publicKey: string;
  readonly fingerprint: string;
  /** The text of a key file. */
  readonly privateKey: string;
}

const magic = 'openssh-key-v1\0';
const algorithm = 'ssh-ed25519';
const begin = '-----BEGIN OPENSSH PRIVATE KEY-----';
const end = '-----END OPENSSH PRIVATE KEY-----';

export const makeKey = (comment: string): SshKey =>
  written(partsOf(generateKeyPairSync('ed25519').privateKey), comment);

/** Returns a key that a program of OpenSSH has written. */
export const keyFileOf = (kind: string, blob: Buffer, privateKey: string): SshKey => ({
  publicKey: `${kind} ${blob.toString('base64')}`,
  fingerprint: fingerprintOf(blob),
  privateKey,
});

/**
 * Parses a pasted ed25519 key without a passphrase and rewrites it so that nothing else is kept;
 * undefined for any other key. Throws with the remedy.
 */
export function readPlainKey(text: string, comment: string): SshKey | undefined {
  const plain = text.trim();
  try {
    return written(
      plain.startsWith(begin) ? partsInOpenSsh(plain) : partsOf(privateKeyIn(plain)),
      comment,
    );
  } catch (error) {
    if (error instanceof Other) {
      return undefined;
    }
    const problemOf =
      error instanceof Unusable ? messageOf(error) : 'it is not a private key, or it is damaged';
    throw errors.identity_unusable(
      { problemOf },
      { details: [{ path: '/private_key', message: problemOf }] },
    );
  }
}

export const fingerprintOf = (blob: Uint8Array): string =>
  `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;

interface Parts {
  readonly seed: Uint8Array;
  readonly point: Uint8Array;
}

class Unusable extends Error {}

/** Thrown for a key of another kind, or one with a passphrase. */
class Other extends Error {}

/** Parses PEM; an error of the parser may quote the key, so it stays here. */
function privateKeyIn(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new Other();
  }
}

function partsOf(key: KeyObject): Parts {
  if (key.asymmetricKeyType !== 'ed25519') {
    throw new Other();
  }
  const { d = '', x = '' } = key.export({ format: 'jwk' });
  return { seed: Buffer.from(d, 'base64url'), point: Buffer.from(x, 'base64url') };
}

/** The container of OpenSSH: cipher, key derivation, and the private half between check numbers and padding. */
function partsInOpenSsh(text: string): Parts {
  const body = text.slice(begin.length, text.indexOf(end)).replace(/\s+/g, '');
  const bytes = Buffer.from(body, 'base64');
  if (!text.includes(end) || !bytes.subarray(0, magic.length).equals(Buffer.from(magic))) {
    throw new Unusable('it is cut off or damaged');
  }
  const outer = new Fields(bytes.subarray(magic.length));
  const cipher = outer.text();
  outer.take();
  outer.take();
  if (cipher !== 'none') {
    throw new Other();
  }
  if (outer.number() !== 1) {
    throw new Unusable('the file has more than one key');
  }
  outer.take();
  const inner = new Fields(outer.take());
  if (inner.number() !== inner.number()) {
    throw new Unusable('it is damaged');
  }
  const kind = inner.text();
  if (kind !== algorithm) {
    throw new Other();
  }
  const [point, both] = [inner.take(), inner.take()];
  const parts = { seed: both.subarray(0, 32), point: both.subarray(32) };
  const real = partsOf(
    createPrivateKey({
      key: { kty: 'OKP', crv: 'Ed25519', d: base64url(parts.seed), x: base64url(point) },
      format: 'jwk',
    }),
  );
  if (
    both.length !== 64 ||
    !Buffer.from(real.point).equals(Buffer.from(parts.point)) ||
    !Buffer.from(point).equals(Buffer.from(parts.point))
  ) {
    throw new Unusable('its public and private half do not belong together');
  }
  return parts;
}

function written({ seed, point }: Parts, comment: string): SshKey {
  const blob = Buffer.concat([field(algorithm), field(point)]);
  // Equal numbers show that a passphrase was right; without one any number does.
  const check = createHash('sha256').update(blob).digest().subarray(0, 4);
  const secret = Buffer.concat([
    check,
    check,
    field(algorithm),
    field(point),
    field(Buffer.concat([seed, point])),
    field(comment),
  ]);
  const padding = Buffer.from(
    Array.from({ length: (8 - (secret.length % 8)) % 8 }, (_, i) => i + 1),
  );
  const one = Buffer.from([0, 0, 0, 1]);
  const whole = Buffer.concat([
    Buffer.from(magic),
    field('none'),
    field('none'),
    field(''),
    one,
    field(blob),
    field(Buffer.concat([secret, padding])),
  ]);
  const lines = whole.toString('base64').match(/.{1,70}/g) ?? [];
  return {
    publicKey: `${algorithm} ${blob.toString('base64')}`,
    fingerprint: fingerprintOf(blob),
    privateKey: `${begin}\n${lines.join('\n')}\n${end}\n`,
  };
}

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

function field(content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** Reads what `field` writes. */
class Fields {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes);
  }

  number(): number {
    if (this.#at + 4 > this.#bytes.length) {
      throw new Unusable('it is cut off');
    }
    this.#at += 4;
    return this.#bytes.readUInt32BE(this.#at - 4);
  }

  take(): Buffer {
    const length = this.number();
    if (this.#at + length > this.#bytes.length) {
      throw new Unusable('it is cut off');
    }
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  text(): string {
    return this.take().toString('latin1');
  }
}
