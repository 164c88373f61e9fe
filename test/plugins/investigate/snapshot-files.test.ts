import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import type { Snapshot } from 'svc/rca';

import { SnapshotFiles } from '../../../plugins/investigate/snapshot/snapshot-files.ts';
import { flipBit } from '../../drill/flip-bit.ts';
import { inFolder } from '../../storage/folder.ts';

test('a changed bit in the data of an investigation is told with its file, and one that is gone is not called damaged', () =>
  inFolder(async (dir) => {
    const files = new SnapshotFiles(dir);
    const snapshot = { note: 'what was seen '.repeat(20) } as unknown as Snapshot;
    await files.keep(7, snapshot);
    const file = join(dir, '7.json.gz');
    const whole = readFileSync(file);
    let told = 0;
    for (let at = 0; at < whole.length; at += 1) {
      writeFileSync(file, whole);
      flipBit(file, at);
      try {
        assert.deepEqual(await files.read(7), snapshot, `byte ${at}`);
      } catch (error) {
        assert.match(
          (error as Error).message,
          /7\.json\.gz, the data of investigation 7, is damaged: restore it from a backup/,
        );
        told += 1;
      }
    }
    assert.ok(told > whole.length / 2, `${told} of ${whole.length}`);
    await files.remove(7);
    await assert.rejects(files.read(7), /no longer stored/);
  }));
