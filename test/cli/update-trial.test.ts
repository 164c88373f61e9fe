import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import {
  besides,
  readPlan,
  type UpdatePlan,
  writePlan,
  writeProgress,
} from '../../bin/upkeep/update/files.ts';
import { Update } from '../../bin/upkeep/update/update.ts';
import { scratch } from './launcher.ts';

test('a start whose program was read before the switch ends, and leaves the data to the version that was put in its place', (t) => {
  const dataDir = scratch(t);
  const program = join(dataDir, 'svc');
  writeFileSync(program, '1.0.0');
  const plan: UpdatePlan = {
    id: 'a',
    state: 'trial',
    from: '2.0.0',
    to: '1.0.0',
    dataDir,
    beganAt: Date.now(),
    deadlineMs: 9_000,
    holdMs: 9_000,
    starts: 0,
    restore: join(dataDir, 'backups', 'nowhere'),
  };
  writePlan(program, plan);
  writeProgress(dataDir, { id: 'a', program });
  assert.throws(
    () => Update.start(dataDir, '2.0.0', undefined),
    /svc 2\.0\.0 was replaced by 1\.0\.0 while it started/,
  );
  assert.deepEqual(readPlan(program), plan);

  const { restore: _none, ...rest } = plan;
  writePlan(program, rest);
  assert.equal(Update.start(dataDir, '1.0.0', undefined)?.plan.id, 'a');
  assert.equal(readPlan(program)?.starts, 1);
});

test('an update goes through its states, and each says what may follow', (t) => {
  const dataDir = scratch(t);
  const program = join(dataDir, 'svc');
  writeFileSync(program, 'old');
  writeFileSync(besides(program).next, 'new');
  const plan: UpdatePlan = {
    id: 'b',
    state: 'trial',
    from: '1.0.0',
    to: '2.0.0',
    dataDir,
    beganAt: Date.now(),
    deadlineMs: 9_000,
    holdMs: 9_000,
    starts: 0,
  };
  assert.equal(Update.of(program, undefined), undefined);
  const update = Update.switch(program, plan, undefined);
  assert.equal(update.state, 'trial');
  assert.equal(readFileSync(program, 'utf8'), 'new');
  update.ready();
  assert.equal(update.state, 'ready');
  // The one too many gives way: no table was changed.
  for (const start of [1, 2, 3]) {
    assert.equal(Update.start(dataDir, '2.0.0', undefined)?.plan.starts, start);
  }
  assert.throws(() => Update.start(dataDir, '2.0.0', undefined), /svc 2\.0\.0 was rolled back/);
  assert.equal(readFileSync(program, 'utf8'), 'old');
  assert.equal(Update.of(program, undefined), undefined);

  writeFileSync(besides(program).next, 'newer');
  const second = Update.switch(program, { ...plan, id: 'c', to: '3.0.0' }, undefined);
  second.giveUp('an operator said so');
  assert.equal(second.state, 'given up');
  assert.throws(() => Update.start(dataDir, '3.0.0', undefined), /because an operator said so/);

  writeFileSync(besides(program).next, 'newest');
  const third = Update.switch(program, { ...plan, id: 'd', to: '4.0.0' }, undefined);
  third.ready();
  third.hold();
  assert.equal(Update.of(program, undefined), undefined);
  assert.equal(Update.start(dataDir, '4.0.0', undefined), undefined);
});
