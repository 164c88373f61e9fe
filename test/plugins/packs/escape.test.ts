import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run } from '../../drill/pack-escape.ts';

test('no pack gets out of its build, its manifest or its process', async () => {
  const { ok, attempts, found } = await run();
  assert.ok(ok, found);
  assert.ok(attempts >= 240, `${attempts} attempts`);
});
