import { createHash } from 'node:crypto';

const sha = (algorithm: string, ...parts: readonly Buffer[]): Buffer =>
  createHash(algorithm).update(Buffer.concat(parts)).digest();

const mixed = (a: Buffer, b: Buffer): Buffer => a.map((byte, at) => byte ^ b[at]!) as Buffer;

/** Ways to prove that one knows a password, by the name that MySQL gives them. */
const proofs: Readonly<Record<string, (password: Buffer, nonce: Buffer) => Buffer>> = {
  mysql_native_password(password, nonce) {
    const once = sha('sha1', password);
    return mixed(once, sha('sha1', nonce, sha('sha1', once)));
  },
  caching_sha2_password(password, nonce) {
    const once = sha('sha256', password);
    return mixed(once, sha('sha256', sha('sha256', once), nonce));
  },
};

/** Returns the proof for a nonce of the server; undefined for a way that is not known. */
export function proofOf(plugin: string, password: string, nonce: Buffer): Buffer | undefined {
  const proof = Object.hasOwn(proofs, plugin) ? proofs[plugin] : undefined;
  return password === '' && proof !== undefined
    ? Buffer.alloc(0)
    : proof?.(Buffer.from(password), nonce);
}
