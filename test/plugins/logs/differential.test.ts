import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run } from '../../drill/logs-differential.ts';
import { rounds } from '../../drill/rounds.ts';

test('random questions are answered as they are worked out without the store, while blocks are cut and merged', async () => {
  const { ok, ...rest } = await run({ questions: rounds(100, 300), seed: 3 });
  assert.equal(ok, true, JSON.stringify(rest));
});

test('the same by a process that is killed again and again while it writes blocks', async () => {
  const { ok, ...rest } = await run({ questions: rounds(70, 210), seed: 4, kills: true });
  assert.equal(ok, true, JSON.stringify(rest));
});
