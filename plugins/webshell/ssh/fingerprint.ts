import { createHash } from 'node:crypto';

export interface HostKey {
  readonly algorithm: string;
  /** Fingerprint as ssh-keygen shows it: `SHA256:…`. */
  readonly fingerprint: string;
}

/** Reads the name at the beginning of a key as it came from the network. */
export function hostKeyOf(blob: Buffer): HostKey {
  const length = blob.length >= 4 ? blob.readUInt32BE(0) : 0;
  const algorithm = blob
    .toString('latin1', 4, 4 + Math.min(length, 64))
    .replaceAll(/[^\w@.-]/g, '?');
  return {
    algorithm,
    fingerprint: `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`,
  };
}

const signatures: Readonly<Record<string, readonly string[]>> = {
  'ssh-rsa': ['rsa-sha2-512', 'rsa-sha2-256'],
};
const accepted = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
];

/** Asks for the known kind of key first: a server that has got another kind besides is no stranger. */
export function hostKeyAlgorithms(known: HostKey | undefined): readonly string[] {
  const first =
    known === undefined
      ? []
      : (signatures[known.algorithm] ?? [known.algorithm]).filter((name) =>
          accepted.includes(name),
        );
  return [...first, ...accepted.filter((name) => !first.includes(name))];
}
