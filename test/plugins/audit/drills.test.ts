import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run as bench } from '../../bench/audit.ts';
import { run as crash } from '../../drill/audit-crash.ts';

test('kill -9 under audited calls keeps the chain, and rows and changes agree', async () => {
  const found = await crash({ rounds: 5 });
  assert.ok(Number(found['answered calls']) > 50, JSON.stringify(found));
});

test('the bench walks a trail that it made itself, and finds it whole', async () => {
  const found = await bench({ rows: 5_000, rounds: 2 });
  assert.equal(found.ok, true, JSON.stringify(found));
});
