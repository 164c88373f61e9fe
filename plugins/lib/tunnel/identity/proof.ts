import { timingSafeEqual } from 'node:crypto';

import { derive, hmac, sha256, type StoredKeys } from './credentials.ts';

/** Everything both sides have sent, so that a proof is valid nowhere else. */
export interface Transcript {
  readonly accessKey: string;
  readonly clientNonce: string;
  readonly serverNonce: string;
  /** Messages as sent, byte for byte. */
  readonly hello: Uint8Array;
  readonly challenge: Uint8Array;
  readonly state: string;
  readonly channelBinding: string;
}

export function transcriptBytes(transcript: Transcript): Buffer {
  const parts = [
    Buffer.from(transcript.accessKey),
    Buffer.from(transcript.clientNonce),
    Buffer.from(transcript.serverNonce),
    sha256(transcript.hello),
    sha256(transcript.challenge),
    sha256(transcript.state),
    Buffer.from(transcript.channelBinding),
  ];
  return Buffer.concat([
    Buffer.from('svc-edge-v1'),
    ...parts.flatMap((part) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(part.length);
      return [length, part];
    }),
  ]);
}

/** The edge's proof, and what the manager will have to answer. */
export function proveEdge(
  secret: Uint8Array,
  transcript: Buffer,
): { readonly proof: Buffer; readonly expected: Buffer } {
  const { clientKey, serverKey } = derive(secret);
  return {
    proof: xor(clientKey, hmac(sha256(clientKey), transcript)),
    expected: hmac(serverKey, transcript),
  };
}

const maxKeys = 2;
const nobody: StoredKeys = {
  stored_key: sha256('no edge has this key').toString('base64url'),
  server_key: '',
};

/** The keys that the proof belongs to. It takes the same work whether there are any. */
export function verifyProof<K extends StoredKeys>(
  keys: readonly K[],
  proof: Uint8Array,
  transcript: Buffer,
): K | undefined {
  let proved: K | undefined;
  for (let at = 0; at < maxKeys; at += 1) {
    const stored = Buffer.from((keys[at] ?? nobody).stored_key, 'base64url');
    const clientKey = xor(proof, hmac(stored, transcript));
    if (
      stored.length === 32 &&
      timingSafeEqual(sha256(clientKey), stored) &&
      keys[at] !== undefined
    ) {
      proved ??= keys[at];
    }
  }
  return proved;
}

export const proveManager = ({ server_key }: StoredKeys, transcript: Buffer): Buffer =>
  hmac(Buffer.from(server_key, 'base64url'), transcript);

function xor(a: Uint8Array, b: Uint8Array): Buffer {
  const result = Buffer.alloc(b.length);
  for (let at = 0; at < b.length; at += 1) {
    result[at] = (a[at] ?? 0) ^ b[at]!;
  }
  return result;
}
