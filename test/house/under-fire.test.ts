import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run } from '../drill/reload.ts';
import { rounds } from '../drill/rounds.ts';

test('a plugin that is reloaded under fire fails, misleads and tears no request', async () => {
  const { reloads, requests, failed, wrongGeneration, torn } = await run({
    reloads: rounds(30, 100),
  });
  assert.ok(requests > reloads, `${requests} requests during ${reloads} reloads`);
  assert.deepEqual({ failed, wrongGeneration, torn }, { failed: 0, wrongGeneration: 0, torn: 0 });
});
