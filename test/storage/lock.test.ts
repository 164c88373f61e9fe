import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { DataLock } from '../../core/storage/index.ts';
import { inFolder } from './folder.ts';
import { programOf } from '../program-of.ts';

const now = (): number => Date.UTC(2026, 10, 20);
const holder = fileURLToPath(new URL('./holding-child.ts', import.meta.url));

test('a second process is refused at once and told which process holds the folder, and where it listens', () =>
  inFolder(async (dir) => {
    const child = spawn(process.execPath, [...programOf(holder), dir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      await once(child.stdout, 'data');
      const before = performance.now();
      assert.throws(
        () => new DataLock(dir, { now }),
        new RegExp(
          `is in use by the svc process ${child.pid} at http://127\\.0\\.0\\.1:4711, which holds it since 2026-.*SVC_DATA_DIR`,
        ),
      );
      assert.ok(performance.now() - before < 1_000);
    } finally {
      child.kill('SIGKILL');
    }
    await once(child, 'exit');
    assert.ok(existsSync(join(dir, 'svc.lock.json')), 'the killed process has left its card');
    new DataLock(dir, { now }).release();
  }));

test('the same process cannot take a folder twice, and can again after it let go', () =>
  inFolder(async (dir) => {
    const lock = new DataLock(dir, { now });
    assert.throws(
      () => new DataLock(dir, { now }),
      new RegExp(`svc process ${process.pid}, which`),
    );
    lock.announce('http://[::1]:1');
    assert.throws(() => new DataLock(dir, { now }), /at http:\/\/\[::1\]:1/);
    lock.release();
    new DataLock(dir, { now }).release();
    assert.ok(!existsSync(join(dir, 'svc.lock.json')));
  }));

test('a card is not believed when its process is gone, is another one by now, or ran before the last boot', () =>
  inFolder(async (dir) => {
    const lock = new DataLock(dir, { now });
    const card = join(dir, 'svc.lock.json');
    const own = JSON.parse(readFileSync(card, 'utf8')) as object;
    for (const lie of [{ pid: 2 ** 22 }, { started: '1' }, { boot_id: 'another' }]) {
      writeFileSync(card, JSON.stringify({ ...own, ...lie }));
      assert.throws(() => new DataLock(dir, { now }), /in use by another svc process/);
    }
    writeFileSync(card, 'not json');
    assert.throws(() => new DataLock(dir, { now }), /in use by another svc process/);
    lock.release();
  }));

test('a network folder is refused by name, unless it is forced', () =>
  inFolder(async (dir) => {
    for (const [type, name] of [
      [0x6969, 'NFS'],
      // As a kernel with signed numbers reports it.
      [0xff534d42 | 0, 'CIFS'],
      [0xfe534d42, 'SMB'],
      [0x01021997, '9p'],
    ] as const) {
      assert.throws(
        () => new DataLock(dir, { now, fileSystemType: () => type }),
        new RegExp(`is on ${name}, where file locks`),
      );
      new DataLock(dir, { now, fileSystemType: () => type, forceNetworkFolder: true }).release();
    }
    new DataLock(dir, { now, fileSystemType: () => 0xef53 }).release();
  }));
