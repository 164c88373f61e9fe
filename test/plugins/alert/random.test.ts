import assert from 'node:assert/strict';
import { test } from 'node:test';

import { walk } from './random.ts';

test('whatever happens in whatever order, states, events and notices are those of the model', async () => {
  for (const seed of [1, 2, 3]) {
    const { events, notices, restarts, jumps } = await walk(seed, 400);
    assert.ok(
      events > 50 && notices > 10 && restarts > 0 && jumps > 0,
      JSON.stringify({ events, notices, restarts, jumps }),
    );
  }
});
