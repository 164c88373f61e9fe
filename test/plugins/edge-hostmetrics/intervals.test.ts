import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Row } from '../../exercise.ts';
import { run } from '../../drill/intervals.ts';

test('an agent on a busy machine keeps the rate and the phase of what it measures and scrapes', async () => {
  const { intervals } = await run({ minutes: 0.05, busy: 1 });
  const rows = intervals as readonly Row[];
  assert.deepEqual(new Set(rows.map(({ what }) => what)), new Set(['every1', 'measured every 1']));
  for (const { what, share, 'drift, ms': drift } of rows) {
    // A machine may stand still for a moment, but no rhythm slows down.
    assert.ok((share as number) >= 0.5, `${what}: ${share}`);
    assert.ok(
      Math.abs(drift as number) < 1_000 * Number(/\d+$/.exec(String(what))![0]),
      `${what}: ${drift} ms`,
    );
  }
});
