import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run as crash } from '../../drill/pack-crash.ts';
import { run as cycles } from '../../drill/pack-cycles.ts';

test('kills in the middle of changes leave the old or the new', async () => {
  const { ok, kills } = await crash({ from: 9, step: 13, most: 4 });
  assert.deepEqual([ok, kills], [true, 4]);
});

test('packs come and go under fire without a failed request and without a trace', async () => {
  const found = await cycles({ cycles: 2, codeEvery: 2 });
  assert.deepEqual([found['failed'], found['changes that went wrong'], found['residue']], [0, 0, '']);
});
