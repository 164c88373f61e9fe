import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run as crash } from '../../drill/knowledge-crash.ts';
import { rounds } from '../../drill/rounds.ts';

test(
  'no document is lost and no half index serves, however often svc is killed',
  { timeout: 240_000 },
  async () => {
    const { ok, ...found } = await crash({ rounds: rounds(1, 2) });
    assert.ok(ok, JSON.stringify(found));
  },
);
