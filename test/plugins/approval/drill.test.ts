import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run } from '../../drill/approval-crash.ts';
import { rounds } from '../../drill/rounds.ts';

test('kill -9 under approvals that are signed: each change is made once, or its approval ends as unknown', async () => {
  const found = await run({ rounds: rounds(1, 3) });
  assert.ok(Number(found['executed']) > 0, JSON.stringify(found));
});
