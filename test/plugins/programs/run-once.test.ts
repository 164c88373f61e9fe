import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import type { RunOptions } from 'svc/contracts/programs';

import { systemClock } from '../../../core/boot/time.ts';
import { OwnedScope } from '../../../core/registry/index.ts';
import { ProgramRunner } from '../../../plugins/programs/runner.ts';

const quiet = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

function workshop(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-run-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const notes = join(folder, 'notes');
  const programs = new ProgramRunner({
    folder: notes,
    clock: systemClock,
    log: quiet,
    path: folder,
    places: new Map(),
    random: Math.random,
  });
  const scope = new OwnedScope('test', {
    tick: async (_label, work) => await work(),
    task: async (_label, work) => await work(),
  });
  const owner = { id: 'test', dataDir: folder, log: quiet, scope };
  return {
    folder,
    scope,
    programs,
    notes: () => readdirSync(notes),
    run(text: string, args: readonly string[] = [], options: Partial<RunOptions> = {}) {
      const file = join(folder, 'program');
      writeFileSync(file, `#!${process.execPath}\n${text}\n`);
      chmodSync(file, 0o755);
      return programs.run(owner, file, args, { timeoutMs: 20_000, maxBytes: 1_024, ...options });
    },
    nothing: () => programs.run(owner, join(folder, 'none'), [], { timeoutMs: 1_000, maxBytes: 1 }),
  };
}

const said = (output: Uint8Array): string => Buffer.from(output).toString('utf8');
const forever = 'setInterval(() => undefined, 1000);';

async function until(what: string, holds: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 20_000; !holds(); await pause(10)) {
    assert.ok(Date.now() < deadline, `within 20 s: ${what}`);
  }
}

const alive = (pid: number): boolean =>
  existsSync(`/proc/${pid}`) && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');

test('a program that runs once gets its arguments as they are and no environment but its own, and leaves no note', async (t) => {
  const { run, notes } = workshop(t);
  const args = ['$(touch /tmp/x)', '; true', '*'];
  const { code, output, errors, cut } = await run(
    'console.log(JSON.stringify([process.argv.slice(2), process.env.GREETING, "HOME" in process.env])); console.error("oh"); process.exitCode = 3;',
    args,
    { env: { GREETING: 'hello' } },
  );
  assert.deepEqual(JSON.parse(said(output)), [args, 'hello', false]);
  assert.deepEqual([code, errors, cut], [3, 'oh\n', undefined]);
  assert.deepEqual(notes(), []);
});

test('a program that prints without end is killed when there is enough', async (t) => {
  const { run } = workshop(t);
  const { output, cut, code } = await run(
    'for (;;) require("node:fs").writeSync(1, "x".repeat(4096));',
    [],
    { maxBytes: 10_000 },
  );
  assert.deepEqual([output.length, cut, code], [10_000, 'size', null]);
});

test('a program that takes too long is killed, and so is what it has started', async (t) => {
  const { run, folder } = workshop(t);
  const child = join(folder, 'child');
  const text = `const { spawn } = require('node:child_process');
    const other = spawn(process.execPath, ['-e', '${forever}'], { stdio: 'inherit' });
    require('node:fs').writeFileSync(${JSON.stringify(child)}, String(other.pid)); console.log('here'); ${forever}`;
  const { output, cut } = await run(text, [], { timeoutMs: 2_000 });
  assert.deepEqual([said(output), cut], ['here\n', 'time']);
  await until('its child is gone', () => !alive(Number(readFileSync(child, 'utf8'))));
});

test('whoever does not want it any more, or goes, ends it; one that cannot be started says so', async (t) => {
  const { run, scope, nothing, notes } = workshop(t);
  const taken = new AbortController();
  const first = run(forever, [], { signal: taken.signal });
  await until('it runs', () => notes().length === 1);
  taken.abort();
  await assert.rejects(first, /program of test was stopped before it finished/);
  await assert.rejects(nothing(), /Failed to start none of test/);
  const second = run(forever);
  await until('it runs', () => notes().length === 1);
  await scope.close();
  await assert.rejects(second, /was stopped/);
  await assert.rejects(run(forever), /was stopped/);
});
