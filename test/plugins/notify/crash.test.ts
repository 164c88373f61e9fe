import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run } from '../../drill/notify-crash.ts';

test('kill -9 in a storm of incidents: each notice ends once for each channel, in order, and little is told twice', async () => {
  const found = await run({ rounds: 6 });
  // How many there are depends on the machine; the drill itself throws for what is lost or out of order.
  assert.ok(
    Number(found['accepted']) > 5 &&
      Number(found['sent']) > 0 &&
      Number(found['folded']) + Number(found['overtaken']) > 5,
    JSON.stringify(found),
  );
});
