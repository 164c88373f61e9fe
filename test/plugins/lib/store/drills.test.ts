import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run as flipBits } from '../../../drill/bit-flips.ts';
import { run as crash } from '../../../drill/telemetry-crash.ts';
import { run as diskFull } from '../../../drill/telemetry-disk-full.ts';
import { run as crashRebuild } from '../../../drill/rebuild-crash.ts';
import { onlyInDrills, rounds } from '../../../drill/rounds.ts';

test(
  'kill -9 of the whole house while metrics, logs and traces come in loses nothing that was acknowledged',
  { timeout: 300_000 },
  async () => {
    const found = await crash({ rounds: rounds(1, 3), fill: 0 });
    for (const what of ['samples', 'lines', 'spans']) {
      // How many come in before the kill is up to the machine.
      assert.ok(Number(found[`acknowledged ${what}`]) > 0, JSON.stringify(found));
    }
  },
);

test(
  'on a full disk the whole house answers, pushes are told to come back, and are taken again by themselves',
  { timeout: 300_000 },
  async (t) => {
    const { skipped } = await diskFull({ rounds: 1 });
    if (typeof skipped === 'string') {
      assert.notEqual(process.env['SVC_TEST_PEERS'], 'required', skipped);
      t.skip(skipped);
    }
  },
);

test(
  'one flipped bit in any file of the stores: no lie, nothing dies, the check is right, mending brings back all but lost records',
  { timeout: 300_000 },
  async () => {
    const { ok, stores } = await flipBits({ flips: rounds(60, 500) });
    assert.equal(ok, true, JSON.stringify(stores));
  },
);

test(
  'kill -9 while a catalogue is rebuilt or a store is mended loses nothing',
  { timeout: 300_000, ...onlyInDrills },
  async () => {
    assert.equal((await crashRebuild({ rounds: 10 })).ok, true);
  },
);
