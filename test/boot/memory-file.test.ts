import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { memoryFile } from '../../core/boot/memory-file.ts';
import { flipBit } from '../drill/flip-bit.ts';
import { inFolder } from '../storage/folder.ts';

test('a changed bit in the list of disabled plugins is told, or changes nothing', () =>
  inFolder(async (dir) => {
    const file = join(dir, 'plugins.json');
    memoryFile(dir).setDisabled('websearch', 'an operator disabled it');
    const whole = readFileSync(file);
    const known = memoryFile(dir).disabled();
    let told = 0;
    for (let at = 0; at < statSync(file).size; at += 1) {
      writeFileSync(file, whole);
      flipBit(file, at);
      try {
        assert.deepEqual(memoryFile(dir).disabled(), known, `byte ${at}`);
      } catch (error) {
        assert.match(
          (error as Error).message,
          /plugins\.json is damaged; delete it to clear the list of disabled and quarantined plugins/,
        );
        told += 1;
      }
    }
    assert.ok(told > whole.length / 2);
  }));

test('a list that an earlier version wrote, without a checksum, is taken', () =>
  inFolder(async (dir) => {
    writeFileSync(
      join(dir, 'plugins.json'),
      '{"disabled":{"websearch":"an operator disabled it"},"quarantined":{},"held":{}}',
    );
    assert.equal(memoryFile(dir).disabled().get('websearch'), 'an operator disabled it');
  }));
