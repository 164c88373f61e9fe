import assert from 'node:assert/strict';
import {
  copyFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

import type { Parcel } from 'svc/contracts/edge-uplink';
import { SvcError } from 'svc/sdk';

import { linesOf, Machine, specOf } from './machine.ts';

const old = (machine: Machine, name: string): void => utimesSync(machine.path(name), 1e9, 1e9);

test('new files are read from their beginning, those that were there from their end, each line once and in order', async (t) => {
  const machine = new Machine(t);
  machine.append('old.log', 'before\nbeg');
  old(machine, 'old.log');
  machine.now += 60_000;
  await machine.start();
  await machine.tick();
  assert.deepEqual(machine.lines(), []);
  machine.append('old.log', 'un and ended\nnext\n');
  await machine.tick();
  assert.deepEqual(machine.lines('old.log'), ['begun and ended', 'next']);
  assert.deepEqual(machine.shipped[0]!.labels, {
    job: 'files',
    host: 'testbox',
    filename: machine.path('old.log'),
  });
  const nanos = machine.shipped.map(({ nanos: at }) => BigInt(at));
  assert.ok(nanos[1]! > nanos[0]!);
});

test('a file that is made while the reader is away is read from its beginning, and what was read is not read again', async (t) => {
  const machine = new Machine(t);
  machine.now -= 60_000;
  await machine.start();
  await machine.tick();
  machine.append('new.log', 'one\r\ntwo\nthr');
  await machine.tick();
  assert.deepEqual(machine.lines(), ['one', 'two']);
  await machine.stop();
  machine.append('new.log', 'ee\n');
  machine.append('later.log', 'four\n');
  await machine.start();
  await machine.tick();
  assert.deepEqual(machine.lines('new.log'), ['one', 'two', 'three']);
  assert.deepEqual(machine.lines('later.log'), ['four']);
});

test('after a kill between writing a push down and its shipping, the very same bytes are shipped, and then what follows', async (t) => {
  const machine = new Machine(t);
  machine.now -= 60_000;
  await machine.start();
  await machine.tick();
  const tries: Parcel[] = [];
  machine.ship = (parcel) => {
    tries.push(parcel);
    return Promise.reject(new SvcError('unavailable', 'the buffer is full'));
  };
  machine.append('a.log', 'one\ntwo\n');
  await machine.tick();
  machine.append('a.log', 'three\n');
  await machine.tick();
  assert.match(machine.logs.health().detail!, /reading is paused: the buffer is full/);
  assert.equal(machine.logs.health().ok, false);
  machine.ship = async (parcel) => void machine.parcels.push(parcel);
  // What is on its way does not depend on the file any more.
  truncateSync(machine.path('a.log'));
  machine.append('a.log', 'four\n');
  await machine.start();
  await machine.tick();
  assert.deepEqual(machine.parcels[0]!.body, tries[0]!.body);
  assert.deepEqual(machine.lines(), ['one', 'two', 'four']);
  assert.equal(machine.logs.health().ok, true);
  assert.match(
    machine.logs.health().detail!,
    /^lines of \S+a\.log after byte 8 may be missing: the file was emptied/,
  );
});

test('rotation by renaming: the old file is read to its end first, also what is written to it afterwards', async (t) => {
  const machine = new Machine(t);
  machine.now -= 60_000;
  await machine.start();
  machine.append('app.log', '1\n');
  await machine.tick();
  machine.append('app.log', '2\n');
  renameSync(machine.path('app.log'), machine.path('app.log.1'));
  machine.append('app.log', '4\n');
  machine.append('app.log.1', '3\n');
  await machine.tick();
  machine.append('app.log.1', 'late\nunfinished');
  await machine.tick();
  machine.append('app.log', '5\n');
  await machine.tick(11_000);
  await machine.tick();
  assert.deepEqual(machine.lines('app.log'), ['1', '2', '3', '4', 'late', 'unfinished', '5']);
});

test('files that come and go between two looks are found by their rotated names', async (t) => {
  const machine = new Machine(t);
  machine.now -= 60_000;
  await machine.start({ files: [{ paths: [machine.path('*.log'), machine.path('*.log.*')] }] });
  machine.append('app.log', '1\n');
  await machine.tick();
  for (const number of [2, 3, 4]) {
    for (let i = number; i >= 1; i--) {
      if (
        statSync(machine.path(i === 1 ? 'app.log' : `app.log.${i - 1}`), { throwIfNoEntry: false })
      ) {
        renameSync(
          machine.path(i === 1 ? 'app.log' : `app.log.${i - 1}`),
          machine.path(`app.log.${i}`),
        );
      }
    }
    machine.append('app.log', `${number}\n`);
  }
  for (let i = 0; i < 20; i++) {
    await machine.tick();
  }
  assert.deepEqual(machine.lines(), ['1', '2', '3', '4']);
  assert.deepEqual(machine.lines('app.log'), ['1', '2', '3', '4']);
  await machine.stop();
  renameSync(machine.path('app.log'), machine.path('app.log.9'));
  machine.append('app.log.9', '5\n');
  machine.append('app.log', '6\n');
  await machine.start({ files: [{ paths: [machine.path('*.log'), machine.path('*.log.*')] }] });
  for (let i = 0; i < 20; i++) {
    await machine.tick();
  }
  assert.deepEqual(machine.lines(), ['1', '2', '3', '4', '5', '6']);
});

for (const whileAway of [false, true]) {
  test(`rotation by copying: what was not read before the file was emptied is read from the copy${whileAway ? ', also by the next process' : ''}`, async (t) => {
    const machine = new Machine(t);
    machine.now -= 60_000;
    const wish = { files: [{ paths: [machine.path('*.log*')] }] };
    await machine.start(wish);
    machine.append('app.log', '1\n2\n');
    await machine.tick();
    if (whileAway) {
      await machine.stop();
    }
    machine.append('app.log', '3\n');
    copyFileSync(machine.path('app.log'), machine.path('app.log.1'));
    truncateSync(machine.path('app.log'));
    machine.append('app.log', '4 is long enough to reach beyond where reading stood\n');
    if (whileAway) {
      await machine.start(wish);
    }
    for (let i = 0; i < 20; i++) {
      await machine.tick();
    }
    assert.deepEqual(machine.lines(), [
      '1',
      '2',
      '3',
      '4 is long enough to reach beyond where reading stood',
    ]);
    copyFileSync(machine.path('app.log'), machine.path('app.log.2'));
    await machine.tick();
    await machine.tick();
    assert.equal(machine.lines().length, 4, 'a copy that somebody makes is no new log');
  });
}

test('another file with the inode of an old one is a new file', async (t) => {
  const machine = new Machine(t);
  machine.now -= 60_000;
  await machine.start();
  machine.append('app.log', 'first file\n');
  await machine.tick();
  await machine.stop();
  // The same inode with another content is what a reused inode looks like.
  writeFileSync(machine.path('app.log'), 'other file, longer than the first\n');
  await machine.start();
  await machine.tick();
  assert.deepEqual(machine.lines(), ['first file', 'other file, longer than the first']);
});

test('a line that is too long comes in parts that say so, and no character is cut', async (t) => {
  const machine = new Machine(t);
  machine.now -= 60_000;
  await machine.start({ max_line_bytes: 1_024 });
  const long = '€'.repeat(1_000);
  machine.append('a.log', `${long}\nshort\n`);
  machine.append('b.log', Buffer.concat([Buffer.alloc(2_000, 0xff), Buffer.from('\nshort\n')]));
  await machine.tick();
  const parts = machine.shipped.filter(
    ({ labels }) => labels['filename'] === machine.path('a.log'),
  );
  assert.deepEqual(
    parts.map(({ metadata }) => metadata),
    [{ part: '1' }, { part: '2' }, { part: '3', part_end: 'true' }, undefined],
  );
  assert.ok(parts.every(({ line }) => Buffer.byteLength(line) <= 1_024));
  assert.equal(
    parts
      .slice(0, 3)
      .map(({ line }) => line)
      .join(''),
    long,
  );
  const garbled = machine.lines('b.log');
  assert.equal(garbled.slice(0, -1).join(''), '\ufffd'.repeat(2_000));
  assert.ok(garbled.every((line) => Buffer.byteLength(line) <= 1_024));
});

test('a line of 256 KiB is one line, and one that never ends does not wait for its end', async (t) => {
  const machine = new Machine(t);
  machine.now -= 60_000;
  await machine.start();
  const whole = 'x'.repeat(256 * 1024);
  machine.append('a.log', `${whole}\n`);
  machine.append('b.log', 'y'.repeat(600 * 1024));
  await machine.tick();
  assert.deepEqual(machine.lines('a.log'), [whole]);
  assert.deepEqual(
    machine.lines('b.log').map((line) => line.length),
    [256 * 1024, 256 * 1024],
  );
});

test('lines that belong together are one entry, which ends with the next one or after a while', async (t) => {
  const machine = new Machine(t);
  machine.now -= 60_000;
  await machine.start({
    files: [
      {
        paths: [machine.path('*.log')],
        multiline_start: '^\\d{4}-',
        multiline_wait_ms: 5_000,
        job: 'java',
        labels: { team: 'blue' },
      },
    ],
  });
  machine.append('a.log', '2026-01 boom\n  at a\n  at b\n2026-02 fine\n  more');
  await machine.tick();
  assert.deepEqual(machine.lines(), ['2026-01 boom\n  at a\n  at b']);
  await machine.tick(4_000);
  assert.equal(machine.lines().length, 1);
  await machine.tick(2_000);
  assert.deepEqual(machine.lines().slice(1), ['2026-02 fine']);
  assert.deepEqual(machine.shipped[0]!.labels, {
    team: 'blue',
    job: 'java',
    host: 'testbox',
    filename: machine.path('a.log'),
  });
});

test('one file that is written to without end leaves the others their share, and is read no faster than it may', async (t) => {
  const machine = new Machine(t);
  machine.now -= 60_000;
  await machine.start({ rate_limit_bytes: 100_000 });
  machine.append('loud.log', 'shouting\n'.repeat(200_000));
  machine.append('meek.log', 'please\n');
  await machine.tick();
  assert.deepEqual(machine.lines('meek.log'), ['please']);
  const first = machine.lines('loud.log').length;
  assert.ok(first * 9 >= 200_000 && first * 9 < 300_000, `${first} lines at once`);
  await machine.tick();
  assert.ok((machine.lines('loud.log').length - first) * 9 < 200_000);
  for (let i = 0; i < 20; i++) {
    await machine.tick();
  }
  assert.equal(machine.lines('loud.log').length, 200_000);
});

for (const [choice, expected] of [
  ['end', ['after', 'new']],
  ['beginning', ['before', 'after', 'new']],
  ['skip', ['new']],
] as const) {
  test(`a checkpoint that cannot be read: ${choice}`, async (t) => {
    const machine = new Machine(t);
    machine.now -= 60_000;
    machine.append('a.log', 'before\n');
    writeFileSync(`${machine.state}/checkpoint`, 'svc-edge-logs 1 0000\n{"since":0}\n');
    await machine.start({ on_broken_checkpoint: choice });
    await machine.tick();
    machine.append('a.log', 'after\n');
    await machine.tick();
    machine.append('b.log', 'new\n');
    await machine.tick();
    assert.deepEqual(machine.lines().toSorted(), [...expected].toSorted());
    assert.match(machine.warnings[0]!, /checkpoint is unusable/);
    await machine.stop();
    machine.append('a.log', 'once more\n');
    await machine.start({ on_broken_checkpoint: 'beginning' });
    await machine.tick();
    assert.equal(machine.lines().includes('once more'), choice !== 'skip');
    rmSync(machine.path('a.log'));
    await machine.tick();
    machine.append('a.log', 'another file\n');
    await machine.tick();
    assert.ok(machine.lines().includes('another file'));
  });
}

test('only what the machine allows is read: a link that leads elsewhere is not, whatever the manager asks for', async (t) => {
  const machine = new Machine(t);
  machine.now -= 60_000;
  machine.policy = [`${machine.logsFolder}/**`];
  mkdirSync(`${machine.folder}/secret`);
  writeFileSync(`${machine.folder}/secret/shadow.log`, 'root\n');
  writeFileSync(machine.path('packed.log.gz'), gzipSync('packed\n'));
  symlinkSync(`${machine.folder}/secret/shadow.log`, machine.path('innocent.log'));
  symlinkSync(`${machine.folder}/secret`, machine.path('folder'));
  mkdirSync(machine.path('apps/one'), { recursive: true });
  writeFileSync(machine.path('apps/one/here.txt'), 'here\n');
  symlinkSync(machine.path('apps/one/here.txt'), machine.path('link.log'));
  await machine.start({
    files: [
      {
        paths: [machine.path('*.log'), machine.path('**/*.{gz,log}'), `${machine.folder}/secret/*`],
        exclude: [machine.path('**/not-[a-m]*')],
      },
    ],
  });
  machine.append('not-me.log', 'a\n');
  machine.append('not-she.log', 'b\n');
  await machine.tick();
  await machine.tick();
  assert.deepEqual(machine.lines().toSorted(), ['b', 'here']);
  assert.deepEqual(machine.lines('apps/one/here.txt'), ['here']);
  machine.policy = [];
  machine.append('apps/one/here.txt', 'more\n');
  await machine.tick();
  await machine.tick();
  machine.append('apps/one/here.txt', 'not any more\n');
  await machine.tick();
  assert.ok(!machine.lines().includes('not any more'));
});

test('no more files are read at a time than it may be; a quiet one makes room', async (t) => {
  const machine = new Machine(t);
  machine.now -= 60_000;
  await machine.start({ max_files: 2 });
  machine.append('a.log', 'a\n');
  machine.append('b.log', 'b\n');
  await machine.tick();
  old(machine, 'a.log');
  await machine.tick();
  machine.append('c.log', 'c\n');
  await machine.tick();
  await machine.tick();
  assert.deepEqual(machine.lines().toSorted(), ['a', 'b', 'c']);
  machine.append('a.log', 'a again\n');
  await machine.tick();
  await machine.tick();
  assert.ok(machine.lines().includes('a again'));
});

test('times go on from where they were when the clock goes back, unless it had gone far ahead', async (t) => {
  const machine = new Machine(t);
  machine.now -= 60_000;
  await machine.start();
  await machine.tick();
  machine.append('a.log', '1\n');
  await machine.tick();
  machine.now -= 30_000;
  machine.append('a.log', '2\n');
  await machine.tick();
  await machine.stop();
  machine.append('a.log', '3\n');
  await machine.start();
  await machine.tick();
  const [one, two, three] = machine.shipped.map(({ nanos }) => BigInt(nanos));
  assert.deepEqual([two! - one!, three! - two!], [1n, 1n]);
  machine.now -= 7_200_000;
  machine.append('a.log', '4\n');
  await machine.tick();
  assert.equal(machine.shipped[3]!.nanos, `${machine.now}000000`);
});

test('a spec that is not meant so is refused, the default one is complete', () => {
  assert.equal(specOf({}).files[0]!.paths.length, 4);
  assert.equal(specOf({}).journal.priority, 'info');
  for (const wrong of [
    { files: [{ paths: ['relative/*.log'] }] },
    { files: [{ labels: { device_id: '7' } }] },
    { files: [{ labels: { 'no-label': '7' } }] },
    { max_line_bytes: 262_145 },
    { journal: { units: ['--file=/etc/shadow'] } },
    { unknown: true },
  ]) {
    assert.throws(() => specOf(wrong), JSON.stringify(wrong));
  }
  assert.deepEqual(linesOf({ body: gzipSync('{"streams":[]}') }), []);
});

test('while the checkpoint cannot be written nothing is shipped, and nothing is lost', async (t) => {
  const machine = new Machine(t);
  machine.now -= 60_000;
  await machine.start();
  await machine.tick();
  renameSync(machine.state, `${machine.state}.away`);
  machine.append('a.log', 'one\n');
  await machine.tick();
  await machine.tick();
  assert.deepEqual(machine.lines(), []);
  assert.match(machine.logs.health().detail!, /reading is paused: ENOENT/);
  renameSync(`${machine.state}.away`, machine.state);
  machine.append('a.log', 'two\n');
  await machine.tick(30_000);
  await machine.tick();
  assert.deepEqual(machine.lines(), ['one', 'two']);
});

test('new files are looked for as often as it is wanted', async (t) => {
  const machine = new Machine(t);
  machine.now -= 60_000;
  await machine.start({ rescan_seconds: 60 });
  await machine.tick();
  machine.append('a.log', 'one\n');
  await machine.tick(50_000);
  assert.deepEqual(machine.lines(), []);
  await machine.tick(10_000);
  assert.deepEqual(machine.lines(), ['one']);
});

for (const whileAway of [false, true]) {
  test(`a file that is emptied before anything of it was read: it is read from its copy${whileAway ? ', also by the next process' : ''}`, async (t) => {
    const machine = new Machine(t);
    machine.now -= 60_000;
    await machine.start();
    machine.append('a.log', '');
    await machine.tick();
    if (whileAway) {
      await machine.stop();
    }
    for (const number of [1, 2]) {
      machine.append('a.log', `${number}\n`);
      if (number === 2) {
        renameSync(machine.path('a.log.1'), machine.path('a.log.2'));
      }
      copyFileSync(machine.path('a.log'), machine.path('a.log.1'));
      truncateSync(machine.path('a.log'));
    }
    machine.append('a.log', '3\n');
    if (whileAway) {
      await machine.start();
    }
    for (let i = 0; i < 15; i++) {
      await machine.tick();
    }
    assert.deepEqual(machine.lines(), ['1', '2', '3']);
  });
}
