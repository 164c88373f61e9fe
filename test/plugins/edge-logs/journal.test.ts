import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import type { ProgramHandle } from 'svc/contracts/programs';

import { systemClock } from '../../../core/boot/time.ts';
import { OwnedScope } from '../../../core/registry/index.ts';
import { journalEntry, unitOf } from '../../../plugins/edge-logs/journal/journal-entry.ts';
import type { Logs } from '../../../plugins/edge-logs/logs.ts';
import { ProgramRunner } from '../../../plugins/programs/runner.ts';
import { peer } from '../../peers.ts';
import { Machine } from './machine.ts';

const entry = (fields: object): Buffer => Buffer.from(`${JSON.stringify(fields)}\n`);
const good = (number: number, more: object = {}): Buffer =>
  entry({
    __CURSOR: `s=1;i=${number}`,
    __REALTIME_TIMESTAMP: String(1_795_000_000_000_000 + number),
    MESSAGE: `message ${number}`,
    PRIORITY: '3',
    ...more,
  });

async function withJournal(
  t: TestContext,
  wish: Parameters<Machine['start']>[0] = {},
): Promise<Machine> {
  const machine = new Machine(t);
  machine.policy = ['/var/log/**'];
  await machine.start({ files: [], ...wish, journal: { enabled: true, ...wish.journal } });
  return machine;
}

test('entries of the journal keep their times and say who wrote them; reading goes on after the last one that was shipped', async (t) => {
  const machine = await withJournal(t, {
    journal: {
      units: ['ssh.service', 'app@*'],
      priority: 'warning',
      job: 'systemd',
      directory: '/var/log/journal/here',
    },
  });
  const { journal } = machine.logs;
  assert.deepEqual(journal!.begin().slice(6), [
    `--since=@${Math.floor(machine.now / 1_000)}`,
    '--priority=warning',
    '--unit=ssh.service',
    '--unit=app@*',
    '--directory=/var/log/journal/here',
  ]);
  const bytes = Buffer.concat([
    good(1, { _SYSTEMD_UNIT: 'app@7.service', SYSLOG_IDENTIFIER: 'app', _PID: '77' }),
    good(1, { MESSAGE: [0xff, 0x68, 0x69] }),
    good(2, { _TRANSPORT: 'kernel', PRIORITY: '6' }),
    Buffer.from('no json at all\n'),
    entry({ MESSAGE: 'no cursor' }),
    good(3, { MESSAGE: ['first of two', 'second'] }),
  ]);
  for (let at = 0; at < bytes.length; at += 7) {
    await journal!.feed(bytes.subarray(at, at + 7));
  }
  await machine.tick();
  assert.deepEqual(
    machine.shipped.map(({ nanos, line, labels, metadata }) => [
      nanos.slice(-7),
      line,
      labels['unit'],
      metadata,
    ]),
    [
      [
        '0001000',
        'message 1',
        'app@.service',
        { level: 'error', identifier: 'app', pid: '77', unit_full: 'app@7.service' },
      ],
      ['0001001', '\ufffdhi', undefined, { level: 'error' }],
      ['0003000', 'first of two', undefined, { level: 'error' }],
      ['0002000', 'message 2', 'kernel', { level: 'info' }],
    ].toSorted(
      (a, b) => machine.lines().indexOf(a[1] as string) - machine.lines().indexOf(b[1] as string),
    ),
  );
  assert.equal(machine.shipped[0]!.labels['job'], 'systemd');
  await journal!.feed(good(4));
  await machine.stop();
  await machine.start({ files: [], journal: { enabled: true } });
  assert.ok(
    machine.logs.journal!.begin().includes('--after-cursor=s=1;i=3'),
    'what was not shipped is asked for again',
  );
});

test('a journal that prints faster than lines are taken has to wait, and a long message comes in parts', async (t) => {
  const machine = await withJournal(t, { max_line_bytes: 1_024 });
  const { journal } = machine.logs;
  let fed = 0;
  const feeding = (async () => {
    for (let i = 1; i <= 400; i++) {
      await journal!.feed(good(i, { MESSAGE: 'x'.repeat(5_000) }));
      fed = i;
    }
  })();
  await pause(50);
  assert.ok(fed < 400);
  while (fed < 400) {
    await machine.tick();
    await pause(1);
  }
  await feeding;
  await machine.tick();
  assert.equal(machine.lines().join('').length, 400 * 5_000);
  assert.deepEqual(
    machine.shipped.slice(3, 5).map(({ metadata }) => metadata),
    [
      { level: 'error', part: '4' },
      { level: 'error', part: '5', part_end: 'true' },
    ],
  );
});

test('without leave of the machine there is no journal, nor when it is not wanted', async (t) => {
  const machine = await withJournal(t);
  assert.ok(machine.logs.journal);
  machine.policy = ['/var/log/*.log'];
  await machine.stop();
  await machine.start({ files: [], journal: { enabled: true } });
  assert.equal(machine.logs.journal, undefined);
  machine.policy = ['/**'];
  await machine.stop();
  await machine.start({ files: [], journal: { enabled: false } });
  assert.equal(machine.logs.journal, undefined);
});

test('units that come and go do not become streams of their own; a hostile entry is none', () => {
  assert.deepEqual(
    [
      'ssh.service',
      'user@1000.service',
      'session-4.scope',
      'run-u12.service',
      'nonsense',
      undefined,
    ].map(unitOf),
    ['ssh.service', 'user@.service', 'scope', 'service', undefined, undefined],
  );
  for (const line of [
    '',
    '[]',
    'null',
    '{"__CURSOR":7}',
    '{"__proto__":{"MESSAGE":"x"}}',
    `{"__CURSOR":"${'c'.repeat(600)}","__REALTIME_TIMESTAMP":"1","MESSAGE":"x"}`,
  ]) {
    assert.equal(journalEntry(line), undefined, line);
  }
});

test('a real journal: what is logged while the reader is away is there when it comes back, each entry once', async (t) => {
  const [journalctl, logger] = [peer(t, 'journalctl'), peer(t, 'logger')];
  const journald = ['/lib/systemd/systemd-journald', '/usr/lib/systemd/systemd-journald'].find(
    existsSync,
  );
  if (journalctl === undefined || logger === undefined || journald === undefined) {
    return;
  }
  if (process.getuid?.() !== 0) {
    t.skip('only root may have a journal of its own');
    return;
  }
  const name = `svcedgelogs${process.pid}`;
  const madeHere = ['/var/log/journal', '/run/log/journal', '/run/log'].filter(
    (folder) => !existsSync(folder),
  );
  const daemon = spawn(journald, [name], { stdio: 'ignore' });
  const socket = `/run/systemd/journal.${name}/dev-log`;
  const stores = (): string[] =>
    ['/var/log/journal', '/run/log/journal'].flatMap((root) =>
      existsSync(root)
        ? readdirSync(root)
            .filter((one) => one.endsWith(`.${name}`))
            .map((one) => join(root, one))
        : [],
    );
  t.after(async () => {
    daemon.kill('SIGKILL');
    [...stores(), ...madeHere, `/run/systemd/journal.${name}`].forEach((folder) =>
      rmSync(folder, { recursive: true, force: true }),
    );
  });
  const say = (text: string): void =>
    void spawnSync(logger, ['--socket', socket, '--tag', 'tester', '-p', 'user.warning', text]);
  await until(() => existsSync(socket));
  say('before anybody listens');
  await until(() => stores().length > 0);

  const machine = await withJournal(t, { journal: { directory: stores()[0]! } });
  machine.policy = ['/var/log/**', '/run/log/**'];
  await machine.start({ files: [], journal: { enabled: true, directory: stores()[0]! } });
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
  };
  const programs = new ProgramRunner({
    folder: join(machine.folder, 'notes'),
    clock: systemClock,
    log,
    path: process.env['PATH'] ?? '',
    places: new Map(),
    random: Math.random,
    restart: { firstMs: 20, maxMs: 50 },
  });
  await programs.sweep();
  const follow = (logs: Logs): ProgramHandle => {
    const { journal } = logs;
    const scope = new OwnedScope('test', {
      tick: async (_label, work) => await work(),
      task: async (_label, work) => await work(),
    });
    scope.arm();
    t.after(() => scope.close());
    const owner = { id: 'test', dataDir: machine.folder, log, scope };
    return programs.start(owner, 'journal', journalctl, {
      args: () => journal!.begin(),
      output: (chunk) => journal!.feed(chunk),
    });
  };
  const heard = (): readonly string[] =>
    machine.lines().filter((line) => line.startsWith('number'));

  const first = follow(machine.logs);
  await first.ready(10_000);
  let said = 0;
  await until(async () => {
    say(`number ${said++}`);
    await machine.tick();
    return heard().length > 0;
  });
  const from = Number(heard()[0]!.split(' ')[1]);
  // A program that dies is started again where it was.
  process.kill(first.pid!, 'SIGKILL');
  say(`number ${said++}`);
  await until(async () => {
    await machine.tick();
    return heard().at(-1) === `number ${said - 1}`;
  });
  await first.stop();
  say(`number ${said++}`);
  say(`number ${said++}`);
  await machine.stop();
  await machine.start({ files: [], journal: { enabled: true, directory: stores()[0]! } });
  follow(machine.logs);
  await until(async () => {
    await machine.tick();
    return heard().at(-1) === `number ${said - 1}`;
  });
  assert.deepEqual(
    heard(),
    Array.from({ length: said - from }, (_, i) => `number ${from + i}`),
  );
  const { labels, metadata } = machine.shipped.find(({ line }) => line === heard()[0])!;
  assert.deepEqual(
    [labels['job'], metadata!['level'], metadata!['identifier']],
    ['journal', 'warn', 'tester'],
  );
});

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 20_000; !(await holds()); await pause(20)) {
    assert.ok(Date.now() < deadline, 'within 20 s');
  }
}
