import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { renameSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { behind, Carried } from '../../bin/product/carried.ts';
import { scratch } from './launcher.ts';

test('what stands behind a program is read from its file, also after another has taken its name; a file that was cut is refused', (t) => {
  const folder = scratch(t);
  const [file, other] = [join(folder, 'svc'), join(folder, 'other')];
  const program = randomBytes(70_000);
  const cargo = new Map<string, Uint8Array>([
    ['programs/svc', Buffer.from('text, ünd more')],
    ['nothing', Buffer.alloc(0)],
    ['files/large', randomBytes(300_000)],
  ]);
  const whole = Buffer.concat([program, behind(program.length, cargo)]);
  writeFileSync(file, whole);
  const carried = new Carried(file);
  writeFileSync(other, 'another version');
  renameSync(other, file);
  assert.equal(carried.text('programs/svc'), 'text, ünd more');
  assert.equal(carried.bytes('nothing').length, 0);
  assert.deepEqual(carried.bytes('files/large'), Buffer.from(cargo.get('files/large')!));
  assert.throws(() => carried.bytes('constructor'), /does not contain constructor/);

  for (const bytes of [whole.length - 1, program.length, 10, 0]) {
    writeFileSync(file, whole);
    truncateSync(file, bytes);
    assert.throws(() => new Carried(file), /download it again/);
  }
});
