import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run } from '../../drill/notify-crash.ts';

test('kill -9 in a storm of incidents: each notice ends once for each channel, in order, and little is told twice', async () => {
  const found = await run({ rounds: 6 });
  assert.ok(
    Number(found['accepted']) > 20 &&
      Number(found['sent']) > 2 &&
      Number(found['folded']) + Number(found['overtaken']) > 5,
    JSON.stringify(found),
  );
});
