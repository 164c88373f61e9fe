import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run as crash } from '../drill/crash.ts';
import { run as diskFull } from '../drill/disk-full.ts';
import { run as lostCommits } from '../drill/lost-commits.ts';
import { run as tornWal } from '../drill/torn-wal.ts';
import { rounds } from '../drill/rounds.ts';

test('kill -9 under mixed writes loses no acknowledged write and leaves no half of one', async () => {
  const found = await crash({ rounds: rounds(2, 8) });
  assert.ok(Number(found['acknowledged writes']) > 0, JSON.stringify(found));
});

test('a torn, garbled or blanked log loses nothing that was committed before the damage', async () => {
  await tornWal({ rounds: rounds(60, 240) });
});

test('a bit that flips in the log after a kill costs no commit without a word, and a kill alone is no damage', async () => {
  const { lost, told } = await lostCommits({ rounds: rounds(2, 12) });
  assert.ok(Number(lost) > 0 && Number(told) >= Number(lost), JSON.stringify({ lost, told }));
});

test('on a full disk reads live, writes are refused, and writing goes on by itself when there is space', async (t) => {
  const { skipped } = await diskFull({ rounds: 2 });
  if (typeof skipped === 'string') {
    assert.notEqual(process.env['SVC_TEST_PEERS'], 'required', skipped);
    t.skip(skipped);
  }
});
