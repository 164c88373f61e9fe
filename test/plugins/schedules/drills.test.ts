import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run as crash } from '../../drill/schedules-crash.ts';

test('kill -9 around a slot: it runs once, and is delivered', async () => {
  const found = await crash({ rounds: 4 });
  assert.ok(Number(found['runs']) > 0, JSON.stringify(found));
});
