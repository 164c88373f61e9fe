import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run } from '../../drill/alert-attack.ts';

test('a house that is attacked tells no lie', { timeout: 900_000 }, async () => {
  const found = await run({ kills: Number(process.env['KILLS'] ?? 2), steps: Number(process.env['STEPS'] ?? 2), only: process.env['ONLY'] ?? '' });
  console.error('FOUND', JSON.stringify(found, null, 1));
  assert.equal(found.ok, true, JSON.stringify(found));
});
