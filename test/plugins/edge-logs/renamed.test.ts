import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

import type { OpenFile } from '../../../plugins/edge-logs/files/open-file.ts';
import { unseenIn } from '../../../plugins/edge-logs/files/strays.ts';
import { Unreadable } from '../../../plugins/edge-logs/files/unreadable.ts';
import { peer } from '../../peers.ts';
import { Machine } from './machine.ts';

/** A machine whose reader has read one line of `app.log` and was stopped; then a second was written. */
async function stopped(t: TestContext, read = 'one\n', unread = 'two\n'): Promise<Machine> {
  const machine = new Machine(t);
  machine.now -= 60_000;
  await machine.start();
  await machine.tick();
  machine.append('app.log', read);
  await machine.tick();
  await machine.tick();
  await machine.stop();
  machine.append('app.log', unread);
  return machine;
}

async function readOn(machine: Machine): Promise<readonly string[]> {
  machine.append('app.log', 'three\n');
  await machine.start();
  for (let turn = 0; turn < 4; turn += 1) {
    await machine.tick(4_000);
  }
  return machine.lines('app.log');
}

for (const name of ['app.log.old', 'app.log.bak', 'app.1', 'app.old', 'app.log~', 'elsewhere']) {
  test(`a file that was renamed to ${name} while no agent was running is read to its end`, async (t) => {
    const machine = await stopped(t);
    renameSync(machine.path('app.log'), machine.path(name));
    assert.deepEqual(await readOn(machine), ['one', 'two', 'three']);
    assert.deepEqual(machine.logs.health(), { ok: true });
  });
}

test('a file of the same name as a rotated one, but of another program, is not read in its place', async (t) => {
  const machine = await stopped(t);
  renameSync(machine.path('app.log'), machine.path('app.log.old'));
  machine.append('other.txt', 'not ours\n');
  assert.deepEqual(await readOn(machine), ['one', 'two', 'three']);
});

/** Moves `app.log` away under each name in turn, each time with a line in it that nobody has read. */
async function rotated(machine: Machine, names: readonly string[]): Promise<void> {
  for (const [index, name] of names.entries()) {
    // File systems count time in ticks.
    await pause(20);
    renameSync(machine.path('app.log'), machine.path(name));
    machine.append('app.log', `${['b', 'c', 'd'][index]!}\n`);
  }
}

for (const names of [
  ['app.log.saved', 'app.log.kept'],
  ['app-first', 'app-second', 'app-third'],
  ['archive-8', 'archive-9'],
  ['x', 'y'],
  ['app.log.1', 'elsewhere'],
  ['elsewhere', 'app.log.1'],
]) {
  test(`every file that was rotated to ${names.join(', then ')} while no agent was running is read, in order`, async (t) => {
    const machine = await stopped(t);
    machine.append('other.txt', 'not ours\n');
    await rotated(machine, names);
    const between = ['b', 'c', 'd'].slice(0, names.length);
    assert.deepEqual(await readOn(machine), ['one', 'two', ...between, 'three']);
    machine.append('other.txt', 'not ours\n');
    assert.deepEqual(machine.logs.health(), { ok: true });
  });
}

test('a file of another program from in between is not read, and said to be unsure where it may be one', async (t) => {
  const machine = await stopped(t);
  machine.append('other.log', 'read as itself\n');
  renameSync(machine.path('app.log'), machine.path('x'));
  machine.append('draft', 'whose?\n');
  machine.append('app.pid', '17\n');
  machine.append('other.log.saved', 'of other.log\n');
  machine.append('other.log.7.gz', 'packed');
  await pause(20);
  renameSync(machine.path('draft'), machine.path('unknown'));
  await pause(1_100);
  machine.append('app.log', 'b\n');
  assert.deepEqual(await readOn(machine), ['one', 'two', 'b', 'three']);
  const told =
    /app\.log was rotated more than once before the agent read it: unknown may hold lines of it and was not read/;
  assert.match(machine.logs.health().detail!, told);
});

test('a time in which a path had a file that is gone is told', () => {
  const file = (birth: number, ctime: number): OpenFile =>
    ({ path: 'a', birth, ctime }) as unknown as OpenFile;
  const minute = 60_000;
  assert.equal(unseenIn([file(0, 10 * minute), file(11 * minute, 20 * minute)]), undefined);
  assert.equal(unseenIn([file(0, 30 * minute), file(11 * minute, 30 * minute)]), undefined);
  assert.deepEqual(unseenIn([file(1, minute), file(minute, 2 * minute), file(5 * minute, 0)]), {
    from: 2 * minute,
    to: 5 * minute,
  });
});

test('what was lost is told through restarts until the manager has heard of it for a day', async (t) => {
  const machine = await stopped(t);
  rmSync(machine.path('app.log'));
  machine.online = false;
  await readOn(machine);
  const told = /app\.log after byte 4 may be missing: the file was deleted/;
  assert.match(machine.logs.health().detail!, told);
  for (const way of ['stopped', 'killed']) {
    if (way === 'stopped') {
      await machine.stop();
    }
    await machine.start();
    await machine.tick(90_000_000);
    assert.match(machine.logs.health().detail!, told, `${way}, and the manager hears nothing`);
  }
  machine.online = true;
  await machine.tick(50_000_000);
  await machine.stop();
  await machine.start();
  await machine.tick(1_000);
  assert.match(machine.logs.health().detail!, told);
  await machine.tick(40_000_000);
  assert.deepEqual(machine.logs.health(), { ok: true });
  await machine.stop();
  await machine.start();
  await machine.tick();
  assert.deepEqual(machine.logs.health(), { ok: true });
});

test('a copy under a word is found where the file was emptied', async (t) => {
  const machine = await stopped(t);
  writeFileSync(machine.path('app.log.old'), readFileSync(machine.path('app.log')));
  writeFileSync(machine.path('app.log'), '');
  assert.deepEqual(await readOn(machine), ['one', 'two', 'three']);
});

test('logrotate of Debian loses nothing, by whichever of its names', async (t) => {
  const logrotate = peer(t, 'logrotate');
  if (logrotate === undefined) {
    return;
  }
  const ways = {
    numbered: 'rotate 4',
    dated: 'rotate 4\ndateext\ndateformat -%Y%m%d-%s',
    worded: 'rotate 4\ndateext\ndateformat .old',
    inside: 'rotate 4\nextension .log',
    copied: 'rotate 4\ncopytruncate',
    late: 'rotate 4\ncompress\ndelaycompress',
    compressed: 'rotate 4\ncompress',
    'copied and compressed': 'rotate 4\ncopytruncate\ncompress',
  };
  for (const [way, options] of Object.entries(ways)) {
    await t.test(way, async (sub) => {
      const machine = await stopped(sub);
      const { folder } = machine;
      writeFileSync(
        `${folder}/rotate.conf`,
        `${machine.path('app.log')} {\n${options}\nmissingok\n}\n`,
        { mode: 0o600 },
      );
      execFileSync(logrotate, ['-f', '-s', `${folder}/status`, `${folder}/rotate.conf`], {
        stdio: 'pipe',
      });
      assert.deepEqual(await readOn(machine), ['one', 'two', 'three']);
      assert.deepEqual(machine.logs.health(), { ok: true });
    });
  }
});

test('lines that are out of reach are told: how many where that can be known', async (t) => {
  await t.test('a deleted file', async (sub) => {
    const machine = await stopped(sub);
    rmSync(machine.path('app.log'));
    assert.deepEqual(await readOn(machine), ['one', 'three']);
    const { ok, degraded, detail } = machine.logs.health();
    assert.deepEqual([ok, degraded], [true, true]);
    assert.match(
      detail!,
      /^lines of \S+\/app\.log after byte 4 may be missing: the file was deleted/,
    );
    machine.elapsed += 90_000_000;
    assert.deepEqual(machine.logs.health(), { ok: true }, 'for a day');
  });
  const compressed = (machine: Machine): void => {
    const path = machine.path('app.log');
    const { mtime } = statSync(path);
    writeFileSync(`${path}.1.gz`, gzipSync(readFileSync(path)));
    utimesSync(`${path}.1.gz`, mtime, mtime);
    rmSync(path);
  };
  await t.test('a compressed file that is damaged', async (sub) => {
    const machine = await stopped(sub);
    compressed(machine);
    const packed = readFileSync(machine.path('app.log.1.gz'));
    packed[12]! ^= 0xff;
    const { mtime } = statSync(machine.path('app.log.1.gz'));
    writeFileSync(machine.path('app.log.1.gz'), packed);
    utimesSync(machine.path('app.log.1.gz'), mtime, mtime);
    await readOn(machine);
    assert.match(
      machine.logs.health().detail!,
      /^4 bytes of \S+\/app\.log were not read: the file was compressed to app\.log\.1\.gz .+"delaycompress"/,
    );
  });
  await t.test('a compressed file that was read to its end', async (sub) => {
    const machine = await stopped(sub, 'one\ntwo\n', '');
    compressed(machine);
    assert.deepEqual(await readOn(machine), ['one', 'two', 'three']);
    assert.deepEqual(machine.logs.health(), { ok: true });
  });
});

test('a file that was compressed before it was read is read on, also after another restart in the middle of it', async (t) => {
  const lines = Array.from({ length: 40 }, (_, at) => `line ${at} ${'x'.repeat(40_000)}`);
  const machine = await stopped(t, 'one\n', `${lines.join('\n')}\n`);
  const path = machine.path('app.log');
  const { mtime } = statSync(path);
  writeFileSync(`${path}.1.gz`, gzipSync(readFileSync(path)));
  utimesSync(`${path}.1.gz`, mtime, mtime);
  rmSync(path);
  machine.append('app.log', 'three\n');
  await machine.start();
  await machine.tick();
  await machine.stop();
  assert.deepEqual(await readOn(machine), ['one', ...lines, 'three', 'three']);
  assert.deepEqual(machine.logs.health(), { ok: true });
  assert.ok(!existsSync(`${machine.state}/unpacked`));
});

test('what the policy of the machine forbids is told with the line to add', async (t) => {
  const machine = new Machine(t);
  machine.policy = ['/nowhere/**'];
  machine.append('app.log', 'one\n');
  await machine.start();
  await machine.tick();
  const { degraded, detail } = machine.logs.health();
  assert.equal(degraded, true);
  assert.equal(
    detail,
    `${machine.path('app.log')} cannot be read because this machine's policy does not allow it; the machine's owner can add ${machine.path('app.log')} to "logs.paths" in policy.yaml`,
  );
  machine.policy = [`${machine.folder}/**`];
  await machine.tick();
  assert.deepEqual(machine.logs.health(), { ok: true });
});

test('what the user of the agent may not read is told with the command that changes it', (t) => {
  const machine = new Machine(t);
  machine.append('app.log', 'one\n');
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const unreadable = new Unreadable(log, 10);
  assert.equal(unreadable.sentence, undefined);
  unreadable.add(machine.path('app.log'), new Error('EACCES: permission denied'));
  unreadable.add(machine.path('other.log'), new Error('EACCES: permission denied'));
  assert.match(
    unreadable.sentence!,
    /app\.log and 1 more cannot be read by the user \S+: run "(setfacl -m u:\S+:r \S+app\.log" as root|usermod -aG \S+ \S+" as root and restart the agent)$/,
  );
});
