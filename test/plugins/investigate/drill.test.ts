import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run } from '../../drill/investigate-e2e.ts';

test('a fault in a simulated fleet raises an alert, and the report names host and cause (short form of npm run drill investigate-e2e)', async () => {
  const { ok, cases } = await run({ seeds: 1, first: 3, hosts: 5, hours: 1 });
  assert.ok(ok, JSON.stringify(cases));
});
