import { SvcError } from 'svc/sdk';

import { normalEmail } from './email.ts';

/** Counted in characters as people count them; length is the only rule that makes passwords better. */
export const shortestPassword = 10;
export const longestPassword = 256;

export const isTooLong = (password: string): boolean => password.length > 2 * longestPassword || [...password].length > longestPassword;

/** Throws a sentence unless `password` is good enough for the account with this e-mail. */
export function assertGoodPassword(password: string, email: string): void {
  const complaint = isTooLong(password)
    ? `must have at most ${longestPassword} characters`
    : [...password].length < shortestPassword
      ? `must have at least ${shortestPassword} characters`
      : normalEmail(password) === email
        ? 'must not be the e-mail address'
        : undefined;
  if (complaint !== undefined) {
    throw new SvcError('invalid_argument', `password ${complaint}`, { details: [{ path: '/password', message: complaint }] });
  }
}
