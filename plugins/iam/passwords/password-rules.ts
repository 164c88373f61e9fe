import { normalEmail } from './email.ts';
import { errors } from './errors.ts';

/**
 * Min length, counted in characters as people count them; length is the only rule that improves
 * passwords.
 */
export const shortestPassword = 10;
export const longestPassword = 256;

const charactersIn = (text: string): number => Array.from(text).length;

export const isTooLong = (password: string): boolean =>
  password.length > 2 * longestPassword || charactersIn(password) > longestPassword;

/** Throws a sentence unless `password` is good enough for the account with this e-mail. */
export function assertGoodPassword(password: string, email: string): void {
  const complaint = isTooLong(password)
    ? `must have at most ${longestPassword} characters`
    : charactersIn(password) < shortestPassword
      ? `must have at least ${shortestPassword} characters`
      : normalEmail(password) === email
        ? 'must not be the e-mail address'
        : undefined;
  if (complaint !== undefined) {
    throw errors.password({ complaint }, { details: [{ path: '/password', message: complaint }] });
  }
}
