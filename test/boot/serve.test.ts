import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { programOf } from '../program-of.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Serving {
  readonly child: ChildProcess;
  readonly dataDir: string;
  output(): string;
  /** Waits for the banner, then fetches as the operator. */
  get(
    path: string,
  ): Promise<{ status: number; body: { status?: string; state?: string; cause?: string } }>;
  ended(): Promise<number | null>;
}

/** Starts a product folder with the shipped `host` plugin and one plugin of the test. */
function serving(
  t: TestContext,
  environment: Record<string, string> = {},
  plugin?: string,
): Serving {
  const product = mkdtempSync(join(tmpdir(), 'svc-serve-'));
  cpSync(join(root, 'plugins', 'host'), join(product, 'plugins', 'host'), { recursive: true });
  if (plugin !== undefined) {
    mkdirSync(join(product, 'plugins', 'guest'), { recursive: true });
    writeFileSync(
      join(product, 'plugins', 'guest', 'plugin.json'),
      JSON.stringify({
        id: 'guest',
        version: '1.0.0',
        title: 'Guest',
        description: 'A guest.',
        entry: 'index.ts',
        engines: { host: '^1.0.0' },
      }),
    );
    writeFileSync(join(product, 'plugins', 'guest', 'index.ts'), plugin);
  }
  const dataDir = environment['SVC_DATA_DIR'] ?? join(product, 'data');
  let output = '';
  const child = spawn(
    process.execPath,
    [...programOf(join(root, 'test/boot/serving-child.ts')), product],
    {
      cwd: root,
      env: {
        PATH: process.env['PATH'],
        SVC_DATA_DIR: dataDir,
        SVC_HTTP_ADDR: '127.0.0.1:0',
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  child.stderr.on('data', (chunk) => (output += String(chunk)));
  const exit = new Promise<number | null>((resolve) => child.on('exit', resolve));
  t.after(async () => {
    child.kill('SIGKILL');
    await exit;
    rmSync(product, { recursive: true, force: true });
  });
  return {
    child,
    dataDir,
    output: () => output,
    ended: () => exit,
    async get(path) {
      for (const deadline = Date.now() + 20_000; !output.includes('Ready in');) {
        assert.ok(Date.now() < deadline && child.exitCode === null, output);
        await pause(10);
      }
      const { url } = JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as {
        url: string;
      };
      const token = readFileSync(join(dataDir, 'keys', 'operator.token'), 'utf8').trim();
      const answer = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
      return { status: answer.status, body: (await answer.json()) as { state?: string } };
    },
  };
}

describe('svc in the foreground', () => {
  test('says where it serves, stops in order on SIGTERM, and leaves no trace of running', async (t) => {
    const house = serving(t);
    assert.equal((await house.get('/readyz')).body.status, 'ready');
    assert.match(house.output(), /svc v0\.0\.1 is ready at http:\/\/127\.0\.0\.1:\d+/);
    house.child.kill('SIGTERM');
    assert.equal(await house.ended(), 0);
    assert.throws(() => readFileSync(join(house.dataDir, 'run.json')), { code: 'ENOENT' });
  });

  test('takes a signal that comes twice, from the terminal and from npm, for one, and stops in order', async (t) => {
    const house = serving(t);
    await house.get('/readyz');
    house.child.kill('SIGINT');
    setTimeout(() => house.child.kill('SIGINT'), 5);
    assert.equal(await house.ended(), 0, house.output());
    assert.throws(() => readFileSync(join(house.dataDir, 'run.json')), { code: 'ENOENT' });
  });

  test(
    'goes before every thread that node had started, where cores are scarce',
    { skip: process.platform !== 'linux' && 'only Linux has a priority for each thread' },
    async (t) => {
      const house = serving(t);
      await house.get('/readyz');
      const tasks = `/proc/${house.child.pid}/task`;
      const nice = (thread: string): number =>
        Number(
          readFileSync(join(tasks, thread, 'stat'), 'utf8')
            .split(') ')
            .at(-1)!
            .split(' ')[16],
        );
      const main = String(house.child.pid);
      assert.equal(nice(main), getPriority());
      const others = readdirSync(tasks).filter((thread) => thread !== main);
      // Four that compile and collect garbage, four for files at least; the writer of the database stays beside the first.
      assert.ok(
        others.filter((thread) => nice(thread) === Math.min(19, getPriority() + 10)).length >= 8,
        others.map(nice).join(' '),
      );
    },
  );

  test('refuses a second process on the same data folder and names the first', async (t) => {
    const first = serving(t);
    await first.get('/healthz');
    const second = serving(t, { SVC_DATA_DIR: first.dataDir });
    assert.equal(await second.ended(), 1);
    assert.match(second.output(), new RegExp(`svc cannot start: .*${first.child.pid}`));
    assert.equal((await first.get('/healthz')).status, 200);
  });

  for (const [what, environment, sentence] of [
    [
      'an unknown name',
      { SVC_HTTP_ADR: '127.0.0.1:0' },
      /Environment: SVC_HTTP_ADR is not an svc setting; did you mean SVC_HTTP_ADDR\?/,
    ],
    [
      'a value of the wrong shape',
      { SVC_HTTP_ADDR: 'everywhere' },
      /environment: SVC_HTTP_ADDR must be written like 127\.0\.0\.1:8080 .*Address and port to listen on/,
    ],
    [
      'a value that is not on the list',
      { SVC_LOG_LEVEL: 'loud' },
      /SVC_LOG_LEVEL must be equal to one of the allowed values: debug, info, warn, error/,
    ],
    [
      'a secret that does not fit, without repeating it',
      { SVC_SECRET_KEY: 'hunter2' },
      /^(?!.*hunter2).*SVC_SECRET_KEY must be written like what openssl/s,
    ],
  ] as const) {
    test(`stops at ${what} in the environment, with one sentence and no stack`, async (t) => {
      const house = serving(t, environment);
      assert.equal(await house.ended(), 1);
      assert.match(house.output(), sentence);
      assert.doesNotMatch(house.output(), /\n\s+at /);
    });
  }

  test('stops at an unknown key of the settings file, naming the file', async (t) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-data-'));
    t.after(() => rmSync(dataDir, { recursive: true, force: true }));
    writeFileSync(join(dataDir, 'svc.yaml'), 'log:\n  levle: debug\n');
    const house = serving(t, { SVC_DATA_DIR: dataDir });
    assert.equal(await house.ended(), 1);
    assert.match(
      house.output(),
      /svc\.yaml: log\.levle is not an svc setting; did you mean log\.level\?/,
    );
  });

  test('puts an error that nobody caught on the account of the plugin that caused it', async (t) => {
    const house = serving(
      t,
      {},
      `import { definePlugin } from 'svc/sdk';
       export default definePlugin({ activate: () => undefined, start(ctx) { ctx.scope.interval('x', 5, () => { void Promise.reject(new Error('nobody awaits me')); }); } });`,
    );
    for (const deadline = Date.now() + 10_000; ; await pause(20)) {
      const { body } = await house.get('/api/v1/plugins/guest');
      if (body.state === 'quarantined') {
        assert.match(body.cause ?? '', /uncaught error: nobody awaits me/);
        break;
      }
      assert.ok(Date.now() < deadline, body.state);
    }
  });

  test('goes on when whoever read its output has gone', async (t) => {
    const house = serving(
      t,
      {},
      `import { definePlugin } from 'svc/sdk';
       let said = 0;
       export default definePlugin({ activate: () => undefined, start(ctx) {
         process.emitWarning('read by nobody');
         ctx.scope.interval('x', 5, () => { console.log('one'); console.error('two'); ctx.log.info({ said: ++said }, 'three'); });
       } });`,
    );
    await house.get('/healthz');
    house.child.stdout!.destroy();
    house.child.stderr!.destroy();
    await pause(300);
    assert.equal((await house.get('/api/v1/plugins/guest')).body.state, 'active');
    house.child.kill('SIGTERM');
    assert.equal(await house.ended(), 0);
  });

  test('starts without a plugin in which the process died twice, and says so', async (t) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-data-'));
    t.after(() => rmSync(dataDir, { recursive: true, force: true }));
    const mark = join(dataDir, 'inside');
    const deadly = `import { writeFileSync } from 'node:fs';\nimport { definePlugin } from 'svc/sdk';\nexport default definePlugin({ activate() { writeFileSync(${JSON.stringify(mark)}, ''); for (;;); } });`;
    for (let boot = 1; boot <= 2; boot++) {
      const house = serving(t, { SVC_DATA_DIR: dataDir }, deadly);
      for (const deadline = Date.now() + 20_000; !existsSync(mark); await pause(10)) {
        assert.ok(Date.now() < deadline, house.output());
      }
      house.child.kill('SIGKILL');
      await house.ended();
      rmSync(mark);
    }
    const third = serving(t, { SVC_DATA_DIR: dataDir }, deadly);
    const { body } = await third.get('/api/v1/plugins/guest');
    assert.equal(body.state, 'disabled');
    assert.match(body.cause ?? '', /safe mode: the last 2 starts crashed while guest was starting/);
    assert.match(third.output(), /guest disabled \(svc plugin why guest\)/, 'the banner says so');
  });
});
