import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

import type { Ids } from 'svc/sdk';

import { errors } from './errors.ts';

/**
 * Keys that the manager stores for a secret. Neither of the two lets its holder pose as the edge.
 */
export interface StoredKeys {
  /** SHA-256 of the client key; verifies proofs. base64url. */
  readonly stored_key: string;
  /** Proves the manager to the edge; sealed at rest. base64url. */
  readonly server_key: string;
}

export interface Credentials extends StoredKeys {
  readonly access_key: string;
  /** Shown once, kept by the edge alone. */
  readonly secret_key: string;
}

const accessPrefix = 'svc_ak_';
const secretPrefix = 'svc_sk_';

/** 256 random bits: no dictionary has them, so one round of hashing is enough. */
export function makeCredentials(ids: Pick<Ids, 'token'>): Credentials {
  const secret_key = secretPrefix + ids.token(32);
  return { access_key: accessPrefix + ids.token(15), secret_key, ...keysOf(secret_key) };
}

/** Throws invalid_argument when the text is no secret key. */
export function keysOf(secretKey: string): StoredKeys {
  const secret = readSecret(secretKey);
  if (!secret) {
    throw errors.secret_key_form({ secretPrefix, count: secretPrefix.length + 43 });
  }
  const { clientKey, serverKey } = derive(secret);
  return {
    stored_key: sha256(clientKey).toString('base64url'),
    server_key: serverKey.toString('base64url'),
  };
}

/** Verifies the secret itself, as sent over HTTP Basic. */
export function verifySecret(secretKey: string, storedKey: string): boolean {
  const secret = readSecret(secretKey);
  const stored = Buffer.from(storedKey, 'base64url');
  // The same work for a text that is no secret.
  const clientKey = clientKeyOf(secret ?? noSecret);
  return stored.length === 32 && timingSafeEqual(sha256(clientKey), stored) && secret !== undefined;
}

const noSecret = Buffer.alloc(32);

/** Parses a secret. It has one spelling: the last of its 43 characters has two unused bits. */
export function readSecret(secretKey: string): Buffer | undefined {
  const secret = /^svc_sk_[\w-]{43}$/.test(secretKey)
    ? Buffer.from(secretKey.slice(secretPrefix.length), 'base64url')
    : undefined;
  return secret?.toString('base64url') === secretKey.slice(secretPrefix.length)
    ? secret
    : undefined;
}

export const derive = (secret: Uint8Array): { clientKey: Buffer; serverKey: Buffer } => ({
  clientKey: clientKeyOf(secret),
  serverKey: hmac(secret, 'edge server key v1'),
});

const clientKeyOf = (secret: Uint8Array): Buffer => hmac(secret, 'edge client key v1');

export const sha256 = (bytes: Uint8Array | string): Buffer =>
  createHash('sha256').update(bytes).digest();
export const hmac = (key: Uint8Array, text: Uint8Array | string): Buffer =>
  createHmac('sha256', key).update(text).digest();
