import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run } from '../../../drill/jobs.ts';

test('kill -9 in the middle of jobs: none is lost, none that is done once is done twice', async () => {
  const found = await run({ jobs: 1_500, kills: 5 });
  assert.ok(Number(found['done']) >= 1_200, JSON.stringify(found));
});
