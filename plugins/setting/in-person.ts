import { type Principal, SvcError } from 'svc/sdk';

const recentMs = 5 * 60_000;

/**
 * Whoever finds a token, or a browser that somebody left open, must not find the secrets too: only somebody who signed in
 * just now is let through. The operator reads the key folder anyway.
 */
export function assertInPerson({ kind, authenticatedAt }: Principal, now: number): void {
  if (kind === 'operator') {
    return;
  }
  if (kind !== 'user') {
    throw new SvcError('forbidden', 'secrets are revealed to people only, not to API tokens: sign in with your password for that');
  }
  // A clock that was set back must not make an old sign-in a new one.
  if (authenticatedAt === undefined || Math.abs(now - authenticatedAt) > recentMs) {
    throw new SvcError('forbidden', 'revealing a secret takes a sign-in that is at most 5 minutes old: sign in again with your password, then ask once more');
  }
}
