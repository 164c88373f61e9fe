import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { projectRoot } from './source.ts';

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `npm run bench` as its script does, over a folder that holds one bench. */
async function bench(...args: string[]): Promise<Ended> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'sum-child.ts'), `throw new Error('nobody asked for me');`);
  writeFileSync(
    join(folder, 'sum.ts'),
    `export async function run({ until = 3, good = true } = {}) {
      if (until < 0) throw new Error('cannot count down');
      if (until === 3) console.error('it has begun');
      setInterval(() => {}, 1000);
      return { ok: until < 10, until, label: 'all', cases: [{ case: 'bare', ratio: 1 / 3 }, { case: 'dressed', ratio: 12 }] };
    }`,
  );
  const script = `import { exercise } from './test/exercise.ts'; process.exit(await exercise(${JSON.stringify(folder)}, 'bench', process.argv.slice(1)));`;
  try {
    return await new Promise((settle) => {
      execFile(
        process.execPath,
        ['--import', 'tsx', '--input-type=module', '-e', script, '--', ...args],
        { cwd: projectRoot, timeout: 60_000 },
        (error, stdout, stderr) =>
          settle({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
      );
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('without a name the benches are listed', async () => {
  const { code, stderr } = await bench();
  assert.equal(code, 0);
  assert.equal(stderr, 'Usage: npm run bench <name> [-- --option value …]\n  sum\n');
});

test('a bench prints its figures lined up, and as one line of JSON', async () => {
  const { code, stdout } = await bench('sum', '--until', '4', '--good');
  assert.equal(code, 0);
  const lines = stdout.trim().split('\n');
  assert.deepEqual(lines.slice(0, -1), [
    'figure  value',
    'ok      true',
    'until   4',
    'label   all',
    '',
    'case      ratio',
    'bare     0.3333',
    'dressed      12',
  ]);
  const cases = [
    { case: 'bare', ratio: 1 / 3 },
    { case: 'dressed', ratio: 12 },
  ];
  assert.deepEqual(JSON.parse(lines.at(-1)!), {
    bench: 'sum',
    node: process.version,
    until: 4,
    good: true,
    ok: true,
    label: 'all',
    cases,
  });
});

test('a bench that is not good enough, or throws, fails its command', async () => {
  assert.equal((await bench('sum', '--until', '10')).code, 1);
  const thrown = await bench('sum', '--until', '-1');
  assert.equal(thrown.code, 1);
  assert.equal(thrown.stderr, 'bench sum failed: cannot count down\n');
});

test('an unknown name or option is refused by name', async () => {
  const name = await bench('product');
  assert.equal(name.code, 2);
  assert.equal(name.stderr, 'There is no bench "product".\n  sum\n');
  const option = await bench('sum', '--from', '2');
  assert.equal(option.code, 2);
  assert.equal(option.stderr, 'bench sum has no option --from.\n');
});
