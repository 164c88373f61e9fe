import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run } from '../../drill/metrics-differential.ts';
import { rounds } from '../../drill/rounds.ts';
import { peer } from '../../peers.ts';

test('random questions are answered as a real Prometheus answers them, while heads are cut and blocks merged', async (t) => {
  if (peer(t, 'prometheus') === undefined) {
    return;
  }
  const { ok, ...rest } = await run({ questions: rounds(80, 200), seed: 3 });
  assert.equal(ok, true, JSON.stringify(rest));
});
