import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run } from '../drill/pollution.ts';
import { rounds } from '../drill/rounds.ts';

test('no body with __proto__, constructor or prototype at any depth is taken, fails, or pollutes', async () => {
  const { failures, taken, polluted, examples } = await run({ bodies: rounds(300, 1_000) });
  assert.deepEqual(
    { failures, taken, polluted },
    { failures: 0, taken: 0, polluted: false },
    examples,
  );
});
