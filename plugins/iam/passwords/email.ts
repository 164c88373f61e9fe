import { errors } from './errors.ts';

const shape = /^[^\s@\p{C}]{1,64}@[^\s@.\p{C}]{1,63}(\.[^\s@.\p{C}]{1,63})*$/u;
const longest = 254;

/** Normalizes an e-mail for storage and comparison. */
export const normalEmail = (text: string): string => text.trim().normalize('NFC').toLowerCase();

/**
 * Parses the e-mail in `text`, or returns what is wrong with it. Whether it accepts mail is not
 * checked.
 */
export function readEmail(text: string): string {
  const email = normalEmail(text);
  if (email.length > longest || !shape.test(email)) {
    const message = `must be an e-mail address such as ann@example.org, of at most ${longest} characters`;
    throw errors.email({ message }, { details: [{ path: '/email', message }] });
  }
  return email;
}
