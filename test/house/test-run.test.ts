import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

import { projectRoot } from './source.ts';

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function node(cwd: string, ...args: string[]): Promise<Ended> {
  // Inside a test, node's runner would take a second one for part of the first.
  const { NODE_TEST_CONTEXT: _thisRun, ...env } = process.env;
  return new Promise((settle) => {
    execFile(process.execPath, args, { cwd, env, timeout: 60_000 }, (error, stdout, stderr) =>
      settle({
        code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1,
        stdout,
        stderr,
      }),
    );
  });
}

/** Runs test files of these texts, by name, in the order given; names may have folders. */
async function run(texts: Readonly<Record<string, string>>, deadlineMs = 30_000): Promise<Ended> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-run-'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  for (const [name, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(
      join(folder, name),
      `import assert from 'node:assert/strict';\nimport { test } from 'node:test';\n${text}`,
    );
  }
  try {
    return await node(
      folder,
      join(projectRoot, 'bin/dev/test/run.mjs'),
      String(deadlineMs),
      ...Object.keys(texts),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('files run in the order given, as one run with one set of closing lines', async () => {
  const { code, stdout, stderr } = await run({
    'z.test.ts': `test('first', () => {});`,
    'a.test.ts': `test('second', () => {});`,
  });
  assert.equal(code, 0, stderr);
  assert.match(stdout, /first[^]*second[^]*# tests 2\n[^]*# pass 2\n# fail 0\n/);
  assert.equal(stdout.match(/^# pass/gm)?.length, 1);
});

test('a failed test fails the run and is named at its end, with its cause', async () => {
  const { code, stderr } = await run({
    'a.test.ts': `test('adds up', () => assert.equal(1 + 1, 3));`,
    'b.test.ts': `test('stands', () => {});`,
  });
  assert.equal(code, 1);
  assert.match(
    stderr,
    /Failed:\n.*a\.test\.ts: adds up \(Expected values to be strictly equal: 2 !== 3\)\n$/,
  );
});

test('a file that contains no test, or breaks while it loads, fails the run', async () => {
  const { code, stderr } = await run({
    'a.test.ts': '',
    'b.test.ts': `throw new Error('broken');`,
  });
  assert.equal(code, 1);
  assert.match(stderr, /b\.test\.ts: does not load \(broken\)\n.*a\.test\.ts: contains no test/);
});

test('files of one area share a process: each counts by its own name, and one that breaks while it loads leaves the others', async () => {
  const { code, stdout, stderr } = await run({
    'test/plugins/one/a.test.ts': `test('first', () => { globalThis.process.title = 'shared'; });`,
    'test/plugins/one/b.test.ts': `throw new Error('broken');`,
    'test/plugins/one/c.test.ts': `test('third', () => assert.equal(process.title, 'shared'));`,
    'test/plugins/one/d.test.ts': '',
    'test/plugins/one/e.test.ts': `test('fifth', () => assert.fail('on purpose'));`,
    'test/plugins/two/a.test.ts': `test('alone', () => assert.notEqual(process.title, 'shared'));`,
  });
  assert.equal(code, 1);
  assert.match(stdout, /# pass 3\n# fail 1\n/);
  assert.match(
    stderr,
    /one\/b\.test\.ts: does not load \(broken\)\n.*one\/e\.test\.ts: fifth \(on purpose\)\n.*one\/b\.test\.ts: contains no test.*\n.*one\/d\.test\.ts: contains no test/,
  );
});

test('a file that does not end is stopped at its deadline and named, and the others still count', async () => {
  const { code, stdout, stderr } = await run(
    {
      'a.test.ts': `test('hangs', () => new Promise(() => setInterval(() => {}, 1000)));`,
      'b.test.ts': `test('stands', () => {});`,
    },
    3_000,
  );
  assert.equal(code, 1);
  assert.match(stderr, /a\.test\.ts: (exited with an error|hangs) \(test timed out after 3000ms\)/);
  assert.match(stdout, /# pass 1\n/);
});

/** Runs `npm test -- --second-look` in a project that has these tests and nothing else. */
async function lookTwice(texts: Readonly<Record<string, string>>): Promise<Ended> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-run-'));
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  cpSync(join(projectRoot, 'bin/dev/test'), join(folder, 'bin/dev/test'), { recursive: true });
  symlinkSync(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
  for (const name of ['package.json', 'tsconfig.json']) {
    cpSync(join(projectRoot, name), join(folder, name));
  }
  for (const [name, text] of Object.entries(texts)) {
    write(
      name,
      `import assert from 'node:assert/strict';
       import { existsSync, writeFileSync } from 'node:fs';
       import { test } from 'node:test';
       ${text}`,
    );
  }
  try {
    return await node(folder, 'bin/dev/test/test.mjs', '--second-look');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const redOnce = `test('red once', () => { const was = existsSync('was'); writeFileSync('was', ''); assert.ok(was); });`;
const green = `test('green', () => {});`;

test('a second look at few red files tells chance from fault, and names both', async () => {
  const lucky = await lookTwice({ 'test/a.test.ts': redOnce, 'test/b.test.ts': green });
  assert.equal(lucky.code, 0, lucky.stderr);
  assert.match(lucky.stderr, /Failed:\n.*a\.test\.ts: red once/);
  assert.match(lucky.stderr, /so they depend on load or order: test\/a\.test\.ts\n$/);

  const red = await lookTwice({
    'test/a.test.ts': redOnce,
    'test/b.test.ts': `test('red', () => assert.fail('always'));`,
  });
  assert.equal(red.code, 1);
  assert.match(red.stderr, /Red again on their own: test\/b\.test\.ts\n$/);
});

test('more red files than a coincidence explains get no second look', async () => {
  const texts = [1, 2, 3, 4, 5, 6].map((number) => [
    `test/${number}.test.ts`,
    redOnce.replaceAll(`'was'`, `'was-${number}'`),
  ]);
  const { code, stderr } = await lookTwice(Object.fromEntries(texts));
  assert.equal(code, 1);
  assert.doesNotMatch(stderr, /Second look/);
});

test('a part of a path that fits no file is a mistake, not a success', async () => {
  const { code, stderr } = await node(projectRoot, 'bin/dev/test/test.mjs', 'no-such-room');
  assert.equal(code, 1);
  assert.equal(stderr, 'No test file has no-such-room in its path.\n');
});
