import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { bundleThread } from '../../../bin/bundler/bundle.ts';
import { bundleSources } from '../../../bin/bundler/sources.ts';
import { isSvcError } from '../../../core/sdk/index.ts';
import { startChild } from '../../../plugins/packs/process/child.ts';
import type {
  Child,
  ChildState,
  StartOptions,
} from '../../../plugins/packs/process/child-options.ts';

const home = mkdtempSync(join(tmpdir(), 'svc-isolate-'));
const folder = join(home, 'pack with space');
mkdirSync(folder);
writeFileSync(join(folder, 'own.txt'), 'mine');
/** Program as the host compiles it. */
const { code: program } = await bundleThread(
  fileURLToPath(new URL('../../../plugins/packs/pack-worker.ts', import.meta.url)),
  'packs',
  bundleSources,
);
const origin = { program, cacheDir: join(home, 'cache'), isBinary: false };
after(() => rmSync(home, { recursive: true, force: true }));

interface Seen {
  readonly lines: string[];
  readonly states: (readonly [ChildState, string | undefined])[];
  reached(state: ChildState): Promise<string | undefined>;
}

/** A running child of `code`, its log and its states; gone after the test. */
function run(
  t: TestContext,
  code: string,
  options: Partial<StartOptions> = {},
): Child & { seen: Seen } {
  const lines: string[] = [];
  const states: (readonly [ChildState, string | undefined])[] = [];
  const waiting = new Set<() => void>();
  const say = (_fields: object, line: string) => void lines.push(line);
  const child = startChild({
    label: 'pack test',
    code,
    filename: join(folder, 'index.cjs'),
    origin,
    read: [folder],
    log: { debug: say, info: say, warn: say, error: say },
    clock: { now: Date.now, monotonic: () => performance.now() },
    random: Math.random,
    pingMs: 1_000,
    pollMs: 50,
    restart: { firstMs: 20, maxMs: 100, stableMs: 60_000, maxRestarts: 3, windowMs: 60_000 },
    onState: (state, cause) => {
      states.push([state, cause]);
      waiting.forEach((look) => look());
    },
    ...options,
  });
  t.after(() => child.stop());
  const reached = (state: ChildState) =>
    new Promise<string | undefined>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`never ${state}: ${JSON.stringify(states)}`)),
        15_000,
      );
      const look = (): void => {
        const found = states.find(([entered]) => entered === state);
        if (found) {
          clearTimeout(timer);
          waiting.delete(look);
          resolve(found[1]);
        }
      };
      waiting.add(look);
      look();
    });
  return Object.assign(child, { seen: { lines, states, reached } });
}

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const route = (
  child: Child,
  key: string,
  call: object = {},
  options?: { timeoutMs?: number; signal?: AbortSignal },
) => child.call('route', { key, call }, options);

const refused = (code: string, message: RegExp) => (error: unknown) => {
  assert.ok(isSvcError(error), String(error));
  assert.equal(error.code, code);
  assert.match(error.message, message);
  return true;
};

test('a pack answers for the routes it describes', async (t) => {
  const child = run(
    t,
    `const { definePack, SvcError } = require('svc/sdk');
     const { join } = require('node:path');
     let started = false;
     exports.default = definePack({
       async start() { started = true; },
       routes: {
         'GET /api/v1/x/{id}': async (call) => ({ started, id: call.params.id, who: call.principal.role, base: join('a', 'b') }),
         'GET /api/v1/none': () => undefined,
         'GET /api/v1/bad': () => { throw new SvcError('not_found', 'no such thing'); },
         'GET /api/v1/bug': () => null.x,
       },
     });`,
  );
  await child.ready;
  assert.equal(child.state, 'running');
  const call = {
    params: { id: '7' },
    query: {},
    body: undefined,
    principal: { id: '1', kind: 'user', role: 'admin' },
  };
  assert.deepEqual(await route(child, 'GET /api/v1/x/{id}', call), {
    started: true,
    id: '7',
    who: 'admin',
    base: 'a/b',
  });
  assert.equal(await route(child, 'GET /api/v1/none'), null);
  await assert.rejects(route(child, 'GET /api/v1/bad'), refused('not_found', /^no such thing$/));
  await assert.rejects(
    route(child, 'GET /api/v1/bug'),
    refused('internal', /Cannot read properties of null/),
  );
  await assert.rejects(
    route(child, 'GET /nowhere'),
    refused('not_found', /"routes" of definePack has no GET \/nowhere/),
  );
  await assert.rejects(
    route(child, 'constructor'),
    refused('not_found', /of definePack has no constructor/),
  );
  await assert.rejects(
    child.call('toString', {}),
    refused('not_found', /exports no function toString/),
  );
  await until(() => child.seen.lines.some((line) => line.includes('index.cjs')));
});

test('a function that the module exports can be called, bytes go in', async (t) => {
  const child = run(
    t,
    `exports.size = (bytes) => ({ type: bytes.constructor.name, length: bytes.length }); exports.default = {};`,
  );
  assert.deepEqual(await child.call('size', new Uint8Array(1000)), {
    type: 'Uint8Array',
    length: 1000,
  });
});

test('a call waits for a child that is still starting', async (t) => {
  const child = run(
    t,
    `exports.default = { start: () => new Promise((r) => setTimeout(r, 100)), routes: { a: () => 1 } };`,
  );
  assert.equal(child.state, 'starting');
  assert.equal(await route(child, 'a'), 1);
});

const attempts: Record<string, string> = {
  'reading outside its folder': `require('node:fs').readFileSync('/etc/passwd')`,
  'listing the root': `require('node:fs').readdirSync('/')`,
  'writing a file': `require('node:fs').writeFileSync(${JSON.stringify(join(folder, 'written'))}, 'x')`,
  'removing a file': `require('node:fs').rmSync(${JSON.stringify(join(folder, 'own.txt'))})`,
  'starting a process': `require('node:child_process').spawnSync('true')`,
  'starting a thread': `new (require('node:worker_threads').Worker)('1', { eval: true })`,
  'opening the inspector': `require('node:inspector').open(0)`,
  'writing a heap snapshot': `require('node:v8').writeHeapSnapshot(${JSON.stringify(join(folder, 'heap'))})`,
  'a native addon': `process.dlopen({ exports: {} }, ${JSON.stringify(join(folder, 'own.txt'))})`,
  'the bindings of Node': `process.binding('fs')`,
  'signalling the host': `process.kill(process.ppid, 'SIGTERM')`,
  'signalling by the back door': `process._kill(process.ppid, 15)`,
  'renicing the host': `require('node:os').setPriority(process.ppid, 19)`,
  'requiring a package': `require('express')`,
};

test('a pack reads its own folder and nothing is open beyond it', async (t) => {
  const routes = Object.entries(attempts).map(
    ([what, code]) => `${JSON.stringify(what)}: () => { ${code}; return 'done'; }`,
  );
  const child = run(
    t,
    `exports.default = { routes: { ${routes.join(',\n')},
       'its own folder': () => require('node:fs').readFileSync(${JSON.stringify(join(folder, 'own.txt'))}, 'utf8'),
       'its environment': () => process.env } };`,
    { env: { GREETING: 'hello' } },
  );
  assert.equal(await route(child, 'its own folder'), 'mine');
  assert.deepEqual(await route(child, 'its environment'), { GREETING: 'hello' });
  for (const what of Object.keys(attempts)) {
    await assert.rejects(
      route(child, what),
      (error: unknown) => {
        assert.ok(
          isSvcError(error) && ['internal', 'forbidden'].includes(error.code),
          `${what}: ${String(error)}`,
        );
        assert.match(
          error.message,
          /restricted|Access to this API|not a function|cannot find module|addons is disabled|process\.binding/,
          what,
        );
        return true;
      },
      what,
    );
  }
  assert.deepEqual(readdirSync(folder), ['own.txt']);
});

test('an endless loop is ended, its caller is told, and the child comes back', async (t) => {
  const child = run(
    t,
    `exports.default = { routes: { loop: () => { for (;;); }, ok: () => 1 } };`,
    { pingMs: 300 },
  );
  await child.ready;
  const pid = child.pid!;
  await assert.rejects(
    route(child, 'loop'),
    refused('unavailable', /stopped during the call: did not answer for 300 ms/),
  );
  await until(() => child.state === 'running');
  assert.equal(await route(child, 'ok'), 1);
  assert.equal(alive(pid), false);
  assert.equal(child.restarts, 1);
});

test('a heap that grows beyond its limit ends the child, not the host', async (t) => {
  const child = run(
    t,
    `exports.default = { routes: { grow: () => { const all = []; for (;;) all.push({ x: [1, 2, 3] }); } } };`,
    {
      heapMb: 24,
      pingMs: 20_000,
      callMs: 20_000,
    },
  );
  await assert.rejects(
    route(child, 'grow'),
    refused('unavailable', /out of memory: the heap grew beyond 24 MB/),
  );
});

test(
  'memory outside the heap is limited too',
  { skip: process.platform !== 'linux' && 'needs /proc' },
  async (t) => {
    const child = run(
      t,
      `const all = [];
     exports.default = { routes: { grow: async () => { for (;;) { all.push(Buffer.alloc(4e6, 1)); await new Promise((r) => setTimeout(r, 5)); } } } };`,
      { rssMb: 160, callMs: 120_000 },
    );
    await assert.rejects(
      route(child, 'grow'),
      refused('unavailable', /out of memory: the process grew to \d+ MB, 160 MB are allowed/),
    );
  },
);

test('a child that crashes comes back after a while and says what happened', async (t) => {
  const child = run(
    t,
    `exports.default = { routes: { crash: () => { setTimeout(() => { throw new TypeError('boom') }); return new Promise(() => {}); }, ok: () => 1 } };`,
  );
  await assert.rejects(
    route(child, 'crash'),
    refused('unavailable', /exited with code 1: TypeError: boom/),
  );
  assert.deepEqual(child.seen.states.at(-1), [
    'backing-off',
    'exited with code 1: TypeError: boom',
  ]);
  await assert.rejects(
    route(child, 'ok'),
    refused('unavailable', /pack test is backing-off: exited with code 1: TypeError: boom/),
  );
  await until(() => child.state === 'running');
  assert.equal(await route(child, 'ok'), 1);
});

test('a child that crashes again and again is given up', async (t) => {
  const child = run(t, `exports.default = { start() { setTimeout(() => process.exit(3), 5); } };`);
  assert.equal(await child.seen.reached('failed'), 'exited with code 3');
  assert.equal(child.restarts, 3);
  assert.equal(child.pid, undefined);
  await assert.rejects(
    route(child, 'x'),
    refused('unavailable', /pack test is failed: exited with code 3/),
  );
});

for (const [what, code, cause] of [
  ['throws while it loads', `throw new Error('bad day')`, /could not start: bad day/],
  ['is no JavaScript', `this is not code`, /could not start: Unexpected identifier/],
  ['exports nothing of use', `module.exports = 5`, /must export definePack/],
  [
    'throws in start',
    `exports.default = { start() { throw new Error('no port') } }`,
    /could not start: no port/,
  ],
  ['leaves while it loads', `process.exit(0)`, /exited with code 0/],
  [
    'hangs in start',
    `exports.default = { start: () => new Promise(() => {}) }`,
    /did not start within 400 ms/,
  ],
  ['loops while it loads', `for (;;);`, /did not start within 400 ms/],
] as const) {
  test(`a child whose code ${what} never becomes ready and says why`, async (t) => {
    const child = run(t, code, {
      startMs: cause.source.includes('400') ? 400 : 10_000,
      restart: { maxRestarts: 0 },
    });
    await assert.rejects(child.ready, refused('unavailable', cause));
    assert.match((await child.seen.reached('failed'))!, cause);
  });
}

test('a slow call is refused at its deadline and told to stop, others go on', async (t) => {
  const child = run(
    t,
    `let stopped = 0;
     exports.default = { routes: {
       slow: (call, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => { stopped += 1; resolve(); })),
       stopped: () => stopped } };`,
    { callMs: 100 },
  );
  await child.ready;
  await assert.rejects(
    route(child, 'slow'),
    refused('unavailable', /did not respond to route within 100 ms/),
  );
  const gone = new AbortController();
  const call = route(child, 'slow', {}, { timeoutMs: 5_000, signal: gone.signal });
  await route(child, 'stopped');
  gone.abort(new Error('client left'));
  await assert.rejects(call, /client left/);
  assert.equal(await route(child, 'stopped', {}, { timeoutMs: 5_000 }), 2);
  await assert.rejects(
    route(child, 'slow', {}, { signal: AbortSignal.abort(new Error('gone before')) }),
    /gone before/,
  );
});

test('calls that come before the child is ready wait in bounded number, and no longer than they may', async (t) => {
  const child = run(t, `exports.default = { start: () => new Promise(() => {}) };`, {
    maxCalls: 2,
  });
  const waiting = [1, 2].map(() => route(child, 'x', {}, { timeoutMs: 100 }));
  await assert.rejects(route(child, 'x'), refused('unavailable', /pack test is starting/));
  for (const outcome of await Promise.allSettled(waiting)) {
    assert.equal(outcome.status, 'rejected');
  }
  const gone = new AbortController();
  const call = route(child, 'x', {}, { signal: gone.signal });
  gone.abort(new Error('client left'));
  await assert.rejects(call, /client left/);
});

test('a full child refuses at once, and one whose calls never end is started anew', async (t) => {
  const child = run(
    t,
    `exports.default = { routes: { never: () => new Promise(() => {}), ok: () => 1 } };`,
    { maxCalls: 3 },
  );
  await child.ready;
  const hanging = [1, 2, 3].map(() => route(child, 'never', {}, { timeoutMs: 150 }));
  await assert.rejects(route(child, 'ok'), refused('unavailable', /has 3 calls in progress/));
  for (const outcome of await Promise.allSettled(hanging)) {
    assert.equal(outcome.status, 'rejected');
  }
  assert.match((await child.seen.reached('backing-off'))!, /3 calls never ended/);
  await until(() => child.state === 'running');
  assert.equal(await route(child, 'ok'), 1);
});

test('a payload above 1 MiB is refused in both directions, one below passes', async (t) => {
  const child = run(
    t,
    `exports.default = { routes: { echo: (call) => call.text.length, big: (call) => 'x'.repeat(call.size) } };`,
  );
  const mib = 1024 * 1024;
  assert.equal(await route(child, 'echo', { text: 'x'.repeat(mib - 200) }), mib - 200);
  await assert.rejects(
    route(child, 'echo', { text: 'x'.repeat(mib) }),
    refused('invalid_argument', /may have at most 1048576 bytes, but this one has/),
  );
  assert.equal(String(await route(child, 'big', { size: mib - 2 })).length, mib - 2);
  await assert.rejects(
    route(child, 'big', { size: mib }),
    refused('upstream_error', /answer of the pack has 1048578 bytes/),
  );
  await assert.rejects(
    child.call('route', { key: () => 1 }),
    refused('invalid_argument', /only plain data/),
  );
  assert.equal(child.state, 'running');
});

for (const [what, code] of [
  ['claims a message of gigabytes', `Buffer.from([0xff, 0xff, 0xff, 0xff])`],
  ['sends what is not JSON', `frame('hello')`],
  ['answers a call that nobody made', `frame('{"t":"reply","id":99,"value":1}')`],
  ['says twice that it started', `frame('{"t":"started"}')`],
] as const) {
  test(`a child that ${what} is ended`, async (t) => {
    const child = run(
      t,
      `const frame = (text) => { const body = Buffer.from(text); const head = Buffer.alloc(4); head.writeUInt32BE(body.length); return Buffer.concat([head, body]); };
       exports.default = { start() { setTimeout(() => require('node:fs').writeSync(3, ${code}), 50); } };`,
    );
    assert.match((await child.seen.reached('backing-off'))!, /broke the protocol/);
  });
}

test('a child that was killed in the middle of a call tells its caller and comes back', async (t) => {
  const child = run(
    t,
    `exports.default = { routes: { hang: () => new Promise(() => {}), ok: () => 1 } };`,
  );
  await child.ready;
  const call = route(child, 'hang');
  process.kill(child.pid!, 'SIGKILL');
  await assert.rejects(
    call,
    refused('unavailable', /stopped during the call: killed by SIGKILL from outside/),
  );
  await until(() => child.state === 'running');
  assert.equal(await route(child, 'ok'), 1);
});

test('stopping leaves no process, not even one that ignores the request, and nothing starts again', async (t) => {
  const child = run(
    t,
    `process.on('SIGTERM', () => {}); exports.default = { routes: { hang: () => new Promise(() => {}) } };`,
    { graceMs: 100 },
  );
  await child.ready;
  const pid = child.pid!;
  const call = route(child, 'hang');
  const told = assert.rejects(call, refused('unavailable', /it was stopped/));
  await child.stop();
  await told;
  assert.equal(alive(pid), false);
  await sleep(100);
  assert.equal(child.state, 'stopped');
  assert.equal(child.restarts, 0);
  await assert.rejects(route(child, 'hang'), refused('unavailable', /pack test is stopped/));
});

test('a child that is stopped before it has started, or while it waits, does not start', async (t) => {
  const early = run(t, `exports.default = {};`);
  await early.stop();
  assert.equal(early.pid, undefined);
  const waiting = run(t, `process.exit(1)`, { restart: { firstMs: 60_000, maxMs: 60_000 } });
  await waiting.seen.reached('backing-off');
  await waiting.stop();
  assert.equal(waiting.state, 'stopped');
});

test('a child does not outlive its host', async (t) => {
  const child = run(t, `exports.default = { routes: { pid: () => process.pid } };`);
  const pid = await route(child, 'pid');
  assert.ok(alive(pid as number));
  const script = `
    import { readFileSync } from 'node:fs';
    const { startChild } = await import(${JSON.stringify(new URL('../../../plugins/packs/process/child.ts', import.meta.url).href)});
    const quiet = () => {};
    const child = startChild({ label: 'x', code: 'exports.default = {}', filename: '/x.cjs', origin: { program: readFileSync(0, 'utf8'), cacheDir: ${JSON.stringify(origin.cacheDir)}, isBinary: false }, random: Math.random,
      log: { debug: quiet, info: quiet, warn: quiet, error: quiet }, clock: { now: Date.now, monotonic: () => performance.now() } });
    await child.ready;
    console.log(child.pid);
    process.kill(process.pid, 'SIGKILL');`;
  const host = spawnSync(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '-e', script],
    {
      encoding: 'utf8',
      cwd: import.meta.dirname,
      input: program,
      timeout: 20_000,
    },
  );
  const orphan = Number(host.stdout.trim());
  assert.ok(orphan > 0, host.stderr);
  await until(() => !alive(orphan));
});

test('what a child prints goes to the log, line by line, cut and at a bounded rate', async (t) => {
  const child = run(
    t,
    `exports.default = { start() { console.log('one\\ntwo'); console.error('three'); process.stdout.write('y'.repeat(5000) + '\\nlast\\n'); },
       routes: { flood: async () => {
         const text = ('z'.repeat(99) + '\\n').repeat(10);
         for (const end = Date.now() + 1200; Date.now() < end; ) await new Promise((r) => process.stdout.write(text, r));
       } } };`,
    { pingMs: 20_000 },
  );
  await child.ready;
  await until(() => child.seen.lines.includes('last'));
  assert.ok(['one', 'two', 'three'].every((line) => child.seen.lines.includes(line)));
  assert.equal(child.seen.lines.find((line) => line.startsWith('yyy'))!.length, 2_000);
  await route(child, 'flood');
  const bytes = child.seen.lines.filter((line) => line.startsWith('zzz')).length * 100;
  assert.ok(bytes < 1_000_000, `${bytes} bytes reached the log`);
});

test('a child without restrictions refuses to run, and is not tried again', async (t) => {
  const file = join(home, 'unrestricted.cjs');
  writeFileSync(file, program);
  const { status, stderr } = spawnSync(process.execPath, [file], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  assert.equal(status, 78);
  assert.match(stderr, /refused to run: the permission model is off/);
  const child = run(
    t,
    `process.stderr.write('refused to run: the permission model is off\\n'); process.exit(78);`,
  );
  assert.match((await child.seen.reached('failed'))!, /refused to run/);
  assert.equal(child.restarts, 0);
});

test('a binary that starts itself in a role restricts its child by the environment', async (t) => {
  const child = run(
    t,
    `exports.default = { routes: { role: () => process.env.SVC_ROLE, write: () => require('fs').writeFileSync('/tmp/x', '') } };`,
    {
      origin: { ...origin, cacheDir: join(home, 'cache of a binary'), isBinary: true },
    },
  );
  assert.equal(await route(child, 'role'), 'child');
  await assert.rejects(
    route(child, 'write'),
    refused('forbidden', /was denied access without permission: FileSystemWrite; |Access/),
  );
});

test('a folder or variable that would loosen the restrictions is refused', async (t) => {
  for (const read of ['relative', '/tmp/*', '/a,/']) {
    const child = run(t, `exports.default = {};`, { read: [read], restart: { maxRestarts: 0 } });
    await assert.rejects(
      child.ready,
      refused('invalid_argument', /absolute path without "\*" or commas/),
    );
  }
  const child = run(t, `exports.default = {};`, {
    env: { NODE_OPTIONS: '--inspect' },
    restart: { maxRestarts: 0 },
  });
  await assert.rejects(
    child.ready,
    refused('invalid_argument', /cannot be given the environment variable NODE_OPTIONS/),
  );
});

test('a folder that is reached through a link can be read by both names', async (t) => {
  const link = join(home, 'link');
  symlinkSync(folder, link);
  const child = run(
    t,
    `exports.read = (file) => require('node:fs').readFileSync(file, 'utf8'); exports.default = {};`,
    { read: [link] },
  );
  assert.equal(await child.call('read', join(link, 'own.txt')), 'mine');
  assert.equal(await child.call('read', join(folder, 'own.txt')), 'mine');
});

test('the first file of a child is private, read-only, and replaced when it was touched', async (t) => {
  const cacheDir = join(home, 'touched');
  const first = run(t, `exports.default = {};`, { origin: { ...origin, cacheDir } });
  await first.ready;
  const [name] = readdirSync(cacheDir);
  const file = join(cacheDir, name!);
  assert.match(name!, /^child-[0-9a-f]{16}\.cjs$/);
  assert.equal(statSync(file).mode & 0o777, 0o555);
  assert.equal(statSync(cacheDir).mode & 0o777, 0o700);
  rmSync(file);
  writeFileSync(file, 'process.exit(5)');
  const second = run(t, `exports.default = {};`, { origin: { ...origin, cacheDir } });
  await second.ready;
  assert.deepEqual(readdirSync(cacheDir), [name]);
  assert.ok(existsSync(file));
});

test('a process without work of its own ends when nobody asks it, and the next call has one again; one with a start stays', async (t) => {
  const idle = run(
    t,
    `exports.default = { routes: { pid: () => process.pid, slow: () => new Promise((r) => setTimeout(r, 300)) } };`,
    { idleMs: 100 },
  );
  const first = await route(idle, 'pid');
  await route(idle, 'slow');
  await until(() => idle.state === 'asleep');
  await until(() => !alive(first as number));
  const [second, again] = await Promise.all([route(idle, 'pid'), route(idle, 'pid')]);
  assert.equal(second, again);
  assert.notEqual(second, first);
  assert.deepEqual([idle.restarts, idle.cause], [0, undefined]);
  const asleep = run(t, `exports.default = { routes: { pid: () => process.pid } };`, {
    startsAsleep: true,
  });
  await asleep.ready;
  assert.deepEqual([asleep.state, asleep.pid], ['asleep', undefined]);
  assert.equal(await route(asleep, 'pid'), asleep.pid);
  const ups: boolean[] = [];
  const resident = run(t, `exports.default = { start() {}, routes: { pid: () => process.pid } };`, {
    idleMs: 10,
    onUp: (is) => void ups.push(is),
  });
  const pid = await route(resident, 'pid');
  await sleep(100);
  assert.deepEqual([resident.state, resident.pid, ups], ['running', pid, [true]]);
});

/** The bytes of an answer, gathered. */
async function gathered(answer: unknown): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const piece of answer as AsyncIterable<Uint8Array>) {
    parts.push(piece);
  }
  return Buffer.concat(parts);
}

test('bodies flow through a process both ways at the pace of who reads them, and end with whoever ends first', async (t) => {
  const child = run(
    t,
    `let yielded = 0, stopped = 0;
     exports.default = { routes: {
       upper: async function* upper({ body }) { for await (const piece of body) yield Buffer.from(piece).toString().toUpperCase(); },
       endless: ({}, { signal }) => (async function* () { try { for (;;) { yielded += 1; yield Buffer.alloc(65536, 1); } } finally { stopped += 1; } })(),
       halfway: async function* () { yield 'one'; throw new Error('out of ink'); },
       crash: async function* () { yield 'one'; process.exit(4); },
       silent: async function* () { yield 'one'; await new Promise(() => {}); },
       counts: () => ({ yielded, stopped }),
     } };`,
  );
  await child.ready;
  const bytes = (key: string, options: object = {}) =>
    child.call('route', { key, call: {} }, { bytes: true, ...options });
  const megabyte = async function* () {
    for (let piece = 0; piece < 30; piece += 1) {
      yield Buffer.alloc(100_000, 'a');
    }
  };
  const back = await gathered(await bytes('upper', { body: megabyte() }));
  assert.deepEqual([back.length, back.every((byte) => byte === 65)], [3_000_000, true]);

  const endless = ((await bytes('endless')) as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  await endless.next();
  await sleep(1_000);
  const { yielded } = (await route(child, 'counts')) as { yielded: number };
  assert.ok(yielded <= 7, `${yielded} pieces of 64 KiB were made for a reader that took one`);
  await endless.return!();
  await until(() => child.state === 'running');
  for (let stopped = 0; stopped === 0;) {
    ({ stopped } = (await route(child, 'counts')) as { stopped: number });
  }
  await assert.rejects(gathered(await bytes('halfway')), /out of ink/);
  await assert.rejects(
    gathered(await bytes('silent', { timeoutMs: 400 })),
    refused('unavailable', /did not respond to route within 400 ms/),
  );
  await assert.rejects(
    gathered(await bytes('crash')),
    refused('unavailable', /stopped during the call: exited with code 4/),
  );
  await until(() => child.state === 'running');
});

for (const [what, message] of [
  [
    'more of an answer than there is room for',
    `Array.from({ length: 8 }, () => ({ t: 'piece', id: 1, data: Buffer.alloc(65536).toString('base64') }))`,
  ],
  ['that it has read what it was not sent', `[{ t: 'more', id: 1, bytes: 5 }]`],
] as const) {
  test(`a child that says ${what} is ended`, async (t) => {
    const child = run(
      t,
      `const { writeSync } = require('node:fs');
       const say = (message) => { const body = Buffer.from(JSON.stringify(message)); const head = Buffer.alloc(4); head.writeUInt32BE(body.length);
         const whole = Buffer.concat([head, body]);
         for (let at = 0; at < whole.length; ) { try { at += writeSync(3, whole, at); } catch (error) { if (error.code !== 'EAGAIN') throw error; } } };
       exports.default = { routes: { flood: () => { say({ t: 'reply', id: 1, streams: true }); ${message}.forEach(say); return new Promise(() => {}); } } };`,
    );
    await child.ready;
    child.call('route', { key: 'flood', call: {} }, { bytes: true }).catch(() => undefined);
    assert.match((await child.seen.reached('backing-off'))!, /broke the protocol/);
    assert.equal(child.causeKind, 'garbage');
  });
}

async function until(what: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 15_000; !what();) {
    assert.ok(Date.now() < deadline, `never happened: ${what.toString()}`);
    await sleep(20);
  }
}
