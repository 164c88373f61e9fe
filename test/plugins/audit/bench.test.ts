import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run as bench } from '../../bench/audit.ts';

test('the bench walks a trail that it made itself, and finds it whole', async () => {
  const found = await bench({ rows: 5_000, rounds: 2 });
  assert.equal(found.ok, true, JSON.stringify(found));
});
