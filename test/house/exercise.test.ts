import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { optionsFrom, table } from '../exercise.ts';
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
  writeFileSync(
    join(folder, 'sum.ts'),
    `export const about = 'adds up';
    export const options = { until: 3, good: true };
    export const run = async ({ until }: { until: number }) => ({ ok: until < 10, figures: [{ case: 'all', until, ratio: 1 / 3 }], notes: ['that is all'] });
    setInterval(() => {}, 1000);`,
  );
  const script = `import { exercise } from './test/exercise.ts'; process.exit(await exercise(${JSON.stringify(folder)}, 'bench', process.argv.slice(1)));`;
  try {
    return await new Promise((settle) => {
      execFile(
        process.execPath,
        ['--import', 'tsx', '--input-type=module', '-e', script, '--', ...args],
        { cwd: projectRoot, timeout: 60_000 },
        (error, stdout, stderr) => settle({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
      );
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('without a name the benches are listed with what they are about', async () => {
  const { code, stderr } = await bench();
  assert.equal(code, 0);
  assert.match(stderr, /npm run bench <name>/);
  assert.match(stderr, /sum +adds up/);
});

test('a bench prints its figures as a table and as one line of JSON', async () => {
  const { code, stdout } = await bench('sum', '--until', '4');
  assert.equal(code, 0);
  const lines = stdout.trim().split('\n');
  assert.deepEqual(lines.slice(0, 3), ['case  until   ratio', 'all       4  0.3333', 'that is all']);
  assert.deepEqual(JSON.parse(lines[3]!), {
    bench: 'sum',
    node: process.version,
    options: { until: 4, good: true },
    ok: true,
    figures: [{ case: 'all', until: 4, ratio: 1 / 3 }],
    notes: ['that is all'],
  });
});

test('a bench that is not good enough fails its command', async () => {
  assert.equal((await bench('sum', '--until', '10')).code, 1);
});

test('an unknown name or option is answered with the known ones', async () => {
  const name = await bench('product');
  assert.equal(name.code, 2);
  assert.match(name.stderr, /no bench "product"[^]*sum +adds up/);
  const option = await bench('sum', '--from', '2');
  assert.equal(option.code, 2);
  assert.match(option.stderr, /no option --from\. Known: --until \(3\), --good \(true\)/);
});

test('options take the type of their default', () => {
  assert.deepEqual(optionsFrom(['--seconds', '5', '--fast', '--name', 'x'], { seconds: 1, fast: false, name: '' }), { seconds: 5, fast: true, name: 'x' });
  assert.equal(optionsFrom(['--seconds', 'five'], { seconds: 1 }), '--seconds needs a number.');
  assert.equal(optionsFrom(['--seconds'], { seconds: 1 }), '--seconds needs a number.');
});

test('figures line up: words to the left, numbers to the right', () => {
  const rows = [
    { case: 'bare', rps: 72000 },
    { case: 'pipeline', rps: 3500, ratio: 1.25 },
  ];
  assert.equal(table(rows), 'case        rps  ratio\nbare      72000\npipeline   3500   1.25');
});
