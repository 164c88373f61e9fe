import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run as crash } from '../drill/crash.ts';
import { run as diskFull } from '../drill/disk-full.ts';
import { run as tornWal } from '../drill/torn-wal.ts';
import { rounds } from '../drill/rounds.ts';

test('kill -9 under mixed writes loses no acknowledged write and leaves no half of one', async () => {
  const found = await crash({ rounds: rounds(2, 8) });
  assert.ok(Number(found['acknowledged writes']) > 0, JSON.stringify(found));
});

test('a torn, garbled or blanked log loses nothing that was committed before the damage', async () => {
  await tornWal({ rounds: rounds(60, 240) });
});

test('on a full disk reads live, writes are refused, and writing goes on by itself when there is space', async (t) => {
  const { skipped } = await diskFull({ rounds: 2 });
  if (typeof skipped === 'string') {
    assert.notEqual(process.env['SVC_TEST_PEERS'], 'required', skipped);
    t.skip(skipped);
  }
});
