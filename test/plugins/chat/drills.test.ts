import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run as crash } from '../../drill/chat-crash.ts';

test('kill -9 under agents that change things: every run ends, and no change is made twice', async () => {
  const found = await crash({ rounds: 4 });
  assert.ok(Number(found['changes']) > 0, JSON.stringify(found));
});
