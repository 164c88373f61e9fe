import assert from 'node:assert/strict';
import { test } from 'node:test';

import { rounds } from '../drill/rounds.ts';
import { run } from '../drill/ground.ts';
import { peer } from '../peers.ts';

test(
  'what a full or failing disk has taken away serves again once the disk is good, without a restart',
  { skip: process.getuid?.() !== 0 },
  async (t) => {
    if (peer(t, 'g++') === undefined) {
      return;
    }
    const { ok, grounds } = await run({
      only: rounds('full, start+EIO on fsync', ''),
      hold: rounds(6, 20),
    });
    assert.ok(ok, JSON.stringify(grounds));
  },
);
