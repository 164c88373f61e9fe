import type { Call } from 'svc/sdk';

import { digest } from '../store/digest.ts';

/** Origin of a request, as far as it is known. */
export interface Client {
  readonly ip: string;
  readonly userAgent: string;
}

const longestUserAgent = 256;

export const clientOf = ({ ip, headers }: Call): Client => ({
  ip,
  userAgent: (headers['user-agent'] ?? '').slice(0, longestUserAgent),
});

/** Tells the client that spent a refresh token from one that found it. */
export const fingerprint = ({ ip, userAgent }: Client): string =>
  digest(JSON.stringify([ip, userAgent]));
