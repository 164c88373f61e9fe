import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { isSvcError, type SvcError } from 'svc/sdk';
import { startThreadForTest, type TestThread } from 'svc/testing';

import { programText } from '../../bin/dev/packaging/program-text.ts';
import { bundleSources } from '../../bin/bundler/sources.ts';
import { systemClock } from '../../core/boot/time.ts';
import { bundleThread } from '../../bin/bundler/bundle.ts';
import { Threads } from '../../core/isolate/index.ts';
import { addonFile } from '../addon.ts';

const worker = fileURLToPath(new URL('../fixtures/plugins/loom/loom-worker.ts', import.meta.url));

async function loom(
  t: TestContext,
  options: { heapMb?: number; drainMs?: number; idleMs?: number } = {},
): Promise<TestThread & { folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-thread-'));
  const thread = await startThreadForTest(t, worker, { folder, generation: 1 }, options);
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return Object.assign(Object.create(thread) as TestThread, { folder });
}

const failure = (call: Promise<unknown>): Promise<Error> =>
  call.then(
    () => assert.fail('it did not fail'),
    (error: unknown) => error as Error,
  );

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 20_000; !(await holds()); await pause(10)) {
    assert.ok(Date.now() < deadline, `within 20 s: ${what}`);
  }
}

test('a call goes to the thread and its result comes back; what it kept is in its database', async (t) => {
  const thread = await loom(t);
  assert.equal(thread.state, 'running');
  assert.deepEqual(await thread.call('echo', { deep: [1, new Date(0), new Map([['a', 1n]])] }), {
    deep: [1, new Date(0), new Map([['a', 1n]])],
  });
  await thread.call('keep', 'indigo');
  assert.deepEqual(await thread.call('kept'), ['indigo']);
  assert.ok(Math.abs((await thread.call<number>('now')) - Date.now()) < 60_000);
});

test(
  'where cores are scarce the thread of requests goes first',
  { skip: process.platform !== 'linux' && 'only Linux has a priority for each thread' },
  async (t) => {
    const before = getPriority();
    const thread = await loom(t);
    const open = Math.min(19, before + 10);
    assert.deepEqual(
      await thread.call('priority'),
      { opening: before, open },
      'an opening, which requests wait for, does not stand back',
    );
    assert.equal(getPriority(), before, 'that of this thread stays');
  },
);

test('a thread that runs for calls alone starts with the first one, ends when none comes, and starts again', async (t) => {
  const thread = await loom(t, { idleMs: 300 });
  assert.equal(thread.state, 'waiting');
  assert.deepEqual(await Promise.all([thread.call('echo', 1), thread.call('echo', 2)]), [1, 2]);
  assert.equal(thread.state, 'running');
  await thread.call('keep', 'indigo');
  await until('it rests', () => thread.state === 'waiting');
  assert.deepEqual(await thread.call('kept'), ['indigo'], 'what it kept is in its database');
  await thread.close();
  assert.match((await failure(thread.call('echo', 3))).message, /is stopped/);
  assert.equal(thread.state, 'stopped');
});

test('buffers move both ways instead of being copied', async (t) => {
  const thread = await loom(t);
  const values = new Float64Array([1, 2, 3]);
  const answer = await thread.call<{ values: Float64Array; bytes: number }>(
    'double',
    { values },
    { transfer: [values.buffer] },
  );
  assert.deepEqual([...answer.values], [2, 4, 6]);
  assert.equal(answer.bytes, 24);
  assert.equal(values.byteLength, 0, 'the caller has it no more');
});

test('small bytes, which lie in memory that node shares among many, come as they are', async (t) => {
  const thread = await loom(t);
  for (const times of [0, 1, 500, 5_000, 50_000]) {
    assert.equal(
      Buffer.from(await thread.call<Uint8Array>('spell', { word: 'weft', times })).toString(),
      'weft'.repeat(times),
    );
  }
});

test('errors keep what users and callers need: code, reason, message, details, retry and kind; others stay plain and name their source', async (t) => {
  const thread = await loom(t);
  const refused = (await failure(thread.call('refuse'))) as SvcError & { kind: string };
  assert.ok(isSvcError(refused));
  const { code, status, reason, message, details, retryAfterSeconds, kind } = refused;
  assert.deepEqual(
    { code, status, reason, message, details, retryAfterSeconds, kind },
    {
      code: 'invalid_argument',
      status: 400,
      reason: 'loom.tangled',
      message: 'the thread is tangled',
      details: [{ path: '/knot', message: 'untie it' }],
      retryAfterSeconds: 7,
      kind: 'bad_data',
    },
  );
  const bug = await failure(thread.call('tangle'));
  assert.ok(!isSvcError(bug));
  assert.equal(bug.message, 'a bug in the loom');
  assert.match(bug.stack!, /loom\/weave\.ts:\d+/);
  assert.match((await failure(thread.call('nothing'))).message, /no method nothing/);
  assert.match((await failure(thread.call('toString'))).message, /no method toString/);
  assert.match((await failure(thread.call('unclonable'))).message, /could not be cloned/);
  assert.match(
    (await failure(thread.call('echo', () => undefined))).message,
    /accepts only plain data/,
  );
  assert.equal(await thread.call('echo', 'still here'), 'still here');
});

test('a caller that gives up aborts the method, and so does a deadline', async (t) => {
  const thread = await loom(t);
  const abort = new AbortController();
  const waiting = failure(thread.call('wait', 60_000, { signal: abort.signal }));
  await thread.call('echo');
  abort.abort(new Error('changed my mind'));
  assert.equal((await waiting).message, 'changed my mind');
  await until('the method was aborted', async () => (await thread.call('aborted')) === 1);

  const late = (await failure(thread.call('wait', 60_000, { timeoutMs: 20 }))) as SvcError;
  assert.equal(late.code, 'unavailable');
  assert.match(late.message, /did not respond to wait within 20 ms\.$/);
  await until('the method was aborted', async () => (await thread.call('aborted')) === 2);
  assert.equal(
    (await failure(thread.call('echo', 1, { signal: abort.signal }))).message,
    'changed my mind',
  );
});

test('a thread that dies fails the calls it worked on, and is started again', async (t) => {
  const thread = await loom(t);
  await thread.call('keep', 'indigo');
  for (const [method, cause] of [
    ['die', /exited with code 3/],
    ['burst', /died of an uncaught error: burst at the seams/],
  ] as const) {
    const inFlight = failure(thread.call('wait', 60_000));
    // The answer of this one comes or not: the thread may be faster dead than heard.
    const fatal = thread.call(method).catch((error: unknown) => error);
    const error = (await inFlight) as SvcError;
    assert.equal(error.code, 'unavailable');
    assert.match(error.message, cause);
    assert.equal(thread.state, 'backing-off');
    assert.match(thread.cause!, cause);
    assert.match(
      (await failure(thread.call('echo', 1, { timeoutMs: 1 }))).message,
      /is backing-off: it/,
      'no thread will be there in time',
    );
    assert.deepEqual(
      await thread.call('kept'),
      ['indigo'],
      'a call with more time waits for the next thread',
    );
    assert.equal(thread.cause, undefined);
    await fatal;
  }
  assert.ok(
    thread.lines.some((line) => /thread thread of test ended: it exited with code 3/.test(line)),
  );
});

test('a thread that takes more memory than it may is ended and says so', async (t) => {
  const thread = await loom(t, { heapMb: 32 });
  assert.match(
    (await failure(thread.call('hog'))).message,
    /out of memory: the heap grew beyond 32 MB/,
  );
  assert.equal(await thread.call('echo', 'back'), 'back');
});

test('a thread that cannot open says why', async (t) => {
  const thread = await loom(t);
  const second = await failure(
    startThreadForTest(t, worker, { folder: thread.folder, generation: 2 }),
  );
  assert.match(second.message, /could not open: EEXIST/);
});

test('notices and log lines come in order, however many; repeated work ends with the thread and its errors are told', async (t) => {
  const thread = await loom(t);
  await thread.call('tell', { kind: 'thread', count: 3_000 });
  await until('everything is told', () => thread.lines.includes('told everything'));
  assert.deepEqual(
    thread.notices.map(({ value }) => value),
    Array.from({ length: 3_000 }, (_, at) => at),
  );
  await thread.call('tick');
  await thread.call('stumble');
  await until('it ticks', () => thread.notices.filter(({ kind }) => kind === 'tick').length >= 3);
  await until(
    'errors are told',
    () => thread.notices.filter(({ kind }) => kind === 'error').length >= 2,
  );
  assert.deepEqual(thread.notices.find(({ kind }) => kind === 'error')!.value, {
    where: 'ravel (every 5 ms)',
    message: 'the yarn broke',
  });
  assert.ok(thread.lines.includes('error in a thread, ravel (every 5 ms): the yarn broke'));
  await thread.close();
  assert.equal(thread.notices.at(-1)!.kind, 'closed', 'closing is the last it does');
  assert.ok(!existsSync(join(thread.folder, 'loom.lock')));
});

test('closing lets calls end, ends those that do not in time, and refuses further ones', async (t) => {
  const thread = await loom(t, { drainMs: 400 });
  const short = thread.call('wait', 30);
  const long = failure(thread.call('wait', 60_000));
  await thread.close();
  assert.equal(await short, 'waited');
  assert.match((await long).message, /The thread is closing/);
  assert.equal(thread.state, 'stopped');
  assert.match((await failure(thread.call('echo'))).message, /is stopped/);
});

test('calls beyond ten thousand are refused at once, and of a flood of notices the last are dropped and counted', async (t) => {
  const thread = await loom(t, { drainMs: 300 });
  const crowd = Array.from({ length: 10_000 }, () => failure(thread.call('wait', 60_000)));
  const refused = (await failure(thread.call('echo'))) as SvcError;
  assert.equal(refused.code, 'unavailable');
  assert.match(refused.message, /has 10000 calls in progress/);
  await thread.close();
  assert.equal(new Set((await Promise.all(crowd)).map(({ message }) => message)).size, 1);

  const other = await loom(t);
  await other.call('tell', { kind: 'flood', count: 12_000 });
  await until('the loss is told', () =>
    other.lines.some((line) => line.startsWith('2001 events and log lines from a thread dropped')),
  );
  assert.equal(other.notices.length, 10_000);
});

/** A thread by hand, for what `startThreadForTest` leaves as it is. */
async function claimed(t: TestContext, options: Partial<ConstructorParameters<typeof Threads>[0]>) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-thread-'));
  const { code, filename } = await bundleThread(worker, 'loom', {
    ...bundleSources,
    portable: true,
  });
  const threads = new Threads({
    clock: systemClock,
    packagesFrom: join(bundleSources.root, 'package.json'),
    ...options,
  });
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
  };
  const stumbles: string[] = [];
  const told = {
    onStumble: (cause: string) => stumbles.push(cause),
    onHeap: () => undefined,
    deliver: (work: () => void) => work(),
  };
  const claim = {
    owner: 'loom',
    name: 'weaver',
    code,
    filename,
    data: { folder, generation: 1 },
    heapMb: 64,
    drainMs: 1_000,
    log,
    ...told,
  };
  const thread = threads.claim(claim);
  t.after(async () => {
    await thread.release();
    rmSync(folder, { recursive: true, force: true });
    assert.equal(threads.size, 0);
  });
  thread.begin();
  return { thread, threads, stumbles };
}

test('a thread in an endless loop is ended and started again', async (t) => {
  const { thread, stumbles } = await claimed(t, { timing: { pingMs: 20, stuckMs: 2_000 } });
  await thread.call('who');
  assert.match(
    (await failure(thread.call('spin'))).message,
    /did not answer for 2000 ms, as in an endless loop/,
  );
  assert.deepEqual(stumbles, ['did not answer for 2000 ms, as in an endless loop']);
  assert.equal(await thread.call('echo', 'back'), 'back');
});

test('in the single binary a thread uses the database that the binary carries', async (t) => {
  const text = await programText('bin/dev/packaging/sqlite.ts', bundleSources.root);
  const { thread, threads } = await claimed(t, {
    packagesFrom: '/nowhere',
    sqlite: { text, nativeBinding: addonFile },
  });
  await thread.call('keep', 'woad');
  assert.deepEqual(await thread.call('kept'), ['woad']);
  assert.equal(threads.size, 1);
});
