import { createDecipheriv, createHash, createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Returns whether two secrets are equal, in a time that reveals nothing about either, not even its
 * length.
 */
export const sameSecret = (given: string, own: string): boolean =>
  timingSafeEqual(
    createHash('sha256').update(given).digest(),
    createHash('sha256').update(own).digest(),
  );

export const signed = (
  key: string,
  text: string | Uint8Array,
  encoding: 'hex' | 'base64',
): string => createHmac('sha256', key).update(text).digest(encoding);

export const sha256Hex = (...parts: readonly (string | Uint8Array)[]): string =>
  hashed('sha256', parts);

export const sha1Hex = (...parts: readonly (string | Uint8Array)[]): string =>
  hashed('sha1', parts);

const windowMs = 5 * 60_000;

/**
 * Returns whether a platform's time is within five minutes of ours, on either side; false for an
 * invalid time.
 */
export function isFresh(ms: number, now: number, within = windowMs): boolean {
  return Number.isFinite(ms) && Math.abs(now - ms) <= within;
}

/**
 * AES-256-CBC with PKCS#7 to blocks of `blockBytes`; undefined for anything that is not what the key has sealed.
 * Padding is checked only behind a signature or together with a token, so that it tells no stranger anything.
 */
export function opened(
  key: Uint8Array,
  iv: Uint8Array,
  sealed: Uint8Array,
  blockBytes: 16 | 32 = 16,
): Buffer | undefined {
  if (key.length !== 32 || iv.length !== 16 || sealed.length === 0 || sealed.length % 16 !== 0) {
    return undefined;
  }
  const decipher = createDecipheriv('aes-256-cbc', key, iv).setAutoPadding(false);
  const plain = Buffer.concat([decipher.update(sealed), decipher.final()]);
  const padding = plain[plain.length - 1]!;
  const isPadded =
    padding >= 1 &&
    padding <= blockBytes &&
    padding <= plain.length &&
    plain.subarray(-padding).every((byte) => byte === padding);
  return isPadded ? plain.subarray(0, plain.length - padding) : undefined;
}

function hashed(algorithm: 'sha1' | 'sha256', parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash(algorithm);
  parts.forEach((part) => hash.update(part));
  return hash.digest('hex');
}

const keptMs = 11 * 60_000;
const maxKept = 20_000;

/**
 * Proofs seen with their message, while fresh: the same message may be repeated with it, another
 * may not.
 */
export class ProofsSeen {
  /** Oldest first. */
  readonly #seen = new Map<string, { readonly content: string; readonly at: number }>();

  /** Returns whether the proof was not used for different content before. */
  isFirst(proof: string, content: string, now: number): boolean {
    this.#forget(now);
    const earlier = this.#seen.get(proof);
    if (earlier !== undefined) {
      return earlier.content === content;
    }
    this.#seen.set(proof, { content, at: now });
    return true;
  }

  /**
   * Drops expired proofs; also the oldest, if there are too many: whoever has that many proofs has
   * the secret.
   */
  #forget(now: number): void {
    for (const [proof, { at }] of this.#seen) {
      if (now - at < keptMs && this.#seen.size < maxKept) {
        return;
      }
      this.#seen.delete(proof);
    }
  }
}
