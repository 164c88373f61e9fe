import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { isSvcError } from 'svc/sdk';
import { startTestHost, type TestHost, useNoLeaks } from 'svc/testing';

import { prebuild } from '../../bin/dev/packaging/prebuilt-plugin.ts';
import { folderOnDisk } from '../../core/host/index.ts';
import { Loom } from '../fixtures/plugins/loom/contract.ts';

const fixture = fileURLToPath(new URL('../fixtures/plugins/loom', import.meta.url));

interface Workshop {
  readonly house: TestHost;
  /** Changes the plugin's source; returns the path. */
  edit(file: string, from: string, to: string): string;
}

async function workshop(t: TestContext): Promise<Workshop> {
  const home = mkdtempSync(join(tmpdir(), 'svc-loom-'));
  const folder = join(home, 'loom');
  cpSync(fixture, folder, { recursive: true });
  const house = await startTestHost(t, { plugins: [folder] });
  useNoLeaks(t, house);
  t.after(() => rmSync(home, { recursive: true, force: true }));
  return {
    house,
    edit(file, from, to) {
      const text = readFileSync(join(folder, file), 'utf8');
      assert.ok(text.includes(from));
      writeFileSync(join(folder, file), text.replace(from, to));
      return join(folder, file);
    },
  };
}

const who = (house: TestHost) =>
  house.service(Loom).call<{ colour: string; generation: number }>('who');

const labels = (house: TestHost): readonly string[] =>
  house.host.explain('loom').effects!.children.map(({ label }) => label);

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 20_000; !(await holds()); await pause(10)) {
    assert.ok(Date.now() < deadline, `within 20 s: ${what}`);
  }
}

const health = async (house: TestHost): Promise<unknown> =>
  await house.registry.current.checks.get('loom/thread weaver')!.value.probe();

test('a thread starts with its plugin, is shown among its effects, and leaves with it', async (t) => {
  const { house } = await workshop(t);
  assert.deepEqual(await who(house), { colour: 'red', generation: 1 });
  assert.ok(labels(house).includes('thread weaver: running'), labels(house).join());
  assert.equal(house.census()['threads'], 1);
  const thread = house.service(Loom);
  await house.host.disable('loom');
  await house.settled();
  assert.equal(house.census()['threads'], 0);
  assert.equal(thread.state, 'stopped');
  await assert.rejects(thread.call('who'), /is stopped/);
  await house.host.enable('loom');
  assert.deepEqual(await who(house), { colour: 'red', generation: 2 });
});

test('a changed worker file is a new generation, whose thread takes over while it is asked without end', async (t) => {
  const { house, edit } = await workshop(t);
  const seen = new Set<string>();
  let asking = true;
  let answers = 0;
  const askers = Array.from({ length: 8 }, async () => {
    while (asking) {
      const { colour, generation } = await who(house);
      seen.add(`${colour} ${generation}`);
      answers += 1;
      await pause(1);
    }
  });
  await until('the first answers', () => answers > 50);
  const old = house.service(Loom);
  // As the watcher does when the file has changed.
  await house.host.refresh(new Set([edit('weave.ts', `'red'`, `'blue'`)]));
  await until('blue answers', () => seen.has('blue 2'));
  await house.host.refresh(new Set([edit('weave.ts', `'blue'`, `'green'`)]));
  await until('green answers', () => seen.has('green 3'));
  asking = false;
  await Promise.all(askers);
  assert.deepEqual(
    [...seen],
    ['red 1', 'blue 2', 'green 3'],
    'no call was lost, and no two threads were there at once',
  );
  await house.settled();
  assert.equal(old.state, 'stopped');
});

test('the work a thread has begun is finished before its successor starts', async (t) => {
  const { house } = await workshop(t);
  const long = house.service(Loom).call('wait', 300);
  await house.reload('loom');
  assert.equal(await long, 'waited');
  assert.deepEqual(await who(house), { colour: 'red', generation: 2 });
});

test('a new generation whose thread cannot open is not taken, and the thread before it is started again', async (t) => {
  const { house, edit } = await workshop(t);
  await house.service(Loom).call('keep', 'madder');
  edit(
    'weave.ts',
    `const { folder, generation }`,
    `throw new Error('no wool');\n  const { folder, generation }`,
  );
  const waiting: Promise<unknown>[] = [];
  const reloading = assert.rejects(
    house.reload('loom'),
    /failed in start: thread weaver of loom could not open: no wool; generation 1 keeps running/,
  );
  for (let at = 0; at < 200; at++) {
    waiting.push(house.service(Loom).call('who'));
    await pause(1);
  }
  await reloading;
  for (const answer of await Promise.all(waiting)) {
    assert.deepEqual(answer, { colour: 'red', generation: 1 });
  }
  assert.deepEqual(await house.service(Loom).call('kept'), ['madder']);
  assert.equal(house.census()['threads'], 1);
});

test('a new generation that fails in start() gives the thread back', async (t) => {
  const { house, edit } = await workshop(t);
  await who(house);
  edit(
    'index.ts',
    'export default definePlugin({',
    `export default definePlugin({\n  start() { throw new Error('too early'); },`,
  );
  await assert.rejects(house.reload('loom'), /failed in start: too early/);
  assert.deepEqual(await who(house), { colour: 'red', generation: 1 });
});

test('worker code that does not compile leaves everything as it was', async (t) => {
  const { house, edit } = await workshop(t);
  edit('weave.ts', `const colour = 'red';`, 'const colour = ;');
  await assert.rejects(
    house.reload('loom'),
    /failed in compile: loom does not compile: .*weave\.ts:\d+/,
  );
  assert.deepEqual(await who(house), { colour: 'red', generation: 1 });
});

test('a thread that dies is an error of its plugin, ill until it is back, and too many put the plugin out of service', async (t) => {
  const { house } = await workshop(t);
  await who(house);
  const die = async (): Promise<void> => {
    const isOver = house
      .service(Loom)
      .call('wait', 60_000)
      .catch(() => undefined);
    // This answer comes or not: the thread may be faster dead than heard.
    void house
      .service(Loom)
      .call('die')
      .catch(() => undefined);
    await isOver;
  };
  await die();
  const { strikes } = house.host.explain('loom');
  assert.deepEqual(
    strikes.map(({ label, cause }) => [label, cause]),
    [['thread weaver', 'thread weaver exited with code 3']],
  );
  assert.deepEqual(await health(house), {
    ok: false,
    detail: 'backing-off: it exited with code 3',
  });
  assert.ok(labels(house).includes('thread weaver: backing-off (exited with code 3)'));
  assert.deepEqual(await who(house), { colour: 'red', generation: 1 }, 'the next thread answers');
  assert.deepEqual(await health(house), { ok: true, detail: 'running' });
  assert.match(
    await (await house.fetch('/metrics')).text(),
    /svc_thread_restarts_total\{plugin="loom",thread="weaver"\} 1/,
  );
  await die();
  await who(house);
  await die();
  await until('it is in quarantine', () => house.host.explain('loom').state === 'quarantined');
  await house.settled();
  assert.equal(house.census()['threads'], 0);
});

test('a listener that throws is an error of its plugin; its thread goes on', async (t) => {
  const { house } = await workshop(t);
  const thread = house.service(Loom);
  await thread.call('tell', { kind: 'poison', count: 1 });
  await thread.call('tell', { kind: 'yarn', count: 2 });
  await until('the notices are there', () => thread.notices.length === 2);
  assert.deepEqual(
    house.host.explain('loom').strikes.map(({ label, cause }) => [label, cause]),
    [['notice of thread weaver', 'cannot bear this notice']],
  );
});

test('threads see the clock of the house', async (t) => {
  const clock = { now: () => 1_000_000, monotonic: () => performance.now() };
  const house = await startTestHost(t, { plugins: [fixture], clock });
  const now = await house.service(Loom).call<number>('now');
  assert.ok(Math.abs(now - 1_000_000) < 60_000, String(now));
});

test('the end of the house closes its threads in order', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-loom-data-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  for (const shade of ['one', 'two']) {
    const house = await startTestHost(t, { plugins: [fixture], dataDir });
    await house.service(Loom).call('keep', shade);
    const waiting = house.service(Loom).call('wait', 100);
    await house.stop();
    assert.equal(await waiting, 'waited');
  }
  const house = await startTestHost(t, { plugins: [fixture], dataDir });
  assert.deepEqual(await house.service(Loom).call('kept'), ['one', 'two']);
});

test('a thread is declared in activate(), once, from a worker file that is there, with data that can travel', async (t) => {
  const { house, edit } = await workshop(t);
  const given = `ctx.threads.start('weaver', 'loom-worker.ts', { folder: ctx.dataDir, generation: ctx.generation }, { heapMb: 64 })`;
  let written = given;
  for (const [call, complaint] of [
    [
      `ctx.threads.start('weaver', 'index.ts', {})`,
      /refers to "index\.ts", which is not a \*-worker\.ts file next to its plugin\.json; there is loom-worker\.ts/,
    ],
    [`ctx.threads.start('We aver', 'loom-worker.ts', {})`, /starts a thread named "We aver"/],
    [`ctx.threads.start('weaver', 'loom-worker.ts', {}, { heapMb: 1 })`, /a heap of 1 MB/],
    [`ctx.threads.start('weaver', 'loom-worker.ts', () => 1)`, /could not be cloned/],
    [
      `(ctx.threads.start('weaver', 'loom-worker.ts', {}), ${given})`,
      /"loom\/thread weaver" twice/,
    ],
  ] as const) {
    edit('index.ts', written, call);
    written = call;
    await assert.rejects(
      house.reload('loom'),
      (error) => isSvcError(error) && complaint.test(error.message),
    );
    assert.deepEqual(await who(house), { colour: 'red', generation: 1 });
  }
});

test('a built plugin carries its threads as texts of their own, covered by its hashes, the same bytes wherever it is made', async (t) => {
  const homes = ['a', 'somewhere/else'].map((name) =>
    join(mkdtempSync(join(tmpdir(), 'svc-loom-')), name, 'loom'),
  );
  const builds = await Promise.all(
    homes.map(async (home) => {
      t.after(() => rmSync(home, { recursive: true, force: true }));
      cpSync(fixture, home, { recursive: true });
      return await prebuild(folderOnDisk('loom', home, 'shipped'));
    }),
  );
  const [one, two] = builds;
  assert.deepEqual([...one!.keys()], ['plugin.json', 'index.cjs', 'loom-worker.cjs']);
  assert.deepEqual(one, two);
  const { integrity } = JSON.parse(one!.get('plugin.json')!.toString()) as {
    integrity: Record<string, string>;
  };
  assert.deepEqual(Object.keys(integrity), ['index.cjs', 'loom-worker.cjs']);

  const built = join(homes[0]!, '..', 'built', 'loom');
  cpSync(fixture, built, { recursive: true });
  rmSync(built, { recursive: true });
  for (const [name, bytes] of one!) {
    cpSync(fixture, built, { recursive: true, filter: (source) => source === fixture });
    writeFileSync(join(built, name), bytes);
  }
  const house = await startTestHost(t, { plugins: [built] });
  useNoLeaks(t, house);
  assert.deepEqual(await who(house), { colour: 'red', generation: 1 });
  await assert.rejects(house.service(Loom).call('tangle'), (error: Error) =>
    /weave\.ts:\d+/.test(error.stack!),
  );
});
