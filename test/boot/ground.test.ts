import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run } from '../drill/ground.ts';
import { onlyInDrills } from '../drill/rounds.ts';
import { peer } from '../peers.ts';

test(
  'what a full or failing disk has taken away serves again once the disk is good, without a restart',
  { skip: process.getuid?.() !== 0, ...onlyInDrills },
  async (t) => {
    if (peer(t, 'g++') === undefined) {
      return;
    }
    // The worst; "npm run drill ground" has all of them.
    const { ok, grounds } = await run({ only: 'full, start+EIO on read+EIO on fsync', hold: 8 });
    assert.ok(ok, JSON.stringify(grounds));
  },
);
