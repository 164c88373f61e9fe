import { createHash, randomBytes, randomUUID } from 'node:crypto';

import { type Credentials, keysOf } from 'svc/tunnel';

/**
 * Clock shared by both processes of the bench; below, the keys of every edge, which follow from its
 * number.
 */
export const bareClock = { now: () => Date.now(), monotonic: () => performance.now() };
export const bareIds = {
  uuid: () => randomUUID(),
  token: (bytes = 32) => randomBytes(bytes).toString('base64url'),
};
const silent = (): void => undefined;
export const bareLog = {
  debug: silent,
  info: silent,
  warn: (fields: object, message: string) => console.error(message, fields),
  error: (fields: object, message: string) => console.error(message, fields),
  fail: (error: unknown) => console.error(String(error)),
};

export const accessKeyOf = (edge: number): string => `svc_ak_${edge}`;

export function keysOfEdge(accessKey: string): Credentials {
  const secret_key = `svc_sk_${createHash('sha256').update(accessKey).digest('base64url')}`;
  return { access_key: accessKey, secret_key, ...keysOf(secret_key) };
}
