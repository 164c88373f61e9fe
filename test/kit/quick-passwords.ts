import crypto from 'node:crypto';

/** Parameters of `currentCost` of plugins/iam, which explains its cost. */
const dear = { N: 2 ** 15, r: 8, p: 3 } as const;
const real = crypto.scrypt;

let houses = 0;

/**
 * Makes password hashes nearly free while a test host is up, though they state the real cost. A
 * third of a second each would dominate the tests of accounts; test/plugins/iam/hashing.test.ts,
 * which starts no host, has the real one.
 */
export function quickPasswords(): { readonly end: () => void } {
  crypto.scrypt = quick;
  houses += 1;
  return { end: () => void (houses -= 1) };
}

/** Hashes by checking which host is up at the time of the call: a spy may restore it later. */
const quick = ((...args: Parameters<typeof crypto.scrypt>) => {
  const [password, salt, length, options, done] = args;
  const isDear = options.N === dear.N && options.r === dear.r && options.p === dear.p;
  real(password, salt, length, houses > 0 && isDear ? { ...options, N: 16, p: 1 } : options, done);
}) as typeof crypto.scrypt;
