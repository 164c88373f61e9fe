import { createHmac } from 'node:crypto';
import type { TestContext } from 'node:test';

import { isJson, type Platform, startPlatform } from './platform.ts';

/** Somebody's program: wants the signature where it knows a secret. */
export const startReceiver = (t: Pick<TestContext, 'after'>, secret?: string): Promise<Platform> =>
  startPlatform(t, (request) => {
    if (
      !isJson(request) ||
      request.body.version !== '1' ||
      typeof request.headers['idempotency-key'] !== 'string'
    ) {
      return { status: 400, taken: false };
    }
    if (secret !== undefined) {
      const [, at, signature] =
        /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(request.headers['x-svc-signature'])) ?? [];
      if (
        signature !== createHmac('sha256', secret).update(`${at}.${request.text}`).digest('hex')
      ) {
        return { status: 401, taken: false };
      }
    }
    return { status: 204, taken: true };
  });
