import { createHash } from 'node:crypto';

/** What is kept of a secret that is random itself: enough to recognise it, useless to whoever reads the table. */
export const digest = (secret: string): string =>
  createHash('sha256').update(secret).digest('base64url');
