import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run } from '../../drill/alert-truth.ts';
import { peer } from '../../peers.ts';

test('a server that was killed and is away for an hour, and whose clock is a day wrong, tells no false RESOLVED and loses no firing', async (t) => {
  if (peer(t, 'libfaketimeMT.so.1') === undefined) {
    return;
  }
  const outcome = await run({ hold: 2, away: 0, only: 'outage of an hour|clock \\+24' });
  assert.equal(outcome.ok, true, JSON.stringify(outcome));
  assert.equal((outcome['passed'] as readonly object[]).length, 3);
});
