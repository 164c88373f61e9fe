import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run } from '../../drill/alert-attack.ts';
import { peer } from '../../peers.ts';

test('a server that is killed before it knows that a message was taken tells it once more, and nothing else', async (t) => {
  if (peer(t, 'libfaketimeMT.so.1') === undefined) {
    return;
  }
  const outcome = await run({ kills: 2, only: 'kills' });
  assert.equal(outcome.ok, true, JSON.stringify(outcome));
  assert.equal((outcome['passed'] as readonly object[]).length, 1);
});
