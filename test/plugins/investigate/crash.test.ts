import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run } from '../../drill/investigate-crash.ts';

test('a process that is killed after a report was stored tells the timeline at its next start, once (short form of npm run drill investigate-crash)', async () => {
  const { ok, ...figures } = await run({ rounds: 1, incidents: 4, kinds: 2 });
  assert.ok(ok, JSON.stringify(figures));
});
