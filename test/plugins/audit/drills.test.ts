import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run as crash } from '../../drill/audit-crash.ts';
import { rounds } from '../../drill/rounds.ts';

test('kill -9 under audited calls keeps the chain, and rows and changes agree', async () => {
  const found = await crash({ rounds: rounds(3, 5) });
  assert.ok(Number(found['answered calls']) > 0, JSON.stringify(found));
});
