import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { MachineFiles, SlowCalls } from 'svc/probe';

import { AllowedPaths } from '../../../plugins/edge-skills/reach/allowed-paths.ts';
import { folderOf, policyOf, skilledEdge } from './machine.ts';

interface Found {
  readonly folders: readonly {
    path: string;
    disk_bytes: number;
    file_bytes: number;
    files: number;
  }[];
  readonly files: readonly { path: string; size_bytes: number }[];
  readonly complete: boolean;
  readonly not_seen?: readonly string[];
  readonly text: string;
  readonly from: number;
}

test('a machine shows of its files what its owner allows, and nothing else by any way', async (t) => {
  const { root, write } = folderOf(t);
  const policy = policyOf({
    paths: [`${root}/open/**`, '/proc/**', '/dev/**', '/**/environ', `${root}/gate/*.log`],
  });
  const dataDir = `${root}/open/data`;
  mkdirSync(dataDir, { recursive: true });
  const { run } = await skilledEdge(t, policy, dataDir);
  const result = async (key: string, params: object): Promise<Found> => {
    const answer = await run(key, params);
    assert.equal(answer.status, 'ok', JSON.stringify(answer.error));
    return answer.result as Found;
  };
  const lines = Array.from({ length: 1_000 }, (_, i) => `line ${i} ä`);
  const log = write('open/app.log', `${lines.join('\n')}\n`);
  const secret = write('secret/key', 'top secret\n');
  write('open/deep/a/b/large.bin', 'x'.repeat(300_000));
  write('open/deep/small', 'x');

  await t.test('the end of a file is told, and how to read on from there', async () => {
    const last = await run('file_tail', { path: log, lines: 3 });
    assert.equal((last.result as Found).text, 'line 997 ä\nline 998 ä\nline 999 ä\n');
    assert.equal(last.truncated, true);
    const texts = [(last.result as Found).text];
    for (let next = last.read_on; next !== null;) {
      const answer = await run('file_tail', { path: log, lines: 400, ...next.params });
      texts.unshift((answer.result as Found).text);
      next = answer.read_on;
    }
    assert.equal(texts.join(''), readFileSync(log, 'utf8'));
    assert.equal(
      (await result('file_tail', { path: log, max_bytes: 20, lines: 50 })).text,
      'line 999 ä\n',
    );
    assert.equal((await result('file_tail', { path: write('open/empty', '') })).text, '');
    assert.equal(
      (await result('file_tail', { path: write('open/odd', 'red \u001b[31m\u202e'), lines: 1 }))
        .text,
      'red �[31m�',
    );
  });

  await t.test('a file of a terabyte costs no more than its end', async () => {
    const huge = openSync(`${root}/open/huge`, 'w');
    ftruncateSync(huge, 2 ** 40);
    writeSync(huge, 'the end', 2 ** 40);
    closeSync(huge);
    const { text } = await result('file_tail', {
      path: `${root}/open/huge`,
      lines: 1,
      max_bytes: 7,
    });
    assert.equal(text, 'the end');
  });

  await t.test('links are followed before the policy is asked', async () => {
    symlinkSync(log, `${root}/way-in.log`);
    symlinkSync(secret, `${root}/open/way-out.log`);
    symlinkSync(`${root}/secret`, `${root}/open/folder-out`);
    assert.equal(
      (await result('file_tail', { path: `${root}/way-in.log`, lines: 1 })).text,
      'line 999 ä\n',
    );
    for (const path of [
      `${root}/open/way-out.log`,
      `${root}/open/folder-out/key`,
      `${root}/open/folder-out`,
    ]) {
      for (const key of ['file_tail', 'file_stat', 'disk_usage', 'large_files']) {
        await assert.rejects(
          run(key, { path }),
          /This machine's policy does not allow/,
          `${key} ${path}`,
        );
      }
    }
  });

  const escapes: readonly (readonly [string, RegExp])[] = [
    [`${root}/open/../secret/key`, /must not contain "\.\."/],
    ['open/app.log', /must match pattern|must start with/],
    [`${root}/open/app.log\0.txt`, /must start with/],
    [`/proc/self/root${log}`, /does not allow/],
    ['/proc/self/environ', /does not allow/],
    [`/proc/${process.pid}/fd/1`, /does not allow/],
    ['//proc/./1/cmdline', /does not allow/],
    ['/dev/zero', /does not allow/],
    ['/sys/kernel/notes', /does not allow/],
    [`${dataDir}/plugins/edge-skills/skills.log`, /does not allow/],
    [secret, /does not allow/],
    [`${root}/secret/none`, /does not allow/],
    [`${root}/open/none`, / does not exist\.$/],
    [`${root}/open/app.log/below`, / does not exist\.$/],
  ];
  for (const [path, why] of escapes) {
    await t.test(`refused: ${path.replace(root, '').replaceAll('\0', '\\0')}`, async () => {
      await assert.rejects(run('file_tail', { path }), (error: Error) =>
        why.test(error.message.replace(root, '')),
      );
    });
  }

  await t.test('pipes and devices are never opened, but can be told apart', async () => {
    execFileSync('mkfifo', [`${root}/open/pipe`]);
    await assert.rejects(
      run('file_tail', { path: `${root}/open/pipe` }),
      /is a pipe; only regular files can be read/,
    );
    await assert.rejects(
      run('file_tail', { path: `${root}/open` }),
      /is a folder; only regular files/,
    );
    const { result: told } = await run('file_stat', { path: `${root}/open/pipe` });
    assert.equal((told as { kind: string }).kind, 'pipe');
    await assert.rejects(run('disk_usage', { path: log }), /is not a folder/);
  });

  await t.test(
    'a file with a second name is told as such, and not read where the kernel does not protect links',
    async () => {
      linkSync(log, `${root}/open/again.log`);
      assert.equal(((await run('file_stat', { path: log })).result as { links: number }).links, 2);
      const { root: machine, write: say } = folderOf(t);
      say('proc/sys/fs/protected_hardlinks', '0\n');
      const slow = new SlowCalls({ slots: 1, deadlineMs: 5_000, after: () => () => undefined });
      const paths = new AllowedPaths({
        policy,
        slow,
        files: new MachineFiles(machine),
        closed: [],
        list: 'paths',
      });
      await assert.rejects(
        paths.withFile(log, async () => undefined),
        /has 2 hard links/,
      );
    },
  );

  await t.test(
    'what the agent has no right to read is said to be that',
    { skip: process.getuid?.() === 0 && 'root may read everything' },
    async () => {
      chmodSync(write('open/closed', 'x'), 0);
      await assert.rejects(
        run('file_tail', { path: `${root}/open/closed` }),
        /no permission to read/,
      );
    },
  );

  await t.test(
    'folders are counted on the disk, links once, and what is not allowed not at all',
    async () => {
      const { folders, complete } = await result('disk_usage', {
        path: `${root}/open/deep`,
        depth: 2,
      });
      assert.equal(complete, true);
      assert.deepEqual(
        folders.map(({ path, files, file_bytes: size }) => [path.replace(root, ''), files, size]),
        [
          ['/open/deep', 2, 300_001],
          ['/open/deep/a', 1, 300_000],
          ['/open/deep/a/b', 1, 300_000],
        ],
      );
      const du = Number(
        execFileSync('du', ['-s', '--block-size=1', `${root}/open/deep`])
          .toString()
          .split('\t')[0],
      );
      assert.equal(folders[0]!.disk_bytes, du);
      const large = await result('large_files', { path: `${root}/open/deep`, min_bytes: 100 });
      assert.deepEqual(
        large.files.map(({ path, size_bytes: size }) => [path.replace(root, ''), size]),
        [['/open/deep/a/b/large.bin', 300_000]],
      );
      const everything = await result('disk_usage', { path: `${root}/open`, depth: 4, top: 200 });
      assert.ok(
        everything.folders.every(({ path }) => !path.startsWith(dataDir)),
        'the folder with the keys is left out',
      );
      const few = await run('disk_usage', { path: `${root}/open`, max_entries: 2 });
      const { complete: isWhole, not_seen: left } = few.result as Found;
      assert.deepEqual([few.truncated, isWhole], [true, false]);
      assert.equal(left![0], `${root}/open`, 'what was not seen is named, nearest first');
      assert.match(few.read_on!.hint, /choose a folder further down/);
    },
  );

  await t.test('a file system that does not answer holds up nothing else', async () => {
    const late: (() => void)[] = [];
    const slow = new SlowCalls({
      slots: 1,
      deadlineMs: 5,
      after: (_ms, work) => (late.push(work), () => undefined),
    });
    const paths = new AllowedPaths({
      policy,
      slow,
      files: new MachineFiles(),
      closed: [],
      list: 'paths',
    });
    let released = 0;
    let answer = (): void => undefined;
    const hung = paths.patiently(
      '/mnt/dead',
      () => new Promise<void>((resolve) => (answer = resolve)),
      async () => void released++,
    );
    await pause(0);
    late.forEach((work) => work());
    await assert.rejects(hung, /file system that contains \/mnt\/dead is not responding/);
    answer();
    for (
      const deadline = Date.now() + 20_000;
      released === 0 && Date.now() < deadline;
      await pause(5)
    );
    assert.equal(released, 1, 'what came too late is let go of');
  });
});
