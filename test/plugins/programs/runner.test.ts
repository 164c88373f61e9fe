import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
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

import type { ProgramHandle, ProgramOptions } from 'svc/contracts/programs';

import { systemClock } from '../../../core/boot/time.ts';
import { OwnedScope } from '../../../core/registry/index.ts';
import { ProgramRunner, type RunnerOptions } from '../../../plugins/programs/runner.ts';

interface Workshop {
  readonly folder: string;
  readonly lines: readonly string[];
  readonly programs: ProgramRunner;
  /** Another generation of the plugin. */
  generation(places?: RunnerOptions['places']): ProgramRunner;
  /** An executable with this text of Node in it. */
  script(name: string, text: string): string;
  /** Wants a program, for an owner of its own. */
  run(
    file: string,
    options?: Partial<ProgramOptions>,
    name?: string,
    by?: ProgramRunner,
  ): TestProgram;
}

interface TestProgram {
  readonly handle: ProgramHandle;
  /** Scope of its owner. */
  readonly scope: OwnedScope;
  begin(): void;
}

function workshop(t: TestContext): Workshop {
  const folder = mkdtempSync(join(tmpdir(), 'svc-programs-'));
  const lines: string[] = [];
  const line = (_fields: object, message: string): void => void lines.push(message);
  const log = { debug: line, info: line, warn: line, error: line };
  const generation = (places: RunnerOptions['places'] = new Map()): ProgramRunner => {
    const runner = new ProgramRunner({
      folder: join(folder, 'notes'),
      clock: systemClock,
      log,
      path: `${folder}:relative:/usr/bin`,
      places,
      random: Math.random,
      restart: { firstMs: 20, maxMs: 50 },
    });
    void runner.sweep();
    return runner;
  };
  const programs = generation();
  const running: TestProgram[] = [];
  t.after(async () => {
    await Promise.all(running.map(({ scope }) => scope.close()));
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    folder,
    lines,
    programs,
    generation,
    script(name, text) {
      const file = join(folder, name);
      writeFileSync(file, `#!${process.execPath}\n${text}\n`);
      chmodSync(file, 0o755);
      return file;
    },
    run(file, options = {}, name = 'thing', by = programs) {
      const scope = new OwnedScope('test', {
        tick: async (_label, work) => await work(),
        task: async (_label, work) => await work(),
      });
      const handle = by.start({ id: 'test', dataDir: folder, log, scope }, name, file, {
        args: () => [],
        stopMs: 2_000,
        ...options,
      });
      const program = { handle, scope, begin: () => scope.arm() };
      running.push(program);
      return program;
    },
  };
}

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
};

async function until(what: string, holds: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 20_000; !holds(); await pause(10)) {
    assert.ok(Date.now() < deadline, `within 20 s: ${what}`);
  }
}

const forever = 'setInterval(() => undefined, 1000);';

test('a program gets its arguments as they are, a free port, its own folder and no environment but the one it is given', async (t) => {
  const { folder, lines, script, run } = workshop(t);
  const file = script(
    'tell',
    `console.log(JSON.stringify([process.argv.slice(2), process.cwd(), Object.keys(process.env)])); ${forever}`,
  );
  const program = run(file, {
    args: ({ port }) => [String(port), '$(touch /tmp/x) "; && *'],
    env: { GREETING: 'hello' },
  });
  assert.equal(program.handle.state, 'waiting');
  program.begin();
  await program.handle.ready(20_000);
  await until('it spoke', () => lines.length > 0);
  const [args, cwd, env] = JSON.parse(lines[0]!) as [string[], string, string[]];
  assert.deepEqual(args, [String(program.handle.port), '$(touch /tmp/x) "; && *']);
  assert.ok(program.handle.port! > 0 && program.handle.startedAt! > 0);
  assert.deepEqual([cwd, env], [folder, ['GREETING']]);
});

test('a program that ends is started again on another try, and says what its last words were', async (t) => {
  const { folder, lines, script, run } = workshop(t);
  const count = join(folder, 'count');
  const file = script(
    'stumble',
    `const fs = require('fs'); fs.appendFileSync(${JSON.stringify(count)}, 'x'); if (fs.readFileSync(${JSON.stringify(count)}).length < 3) { console.error('cannot open the frobnicator'); process.exit(7); } ${forever}`,
  );
  const program = run(file, { ready: () => existsSync(count) && readFileSync(count).length >= 3 });
  program.begin();
  await program.handle.ready(20_000);
  assert.equal(program.handle.cause, undefined);
  assert.equal(
    lines.filter((line) =>
      /exited with code 7; its last words: cannot open the frobnicator; restarting/.test(line),
    ).length,
    2,
  );
});

test('a program that is never ready is ended and started again; whoever waits hears why', async (t) => {
  const { script, run } = workshop(t);
  const program = run(script('slow', forever), { ready: () => false, startMs: 150 });
  program.begin();
  await until('it was given up once', () => program.handle.cause !== undefined);
  await assert.rejects(program.handle.ready(50), /was not ready within 150 ms/);
});

test('what cannot be started says so', async (t) => {
  const { folder, run } = workshop(t);
  const program = run(join(folder, 'missing'));
  program.begin();
  await until('it failed', () => program.handle.cause !== undefined);
  assert.match(program.handle.cause!, /could not be started: spawn .* ENOENT/);
});

test('stopping ends the program, and what it has started itself; one that does not listen is killed', async (t) => {
  const { folder, script, run, programs } = workshop(t);
  const grandchild = join(folder, 'grandchild');
  const stubborn = script(
    'stubborn',
    `process.on('SIGTERM', () => undefined); const c = require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(`process.on('SIGTERM', () => undefined); ${forever}`)}]); require('fs').writeFileSync(${JSON.stringify(grandchild)}, String(c.pid)); ${forever}`,
  );
  const program = run(stubborn, { stopMs: 100 });
  program.begin();
  await until('both run', () => existsSync(grandchild) && readFileSync(grandchild, 'utf8') !== '');
  const pids = [program.handle.pid!, Number(readFileSync(grandchild, 'utf8'))];
  assert.equal(programs.size, 1);
  await program.handle.stop();
  await until('both are gone', () => !pids.some(alive));
  assert.deepEqual(
    [program.handle.state, program.handle.pid, programs.size],
    ['stopped', undefined, 0],
  );
  assert.deepEqual(readdirSync(join(folder, 'notes')), []);
  await assert.rejects(program.handle.ready(1_000), { code: 'unavailable' });
});

test('two programs of one name never run at once: the next one waits for the end of the first', async (t) => {
  const { script, run } = workshop(t);
  const file = script('one', forever);
  const [first, second] = [run(file), run(file)];
  first.begin();
  await first.handle.ready(20_000);
  second.begin();
  await pause(100);
  assert.deepEqual([second.handle.state, second.handle.pid], ['waiting', undefined]);
  await first.handle.stop();
  await second.handle.ready(20_000);
  const never = run(file);
  await never.handle.stop();
  never.begin();
  assert.equal(never.handle.state, 'stopped', 'one that was stopped before it began never does');
});

test('what an earlier life of the service has left behind is ended at the next start, and nobody else', async (t) => {
  const { folder, script, run, programs, lines } = workshop(t);
  const program = run(script('left', forever));
  program.begin();
  await program.handle.ready(20_000);
  const note = readFileSync(join(folder, 'notes', 'test.thing.json'), 'utf8');
  const orphan: ChildProcess = spawn(process.execPath, ['-e', forever], {
    detached: true,
    stdio: 'ignore',
  });
  const stranger: ChildProcess = spawn(process.execPath, ['-e', forever], {
    detached: true,
    stdio: 'ignore',
  });
  t.after(() => [orphan, stranger].forEach((child) => child.kill('SIGKILL')));
  const identity = (pid: number): object => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return {
      pid,
      started: stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19],
      command: readFileSync(`/proc/${pid}/cmdline`, 'utf8'),
    };
  };
  await until('both have become what they are', () =>
    [orphan, stranger].every(({ pid }) =>
      readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('-e'),
    ),
  );
  const { of, ...known } = JSON.parse(note) as { of?: unknown };
  assert.deepEqual(
    known,
    identity(program.handle.pid!),
    'the note knows the process by more than its number',
  );
  assert.equal(of, `${process.pid} ${(identity(process.pid) as { started: string }).started}`);
  const write = (name: string, text: string): void =>
    writeFileSync(join(folder, 'notes', name), text);
  write('old.orphan.json', JSON.stringify(identity(orphan.pid!)));
  write('old.reused.json', JSON.stringify({ ...identity(stranger.pid!), started: '1' }));
  write('old.cut.json', note.slice(0, 10));
  write('old.evil.json', JSON.stringify({ pid: -1, started: '', command: '' }));
  await programs.sweep();
  assert.deepEqual(
    [alive(orphan.pid!), alive(stranger.pid!), alive(program.handle.pid!)],
    [false, true, true],
  );
  assert.deepEqual(
    readdirSync(join(folder, 'notes')),
    ['test.thing.json'],
    'what this process runs is nothing that was left',
  );
  assert.ok(lines.some((line) => /left over from an earlier run/.test(line)));
});

test('programs are found by name on the path, or by their own path, and only where they can be run', (t) => {
  const { folder, programs, script } = workshop(t);
  const file = script('tool', '');
  writeFileSync(join(folder, 'text'), '');
  assert.equal(programs.find('tool'), file);
  assert.equal(programs.find(file), file);
  for (const name of ['text', 'nothing-of-this-name', '', '../tool', './tool', folder]) {
    assert.equal(programs.find(name), undefined, name);
  }
});

test('what a program prints can be taken, as fast as it is wanted; what cannot be taken ends the program', async (t) => {
  const { lines, script, run } = workshop(t);
  const file = script(
    'pour',
    `process.stderr.write('a word of its own\\n'); const more = () => process.stdout.write('x'.repeat(65536)) ? setImmediate(more) : process.stdout.once('drain', more); more();`,
  );
  let taken = 0;
  let full = true;
  const program = run(file, {
    output: async (chunk) => {
      taken += chunk.length;
      while (full) {
        await pause(5);
      }
      if (taken > 2_000_000) {
        throw new Error('enough');
      }
    },
  });
  program.begin();
  await until('it printed', () => taken > 0 && lines.includes('a word of its own'));
  await pause(100);
  assert.ok(taken <= 65_536, `${taken} bytes were read while none was wanted`);
  full = false;
  await until('it was ended', () => program.handle.cause !== undefined);
  assert.match(program.handle.cause!, /its output could not be read: enough/);
  assert.deepEqual(
    lines.filter((line) => line.includes('xxx')),
    [],
  );
});

test('a program that waits for its turn is stopped at once, and lets nobody past the one that runs', async (t) => {
  const { script, run } = workshop(t);
  const file = script('one', forever);
  const [first, second, third] = [run(file), run(file), run(file)];
  first.begin();
  await first.handle.ready(20_000);
  second.begin();
  third.begin();
  await second.scope.close();
  assert.equal(second.handle.state, 'stopped');
  await pause(100);
  assert.deepEqual([third.handle.state, third.handle.pid], ['waiting', undefined]);
  await first.scope.close();
  await third.handle.ready(20_000);
});

test('another generation of the plugin goes on with what runs, one process of a name at a time', async (t) => {
  const { script, run, programs, generation } = workshop(t);
  const file = script('one', forever);
  const [kept, leaving, unbegun] = [
    run(file, {}, 'kept'),
    run(file, {}, 'leaving'),
    run(file, {}, 'unbegun'),
  ];
  kept.begin();
  leaving.begin();
  await Promise.all([kept.handle.ready(20_000), leaving.handle.ready(20_000)]);
  const before = [kept.handle.pid!, leaving.handle.pid!];

  const next = generation(programs.places);
  const newcomer = run(file, {}, 'leaving', next);
  newcomer.begin();
  const left = programs.leave(next);
  await leaving.scope.close();
  await left;
  await Promise.all([kept.handle.ready(20_000), newcomer.handle.ready(20_000)]);
  assert.deepEqual(before.map(alive), [false, false]);
  assert.notEqual(kept.handle.pid, before[0]);
  assert.deepEqual([programs.size, next.size, leaving.handle.state], [0, 2, 'stopped']);
  assert.throws(() => run(file, {}, 'late'), { code: 'unavailable' });
  unbegun.begin();
  await unbegun.handle.ready(20_000);
  assert.equal(next.size, 3);

  const pids = [kept, newcomer, unbegun].map(({ handle }) => handle.pid!);
  await next.leave(undefined);
  assert.deepEqual(pids.map(alive), [false, false, false]);
  assert.deepEqual(
    kept.scope.effects().children,
    [],
    'what nobody goes on with is no effect of its owner any more',
  );
});
