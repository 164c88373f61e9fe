import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { TrialFiles } from '../../../plugins/edge-upgrade/trial-files.ts';
import { Launched, until } from './launched.ts';

/** An agent that writes its name and stays. */
const stays = (name: string): string =>
  `#!/bin/sh\necho "${name} $SVC_EDGE_RUNNING $*" >>"$3/starts-of-agents"\nexec sleep 120\n`;
const ends = (name: string, code: number): string =>
  `#!/bin/sh\necho "${name}" >>"$3/starts-of-agents"\nexit ${code}\n`;
const ignores = `#!/bin/sh\ntrap '' TERM\necho deaf >>"$3/starts-of-agents"\nwhile :; do sleep 1; done\n`;

function launched(t: TestContext, installed = stays('installed')): Launched {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-launch-'));
  const made = new Launched(dataDir, installed);
  t.after(async () => {
    await made.end();
    made.killAgent();
    rmSync(dataDir, { recursive: true, force: true });
  });
  made.start();
  return made;
}

const starts = (one: Launched): string[] => (one.file('starts-of-agents') ?? '').trim().split('\n');
const trial = (one: Launched, next: string, seconds = 60, previous = '-'): void =>
  new TrialFiles(one.dataDir).begin({ job: 'j', next, previous, seconds });

test('the launcher keeps the agent running, and ends with it when it is told to', async (t) => {
  const one = launched(t);
  await until(
    'it runs',
    () => one.agent() !== undefined && starts(one)[0] !== '',
    10_000,
    () => one.said,
  );
  assert.deepEqual(starts(one), [`installed - edge --data ${one.dataDir}`]);
  const first = one.killAgent();
  await until('it runs again', () => starts(one).length === 2 && one.agent() !== first, 10_000);

  await t.test('a second launcher of the same folder does not start another', async () => {
    const second = new Launched(one.dataDir, stays('second'));
    second.start();
    assert.equal(await second.end('SIGCONT'), 1);
    assert.match(second.said, /another launcher/);
    writeFileSync(join(one.dataDir, 'installed'), stays('installed'), { mode: 0o755 });
  });

  await t.test(
    'a launcher that was killed is followed by another, which ends the agent that was left behind',
    async () => {
      const left = one.agent()!;
      await one.end('SIGKILL');
      assert.ok(existsSync(`/proc/${left}`));
      one.start();
      await until(
        'there is a new agent alone',
        () => !existsSync(`/proc/${left}`) && (one.agent() ?? left) !== left,
        10_000,
      );
      const last = one.agent()!;
      assert.equal(await one.end(), 0);
      assert.ok(!existsSync(`/proc/${last}`));
    },
  );
});

test('a new version is on trial: it stays when it says that it is healthy, and gives way otherwise', async (t) => {
  const one = launched(t);
  await until('it runs', () => one.agent() !== undefined, 10_000);
  const state = (): string => `${one.said}\n${starts(one).join('\n')}`;

  await t.test('one that ends three times', async () => {
    one.version('2.0.0-a', ends('bad', 7));
    trial(one, '2.0.0-a');
    await until(
      'it was taken back',
      () => one.file('upgrade/back') !== undefined && one.file('upgrade/trial') === undefined,
      10_000,
      state,
    );
    assert.equal(
      one.file('upgrade/back'),
      'j\n2.0.0-a\nit ended 3 times before it was healthy, last with exit code 7\n',
    );
    assert.equal(starts(one).filter((line) => line === 'bad').length, 3);
    await until(
      'the one before runs',
      () => starts(one).at(-1)!.startsWith('installed -'),
      10_000,
      state,
    );
    assert.equal(one.runs, '-');
  });

  await t.test('one that hangs, and is deaf to SIGTERM', async () => {
    one.version('2.0.0-b', ignores);
    trial(one, '2.0.0-b', 1);
    await until(
      'it was taken back',
      () =>
        one.file('upgrade/back')?.includes('2.0.0-b\nit was not healthy within 1 seconds') === true,
      15_000,
      state,
    );
    await until(
      'the one before runs',
      () => starts(one).at(-1)!.startsWith('installed -'),
      15_000,
      state,
    );
  });

  await t.test('one that is healthy', async () => {
    one.version('2.0.0-c', stays('good'));
    trial(one, '2.0.0-c', 2);
    await until(
      'it runs',
      () => starts(one).at(-1)!.startsWith('good 2.0.0-c edge'),
      10_000,
      state,
    );
    new TrialFiles(one.dataDir).pass();
    one.version('2.0.0-d', ends('bad again', 1));
    trial(one, '2.0.0-d', 60, '2.0.0-c');
    await until(
      'the next was taken back',
      () =>
        one.file('upgrade/back')?.includes('2.0.0-d') === true &&
        one.file('upgrade/trial') === undefined,
      15_000,
      state,
    );
    assert.equal(one.runs, 'versions/2.0.0-c');
    assert.equal(
      starts(one).filter((line) => line === 'bad again').length,
      3,
      'the starts of the one before do not count',
    );
  });

  await t.test('what a kill has interrupted is finished by the next start', async () => {
    await one.end('SIGKILL');
    trial(one, '2.0.0-d', 60, '2.0.0-c');
    writeFileSync(join(one.dataDir, 'upgrade/back'), 'j\n2.0.0-d\nit was bad\n');
    one.start();
    await until('it was finished', () => one.file('upgrade/trial') === undefined, 10_000, state);
    await until(
      'the one before runs',
      () => starts(one).at(-1)!.startsWith('good 2.0.0-c'),
      10_000,
      state,
    );
  });

  await t.test('a trial that makes no sense is put aside', async () => {
    for (const text of ['j\n../../bin\n-\n5\n', 'j\n2.0.0-c\n-\nsoon\n', '\n']) {
      writeFileSync(join(one.dataDir, 'upgrade/trial.draft'), text);
      renameSync(join(one.dataDir, 'upgrade/trial.draft'), join(one.dataDir, 'upgrade/trial'));
      await until('it was put aside', () => one.file('upgrade/trial') === undefined, 10_000, state);
      assert.equal(one.runs, 'versions/2.0.0-c');
    }
  });

  await t.test('a version that has vanished gives way to the installed program', async () => {
    rmSync(join(one.dataDir, 'versions/2.0.0-c'), { recursive: true });
    one.killAgent();
    await until(
      'the installed one runs',
      () => starts(one).at(-1)!.startsWith('installed -'),
      10_000,
      state,
    );
  });
});
