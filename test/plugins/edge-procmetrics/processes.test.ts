import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { listParams, MachineFiles, parseProcessStat, redactArguments } from 'svc/probe';

import type { ProcessSpec } from '../../../plugins/edge-procmetrics/spec.ts';
import { Watch } from '../../../plugins/edge-procmetrics/watch.ts';
import { decoded, rootOf, type Samples, specOf } from '../edge-hostmetrics/box.ts';

interface Pretended {
  readonly name?: string;
  readonly ppid?: number;
  readonly cpu?: number;
  readonly start?: number;
  readonly state?: string;
  readonly args?: string;
  readonly switches?: number;
}

const statLine = (
  pid: number,
  { name = 'sh', ppid = 1, cpu = 0, start = 10, state = 'S' }: Pretended,
): string =>
  `${pid} (${name}) ${state} ${ppid} 1 1 0 -1 4194304 8 0 2 0 ${cpu} 0 0 0 20 0 3 0 ${start} 8192 5 18446744073709551615\n`;

/** A machine with these processes; `set` makes, changes or (undefined) ends one. */
function machineOf(
  t: Pick<TestContext, 'after'>,
  wish: object,
  processes: Readonly<Record<number, Pretended>>,
  more: Readonly<Record<string, string>> = {},
) {
  const { root, write } = rootOf(t, {
    '/proc/uptime': '100.00 1\n',
    '/proc/stat': 'btime 1700000000\n',
    '/proc/meminfo': 'MemTotal: 200 kB\n',
    '/etc/passwd': 'root:x:0:0::/:/bin/sh\nann:x:1000:1000::/:\n',
    ...more,
  });
  const set = (pid: number, process: Pretended | undefined): void => {
    write(`/proc/${pid}/stat`, process === undefined ? '' : statLine(pid, process));
    write(`/proc/${pid}/cmdline`, process?.args?.replaceAll(' ', '\0').concat('\0') ?? '');
    write(
      `/proc/${pid}/status`,
      `Name:\tx\nUid:\t0\t1000\t0\t0\nVmSwap:\t4 kB\nvoluntary_ctxt_switches:\t${process?.switches ?? 1}\nnonvoluntary_ctxt_switches:\t2\n`,
    );
    write(`/proc/${pid}/io`, 'rchar: 1\nread_bytes: 4096\nwrite_bytes: 512\n');
    write(
      `/proc/${pid}/limits`,
      'Limit  Soft  Hard  Units\nMax open files            4                    8                    files\n',
    );
    write(`/proc/${pid}/fd/0`, '');
    write(`/proc/${pid}/fd/1`, '');
  };
  Object.entries(processes).forEach(([pid, process]) => set(Number(pid), process));
  const clock = { at: 0, now: () => 1_700_000_100_000 + clock.at, monotonic: () => clock.at };
  const after = (ms: number, work: () => void): (() => void) => {
    if (ms >= 1_000) {
      return () => undefined;
    }
    clock.at += ms;
    const timer = setImmediate(work);
    return () => clearImmediate(timer);
  };
  const watch = new Watch(specOf<ProcessSpec>('edge-procmetrics', wish), {
    files: new MachineFiles(root),
    clock,
    after,
  });
  return {
    watch,
    set,
    clock,
    write,
    measure: async (): Promise<Samples> => decoded(await watch.measure()),
  };
}

const value = (samples: Samples, name: string, group: string, more = ''): number | undefined =>
  [...samples].find(
    ([key]) =>
      key.startsWith(`namedprocess_namegroup_${name}{`) &&
      key.includes(`groupname="${group}"`) &&
      key.includes(more),
  )?.[1].value;
const groupsOf = (samples: Samples): string[] =>
  [...new Set([...samples.keys()].map((key) => /groupname="([^"]*)"/.exec(key)![1]!))].sort();
const signal = new AbortController().signal;

describe('the stat of a process', () => {
  test('is read from behind the last parenthesis, whatever its owner called it', () => {
    for (const name of ['a b', ') R 1 (', '((', 'x) S 7 8 9', '']) {
      const stat = parseProcessStat(
        statLine(42, { name, cpu: 5, start: 77, ppid: 3, state: 'D' }),
      )!;
      assert.deepEqual(
        [
          stat.pid,
          stat.name,
          stat.state,
          stat.ppid,
          stat.userTime,
          stat.startTime,
          stat.threads,
          stat.residentPages,
          stat.majorFaults,
        ],
        [42, name, 'D', 3, 5, 77, 3, 5, 2],
      );
    }
    for (const text of ['', '1 (sh', '1 (sh) S 2', 'x (sh) S 1 1 1', ')(']) {
      assert.equal(parseProcessStat(text), undefined);
    }
  });
});

describe('the list of processes', () => {
  test('tells who does what, with the CPU since the scan before, and no share for a pid that was given to another', async (t) => {
    const { watch, set, clock, measure } = machineOf(
      t,
      {},
      {
        5: { name: 'a (b) c', cpu: 100, args: 'run --password=x fast', ppid: 1 },
        6: { cpu: 50, start: 20 },
        2: { name: 'kthreadd', ppid: 0 },
      },
    );
    await measure();
    set(5, { name: 'a (b) c', cpu: 600, args: 'run --password=x fast' });
    set(6, { cpu: 900, start: 5000 });
    clock.at += 10_000;
    const { sampled_at: at, processes } = await watch.list({ top: 10, sort_by: 'cpu' }, signal);
    assert.equal(at, new Date(clock.now()).toISOString());
    assert.deepEqual(processes[0], {
      pid: 5,
      ppid: 1,
      name: 'a (b) c',
      cmdline: 'run --password=[redacted] fast',
      user: 'ann',
      state: 'S',
      cpu_percent: 50,
      mem_percent: 10,
      rss_bytes: 20_480,
      started_at: '2023-11-14T22:13:20.100Z',
    });
    assert.deepEqual(
      processes.map(({ pid, cpu_percent: cpu }) => [pid, cpu]),
      [
        [5, 50],
        [2, 0],
        [6, null],
      ],
    );
    assert.equal(processes[1]!.cmdline, '[kthreadd]');
    assert.equal((await watch.list({ top: 1, sort_by: 'mem' }, signal)).processes.length, 1);
  });

  test('of the past names whoever used most of processor, memory and disk, with the user and the start, for six hours', async (t) => {
    const { watch, set, clock, measure } = machineOf(
      t,
      {},
      { 5: { name: 'nginx', cpu: 100 }, 6: { name: 'cron', cpu: 10 } },
    );
    const minute = 60_000;
    const pass = async (): Promise<number> => {
      clock.at += minute;
      await measure();
      return clock.now();
    };
    await measure();
    const calm = await pass();
    // It has been there for ten seconds and was busy all the time.
    set(7, { name: 'yes\n', cpu: 1_000, start: (100 + 110) * 100 });
    const hot = await pass();
    set(7, { name: 'yes\n', cpu: 7_000, start: (100 + 110) * 100 });
    const later = await pass();
    const [burner] = watch.history(calm, later);
    assert.deepEqual(
      { ...burner, uses: burner!.uses.map(([at, cpu]) => [at, cpu]) },
      {
        pid: 7,
        name: 'yes?',
        user: 'ann',
        started_at: 1_700_000_000_000 + 210_000,
        uses: [
          [hot, 16.7],
          [later, 100],
        ],
      },
    );
    assert.ok(!watch.history(0, calm).some(({ pid }) => pid === 7));
    clock.at += 7 * 3_600_000;
    await pass();
    assert.deepEqual(watch.history(0, later), []);
  });

  test('takes what it can do and refuses what it cannot', () => {
    assert.deepEqual(listParams({}), { top: 50, sort_by: 'cpu' });
    for (const params of [
      { top: 0 },
      { top: 2001 },
      { top: 1.5 },
      { top: '5' },
      { sort_by: 'pid' },
      { limit: 5 },
    ]) {
      assert.throws(() => listParams(params), { code: 'invalid_argument' });
    }
  });

  test('of this machine survives processes that come and go while it is made', async (t) => {
    const watch = new Watch(specOf<ProcessSpec>('edge-procmetrics'), {
      files: new MachineFiles(),
      clock: { now: Date.now, monotonic: () => performance.now() },
      after: (ms, work) => {
        const timer = setTimeout(work, ms);
        return () => clearTimeout(timer);
      },
    });
    const children = Array.from({ length: 20 }, () => spawn('/bin/sleep', ['0.2']));
    t.after(() => children.forEach((child) => child.kill('SIGKILL')));
    const mine = (await watch.list({ top: 2000, sort_by: 'mem' }, signal)).processes.find(
      ({ pid }) => pid === process.pid,
    )!;
    assert.ok(
      mine.cmdline.startsWith(`${process.execPath} `) || mine.cmdline.startsWith('node '),
      mine.cmdline,
    );
    assert.ok(mine.cmdline.endsWith(process.argv.at(-1)!), mine.cmdline);
    assert.equal(
      mine.user,
      'root' === process.env['USER'] || process.getuid!() === 0 ? 'root' : mine.user,
    );
    assert.ok(Math.abs(mine.rss_bytes - process.memoryUsage.rss()) < 64 * 1024 * 1024);
    assert.ok(decoded(await watch.measure()).size > 0);
  });

  test('shows no character that moves a cursor, and is cut at 4096', async (t) => {
    const { watch } = machineOf(
      t,
      {},
      { 5: { name: '\u001b[2J', args: `x ${'\u0007y'.repeat(4_000)}` } },
    );
    const [shown] = (await watch.list({ top: 1, sort_by: 'mem' }, signal)).processes;
    assert.equal(shown!.name, '?[2J');
    assert.match(shown!.cmdline, /^x [?y]{4094}$/);
  });
});

describe('groups of processes', () => {
  test('are named for their processes, add up what these have, and count what they have done since', async (t) => {
    const { set, clock, measure, write } = machineOf(
      t,
      {},
      { 5: { cpu: 1000 }, 6: { cpu: 5, start: 30, state: 'Z' }, 7: { name: 'kworker/0', ppid: 2 } },
    );
    const first = await measure();
    assert.deepEqual(groupsOf(first), ['sh']);
    assert.equal(value(first, 'num_procs', 'sh'), 2);
    assert.equal(value(first, 'num_threads', 'sh'), 6);
    assert.equal(value(first, 'memory_bytes', 'sh', '"resident"'), 2 * 5 * 4096);
    assert.equal(value(first, 'memory_bytes', 'sh', '"virtual"'), 2 * 8192);
    assert.equal(value(first, 'memory_bytes', 'sh', '"swapped"'), 8192);
    assert.equal(value(first, 'open_filedesc', 'sh'), 4);
    assert.equal(value(first, 'worst_fd_ratio', 'sh'), 0.5);
    assert.equal(value(first, 'states', 'sh', '"Zombie"'), 1);
    assert.equal(value(first, 'oldest_start_time_seconds', 'sh'), 1_700_000_000.1);
    assert.equal(value(first, 'cpu_seconds_total', 'sh', '"user"'), 0);
    assert.match([...first.keys()][0]!, /job="process"/);

    set(5, { cpu: 1100, switches: 4 });
    // Another process under the number of one that ended, and one that is wholly new: both bring what they have done.
    set(6, { cpu: 300, start: 10_500 });
    set(8, { cpu: 50, start: 10_600 });
    write('/proc/uptime', '160.00 1\n');
    clock.at += 60_000;
    const second = await measure();
    assert.equal(value(second, 'cpu_seconds_total', 'sh', '"user"'), 1 + 3 + 0.5);
    assert.equal(value(second, 'context_switches_total', 'sh', '"voluntary"'), 3 + 1 + 1);
    assert.equal(value(second, 'read_bytes_total', 'sh'), 2 * 4096);
    set(5, undefined);
    set(6, undefined);
    set(8, undefined);
    const gone = await measure();
    assert.deepEqual(
      [value(gone, 'num_procs', 'sh'), value(gone, 'cpu_seconds_total', 'sh', '"user"')],
      [0, 4.5],
    );
  });

  test('are those of the spec, the first that fits, with parts of the arguments in their names but no secret', async (t) => {
    const processes = {
      5: { name: 'java', args: 'java -Dapp=shop --token abc' },
      6: { name: 'java', args: 'java -jar x' },
      7: { name: 'sshd' },
      8: { name: 'sshd: ann' },
      9: { name: 'bash', args: 'bash --token abc' },
    };
    const groups = [
      { name: 'app-{1}', comm: 'java', cmdline: '-Dapp=(\\w+)' },
      { name: 'ssh', comm: 'sshd.*' },
      { name: 'leak-{1}', cmdline: '--token (\\S+)' },
    ];
    assert.deepEqual(groupsOf(await machineOf(t, { groups }, processes).measure()), [
      'app-shop',
      'java',
      'leak-[redacted]',
      'ssh',
    ]);
    assert.deepEqual(
      groupsOf(await machineOf(t, { groups, others: 'none' }, processes).measure()),
      ['app-shop', 'leak-[redacted]', 'ssh'],
    );
    assert.deepEqual(
      groupsOf(
        await machineOf(
          t,
          { groups: [{ name: 'one {comm}', comm: 'sshd' }], others: 'none' },
          processes,
        ).measure(),
      ),
      ['one sshd'],
    );
    assert.throws(
      () => machineOf(t, { groups: [{ name: 'x', comm: '(' }] }, {}),
      /groups\[0\]\.comm is not a valid regular expression/,
    );
    assert.throws(() => specOf('edge-procmetrics', { groups: [{ name: 'x' }] }));
  });

  test('follow the rest of the spec: how many, of the kernel too, without files or bytes, under another job and instance', async (t) => {
    const processes = Object.fromEntries(
      Array.from({ length: 5 }, (_, i) => [i + 5, { name: `p${i}` }]),
    );
    const { measure, set } = machineOf(t, { max_groups: 3 }, processes);
    assert.deepEqual(groupsOf(await measure()), ['other', 'p0', 'p1', 'p2']);
    set(5, { name: 'new' });
    assert.deepEqual(groupsOf(await measure()), ['new', 'other', 'p1', 'p2']);
    assert.deepEqual(
      groupsOf(
        await machineOf(
          t,
          { kernel_threads: true },
          { 7: { name: 'kworker/0', ppid: 2 } },
        ).measure(),
      ),
      ['kworker/0'],
    );
    const lean = await machineOf(
      t,
      { files: false, io: false, job: 'j', instance: 'i' },
      { 5: {} },
    ).measure();
    assert.ok(
      [...lean.keys()].every(
        (key) =>
          key.includes('instance="i",job="j"') &&
          !/filedesc|fd_ratio|read_bytes|write_bytes/.test(key),
      ),
    );
  });

  test('go on when the memory of a process is locked: its arguments count as none, and it holds one thread', async (t) => {
    const { root } = rootOf(t, {
      '/proc/5/stat': statLine(5, { name: 'stuck' }),
      '/proc/6/stat': statLine(6, { name: 'fine' }),
    });
    const asked: string[] = [];
    const watch = new Watch(
      specOf<ProcessSpec>('edge-procmetrics', { groups: [{ name: 'x', cmdline: 'x' }] }),
      {
        files: new MachineFiles(root),
        clock: { now: () => 1, monotonic: () => 1 },
        after: (_ms, work) => {
          const timer = setImmediate(work);
          return () => clearImmediate(timer);
        },
        readStart: (path) => (
          asked.push(path),
          path.includes('/5/') ? new Promise(() => undefined) : Promise.resolve(Buffer.from('x\0'))
        ),
      },
    );
    assert.deepEqual(groupsOf(decoded(await watch.measure())), ['fine', 'stuck']);
    assert.equal(asked.length, 1);
    await pause(1);
  });
});

test('secrets in arguments are hidden, and what only looks like one is not', () => {
  const hidden = [
    'app --password=s3cr3t',
    'app --password s3cr3t',
    'app --db-password -s3cr3t',
    'app -DdbPassword=s3cr3t',
    'app --apiKey=s3cr3t',
    'app --api-key s3cr3t',
    'env AWS_SECRET_ACCESS_KEY=s3cr3t app',
    'env PGPASSWORD=s3cr3t psql',
    'mysql -u root -ps3cr3t shop',
    'sshpass -p s3cr3t ssh host',
    'redis-cli -a s3cr3t ping',
    'curl -u ann:s3cr3t https://x',
    'curl https://ann:s3cr3t@x/path',
    'curl https://x/?access_token=s3cr3t&b=1',
    'openssl x -passin pass:s3cr3t',
    'app --auth s3cr3t',
    'app --key s3cr3t',
    'ldapsearch -w s3cr3t',
    'vault --secret-id s3cr3t',
  ];
  for (const line of hidden) {
    const shown = redactArguments(line.split(' ')).join(' ');
    assert.ok(!shown.includes('s3cr3t') && shown.includes('[redacted]'), `${line} → ${shown}`);
    const wrapped = redactArguments(['sh', '-c', line]).join(' ');
    if (/password[= ]s|token=|-u ann|ann:s|mysql|pass:|api-key|PGPASS|SECRET/.test(line)) {
      assert.ok(!wrapped.includes('s3cr3t'), `sh -c ${line} → ${wrapped}`);
    }
  }
  for (const arg of [
    'Authorization: Bearer s3cr3tabc',
    'X-Api-Key: s3cr3tabc',
    '{"password":"s3cr3tabc"}',
    'host=db password=s3cr3tabc x=1',
    'ghp_s3cr3tabcs3cr3tabc',
    'xoxb-s3cr3tabc',
    'eyJs3cr3tabc.e30.x',
  ]) {
    assert.ok(!redactArguments(['x', arg]).join(' ').includes('s3cr3tabc'), arg);
  }
  for (const line of [
    'app --password-file /run/pw',
    'app --max-tokens=5',
    'git commit --author ann',
    'cat /etc/passwd',
    'app --keyboard us',
    'mysql -p shop',
    'app -p 8080',
    'tokenizer --input x',
    'app --token-url https://x/y',
  ]) {
    assert.equal(redactArguments(line.split(' ')).join(' '), line);
  }
  const started = 'x'.repeat(16_000);
  assert.ok(redactArguments(['mysql', `${'mysql -'.repeat(2_000)}${started}`]).length === 2);
});
