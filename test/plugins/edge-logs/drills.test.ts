import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run } from '../../drill/edge-logs.ts';
import { rounds } from '../../drill/rounds.ts';

test('files are rotated, the reader is killed at random steps and the manager is away: every line is there once, in order', async () => {
  const { ok, kills, rotations } = await run({ seconds: rounds(1, 3) });
  assert.ok(ok === true && Number(kills) > 0 && Number(rotations) > 0);
});
