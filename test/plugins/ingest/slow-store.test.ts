import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { SvcError } from 'svc/sdk';

import { createPusher } from '../../../plugins/ingest/push.ts';

test('a store that never answers is given up before the request is, and its sender told to come back', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const failed: unknown[] = [];
  const pusher = createPusher({
    metrics: { stored() {}, pushed() {}, failed: (...told: unknown[]) => failed.push(told) },
    activity: { note() {} },
    clock: { now: () => 0, monotonic: () => 0 },
  } as unknown as Parameters<typeof createPusher>[0]);
  const pushed = pusher(
    {
      body: new Uint8Array(8),
      principal: { kind: 'token', id: '1', role: 'user', grants: [] },
      headers: new Headers(),
      signal: new AbortController().signal,
      setHeader() {},
    } as unknown as Parameters<typeof pusher>[0],
    {
      signal: 'metrics',
      store: { get: () => ({ push: () => new Promise(() => {}) }) },
      format: 'exposition',
      encoding: undefined,
    } as unknown as Parameters<typeof pusher>[1],
  );
  t.mock.timers.tick(45_000);
  await assert.rejects(pushed, ({ code, message, retryAfterSeconds }: SvcError) => {
    assert.deepEqual([code, retryAfterSeconds], ['unavailable', 10]);
    return /metrics store did not respond within 45 s/.test(message);
  });
  assert.equal(failed.length, 1);
});
