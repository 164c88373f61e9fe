import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run } from '../../drill/repo-crash.ts';
import { run as runLarge } from '../../drill/repo-large.ts';
import { rounds } from '../../drill/rounds.ts';
import { peer } from '../../peers.ts';

test(
  'a house that is killed while it syncs loses no document, and ends with what the branch has',
  { timeout: 180_000 },
  async (t) => {
    if (peer(t, 'nginx') === undefined || peer(t, 'fcgiwrap') === undefined) {
      return;
    }
    const wanted = rounds(1, 2);
    const { ok, kills, documents } = await run({ rounds: wanted, historyMb: 0, pages: 60 });
    assert.deepEqual([ok, kills, documents], [true, wanted, 61]);
  },
);

test(
  'of a long history only its newest part comes here, and thousands of files are never in memory at once',
  { timeout: 180_000 },
  async (t) => {
    if (peer(t, 'sshd') === undefined || peer(t, 'git') === undefined) {
      return;
    }
    const { ok, ...found } = await runLarge({ historyMb: rounds(8, 20), files: 200 });
    assert.ok(ok, JSON.stringify(found));
  },
);
