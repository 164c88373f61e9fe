import crypto from 'node:crypto';

/** As `currentCost` of plugins/iam, which tells why it is as dear. */
const dear = { N: 2 ** 15, r: 8, p: 3 } as const;
const real = crypto.scrypt;

let houses = 0;

/**
 * Makes the hash of a password cost next to nothing while a house of a test is up; the cost it names stays. A third of a second each time
 * would be most of what the tests of accounts take; test/plugins/iam/hashing.test.ts, which starts no house, has the real one.
 */
export function quickPasswords(): { readonly end: () => void } {
  crypto.scrypt = quick;
  houses += 1;
  return { end: () => void (houses -= 1) };
}

/** Asks what house is up when it is called: whoever spies on it may put it back later. */
const quick = ((...args: Parameters<typeof crypto.scrypt>) => {
  const [password, salt, length, options, done] = args;
  const isDear = options.N === dear.N && options.r === dear.r && options.p === dear.p;
  real(password, salt, length, houses > 0 && isDear ? { ...options, N: 16, p: 1 } : options, done);
}) as typeof crypto.scrypt;
