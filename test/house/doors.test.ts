import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run } from '../drill/doors.ts';
import { onlyInDrills } from '../drill/rounds.ts';

test(
  'a megabyte and eight, where they are taken, freeze nobody at any door for data from outside, and stay in memory nowhere',
  onlyInDrills,
  async () => {
    // A machine that is busy with other tests runs slower and collects garbage late, and answers
    // late; what this finds is a walk of a second, and copies of copies.
    const { ok, doors } = await run({
      sizes: '1,8',
      step: 250,
      healthz: 5_000,
      growth: 96,
      refused: false,
      settle: 200,
    });
    assert.ok((doors as readonly object[]).length >= 60, 'every door was tried');
    assert.equal(
      ok,
      true,
      JSON.stringify((doors as readonly { ok: boolean }[]).filter((each) => !each.ok)),
    );
  },
);
