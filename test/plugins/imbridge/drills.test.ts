import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run as crash } from '../../drill/im-crash.ts';

test('kill -9 while five platforms are answered: each message that was accepted ends in exactly one answer', async () => {
  const found = await crash({ rounds: 2 });
  assert.ok(Number(found['kills']) === 2, JSON.stringify(found));
});
