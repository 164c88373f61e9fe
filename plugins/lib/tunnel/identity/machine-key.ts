import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';

/** The key pair of one machine, ed25519. The private half never leaves it. */
export interface MachineKey {
  /** Public key, 32 bytes in base64url: identifies the machine for proofs. */
  readonly publicKey: string;
  /** Signs everything that both sides of a handshake have sent. */
  sign(transcript: Uint8Array): string;
}

/** A signature of this kind is worth nothing anywhere else. */
const purpose = Buffer.from('svc-machine-v1\0');
const publicForm = /^[\w-]{43}$/;
const signatureForm = /^[\w-]{86}$/;

/** PEM of a new pair, to be kept by the machine alone. */
export const makeMachineKey = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;

/** Throws when the text is no PEM of an ed25519 key. */
export function machineKeyOf(pem: string | Buffer): MachineKey {
  const key =
    typeof pem === 'string'
      ? createPrivateKey(pem)
      : createPrivateKey({ key: pem, format: 'der', type: 'pkcs8' });
  const { x } = createPublicKey(key).export({ format: 'jwk' });
  if (key.asymmetricKeyType !== 'ed25519' || x === undefined) {
    throw new TypeError('the key of the machine is not an ed25519 key');
  }
  return {
    publicKey: x,
    sign: (transcript) => sign(null, signed(transcript), key).toString('base64url'),
  };
}

export const isPublicMachineKey = (text: unknown): text is string =>
  typeof text === 'string' && publicForm.test(text) && publicKeyOf(text) !== undefined;

/** Returns whether the holder of this key has signed the transcript. */
export function verifyMachine(
  publicKey: unknown,
  signature: unknown,
  transcript: Uint8Array,
): publicKey is string {
  const key =
    typeof publicKey === 'string' && publicForm.test(publicKey)
      ? publicKeyOf(publicKey)
      : undefined;
  const fits = typeof signature === 'string' && signatureForm.test(signature);
  return (
    key !== undefined &&
    fits &&
    verify(null, signed(transcript), key, Buffer.from(signature, 'base64url'))
  );
}

/** Parses a public key, which has one spelling: the last character has two unused bits. */
function publicKeyOf(text: string): KeyObject | undefined {
  if (Buffer.from(text, 'base64url').toString('base64url') !== text) {
    return undefined;
  }
  try {
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: text }, format: 'jwk' });
  } catch {
    // 32 bytes that are no point of the curve.
    return undefined;
  }
}

const signed = (transcript: Uint8Array): Buffer => Buffer.concat([purpose, transcript]);
