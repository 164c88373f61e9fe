import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';

import { machineKeyOf, openMachineIdentity } from 'svc/tunnel';

import { flipBit } from '../../drill/flip-bit.ts';

const uuidOf = (number: number): string => `00000000-0000-4000-8000-00000000000${number}`;

function machineIn(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-machine-'));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'etc'));
  writeFileSync(join(folder, 'etc/machine-id'), 'one machine\n');
  let made = 0;
  return {
    folder,
    file: (name: string): string => join(folder, name),
    open: () => openMachineIdentity(folder, () => uuidOf((made += 1)), folder),
  };
}

test('a machine stays the same from start to start', (t) => {
  const { open } = machineIn(t);
  const [first, second] = [open(), open()];
  assert.deepEqual(
    [second.uuid, second.key.publicKey, second.damaged, second.keyReplaced],
    [first.uuid, first.key.publicKey, [], false],
  );
});

test('whichever bit of the key is flipped, it is replaced, kept aside and named, and the uuid stays', (t) => {
  const { open, file } = machineIn(t);
  const { uuid, key } = open();
  const whole = readFileSync(file('machine.key'));
  const identity = readFileSync(file('machine.json'));
  for (let at = 0; at < whole.length; at += 1) {
    writeFileSync(file('machine.key'), whole);
    writeFileSync(file('machine.json'), identity);
    rmSync(file('machine.key.damaged'), { force: true });
    flipBit(file('machine.key'), at);
    const damaged = readFileSync(file('machine.key'));
    const found = open();
    assert.equal(found.uuid, uuid, `byte ${at}`);
    if (found.key.publicKey === key.publicKey) {
      // Bits that the key does not depend on, as those of the name of the form.
      assert.equal(machineKeyOf(damaged.toString()).publicKey, key.publicKey);
      continue;
    }
    assert.deepEqual(
      [found.damaged, found.keyReplaced, readFileSync(file('machine.key.damaged'))],
      [[file('machine.key')], true, damaged],
      `byte ${at}`,
    );
    const next = open();
    assert.deepEqual(
      [next.key.publicKey, next.damaged, next.keyReplaced],
      [found.key.publicKey, [], true],
      'told by its start alone; the manager is told as long as it refuses the key',
    );
  }
});

test('whichever bit of machine.json is flipped, the uuid is the old one or the file is named', (t) => {
  const { open, file } = machineIn(t);
  const { uuid, key } = open();
  const whole = readFileSync(file('machine.json'));
  for (let at = 0; at < whole.length; at += 1) {
    writeFileSync(file('machine.json'), whole);
    rmSync(file('machine.json.damaged'), { force: true });
    flipBit(file('machine.json'), at);
    const found = open();
    assert.equal(found.key.publicKey, key.publicKey, `byte ${at}: the key is whole`);
    assert.equal(
      found.uuid === uuid || found.damaged.includes(file('machine.json')),
      true,
      `byte ${at}: ${found.uuid}`,
    );
    assert.equal(existsSync(file('machine.json.damaged')), found.damaged.length > 0);
  }
});

test('machine.json of an earlier version keeps its uuid and gains the key and the checksum', (t) => {
  const { open, file } = machineIn(t);
  const { uuid, key, fingerprint } = open();
  writeFileSync(file('machine.json'), JSON.stringify({ uuid, fingerprint }));
  assert.deepEqual([open().uuid, open().damaged], [uuid, []]);
  assert.equal(JSON.parse(readFileSync(file('machine.json'), 'utf8')).public_key, key.publicKey);
});

test('a folder that was copied from another machine is a machine of its own, with another key', (t) => {
  const { open, folder } = machineIn(t);
  const first = open();
  writeFileSync(join(folder, 'etc/machine-id'), 'another machine\n');
  const copy = open();
  assert.equal(copy.copiedFrom, first.uuid);
  assert.notEqual(copy.uuid, first.uuid);
  assert.notEqual(copy.key.publicKey, first.key.publicKey);
  assert.deepEqual(
    [open().uuid, open().key.publicKey, open().copiedFrom, copy.damaged],
    [copy.uuid, copy.key.publicKey, undefined, []],
  );
});
