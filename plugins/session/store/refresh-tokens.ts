import type { Ids } from 'svc/sdk';

import { digest } from './digest.ts';

/**
 * A refresh token is a part that all tokens of its session share, and a part of its own. Only digests of the whole and of
 * the shared part are kept; the latter recognises every token that was ever given out for a session, without a row for each.
 */
export interface RefreshToken {
  readonly text: string;
  readonly hash: string;
  readonly family: string;
}

const form = /^svc_rt_([\w-]{43})[\w-]{43}$/;

/** The next token of the session that `previous` belongs to; the first of one without it. */
export function nextRefreshToken(ids: Ids, previous?: string): RefreshToken {
  // One from before tokens had a shared part begins with it now.
  const shared = (previous && sharedPart(previous)) ?? ids.token(32);
  const text = `svc_rt_${shared}${ids.token(32)}`;
  return { text, hash: digest(text), family: digest(shared) };
}

/** Digest of the part that a token shares with the others of its session. */
export function familyOf(token: string): string | undefined {
  const shared = sharedPart(token);
  return shared === undefined ? undefined : digest(shared);
}

const sharedPart = (token: string): string | undefined => form.exec(token)?.[1];
