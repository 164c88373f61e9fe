import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run as crash } from '../../drill/pack-crash.ts';
import { run as cycles } from '../../drill/pack-cycles.ts';
import { run as hundred } from '../../drill/pack-hundred.ts';
import { run as misdeeds } from '../../drill/pack-misdeeds.ts';
import { rounds } from '../../drill/rounds.ts';

test('kills in the middle of changes leave the old or the new', async () => {
  const most = rounds(1, 4);
  const { ok, kills } = await crash({ from: 9, step: 13, most });
  assert.deepEqual([ok, kills], [true, most]);
});

test('packs come and go under fire without a failed request and without a trace', async () => {
  const found = await cycles({ cycles: 2, codeEvery: 2 });
  assert.deepEqual(
    [found['failed'], found['changes that went wrong'], found['residue']],
    [0, 0, ''],
  );
});

test('each misdeed of a pack ends in a state of its own, and no other request is refused', async () => {
  const { unnamed, failed, misdeeds: rows } = await misdeeds({ quietMs: 200 });
  assert.deepEqual([unnamed, failed], [0, 0], JSON.stringify(rows));
});

test('packs with code that nobody asks have no process after the next start', async () => {
  const found = await hundred({ packs: 3 });
  assert.deepEqual([found.ok, found['active'], found['processes while idle']], [true, 3, 0]);
});
