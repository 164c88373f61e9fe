import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import {
  readRecord,
  type UpdateRecord,
  writeMark,
  writeRecord,
} from '../../bin/upkeep/update/record.ts';
import { beginTrial } from '../../bin/upkeep/update/trial.ts';
import { scratch } from './launcher.ts';

test('a start whose program was read before the switch ends, and leaves the data to the version that was put in its place', (t) => {
  const dataDir = scratch(t);
  const program = join(dataDir, 'svc');
  writeFileSync(program, '1.0.0');
  const record: UpdateRecord = {
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
  writeRecord(program, record);
  writeMark(dataDir, { id: 'a', program });
  assert.throws(
    () => beginTrial(dataDir, '2.0.0', undefined),
    /svc 2\.0\.0 was replaced by 1\.0\.0 while it started/,
  );
  assert.deepEqual(readRecord(program), record);

  const { restore: _none, ...rest } = record;
  writeRecord(program, rest);
  assert.equal(beginTrial(dataDir, '1.0.0', undefined)?.id, 'a');
  assert.equal(readRecord(program)?.starts, 1);
});
