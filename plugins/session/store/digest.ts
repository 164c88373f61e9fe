import { createHash } from 'node:crypto';

/**
 * Returns the digest stored for a random secret: enough to recognize it, useless to whoever reads
 * the table.
 */
export const digest = (secret: string): string =>
  createHash('sha256').update(secret).digest('base64url');
