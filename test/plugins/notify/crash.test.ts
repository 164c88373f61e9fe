import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run } from '../../drill/notify-crash.ts';

test('kill -9 in a storm of incidents: each notice ends once for each channel, in order, and little is told twice', async () => {
  const found = await run({ rounds: 6 });
  assert.ok(Number(found['accepted']) > 50 && Number(found['sent']) > 10 && Number(found['folded']) > 10, JSON.stringify(found));
});
