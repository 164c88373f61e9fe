import { errors } from './errors.ts';

const shape = /^[^\s@\p{C}]{1,64}@[^\s@.\p{C}]{1,63}(\.[^\s@.\p{C}]{1,63})*$/u;
const longest = 254;

/** Normalizes an e-mail for storage and comparison. */
export const normalEmail = (text: string): string => text.trim().normalize('NFC').toLowerCase();

/** The e-mail in `text`, or a sentence about what is wrong with it. Whether mail arrives there is not asked. */
export function readEmail(text: string): string {
  const email = normalEmail(text);
  if (email.length > longest || !shape.test(email)) {
    const message = `must be an e-mail address such as ann@example.org, of at most ${longest} characters`;
    throw errors.email({ message }, { details: [{ path: '/email', message }] });
  }
  return email;
}
