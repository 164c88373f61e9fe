// Runs the given test files, paths from the folder it is started in, in the given order as one run of node's own test runner, so that its
// closing lines count all of them. (`node --test a b` would sort them by name.) Started by bin/dev/test/test.mjs.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { run } from 'node:test';
import { spec, tap } from 'node:test/reporters';

import { buildTests } from './build.mjs';
import { processorFile, roomProgram, rooms } from './rooms.mjs';

const [fileDeadlineMs, ...files] = process.argv.slice(2);
/** Number of files from which on the slowest are worth reporting. */
const manyFiles = 50;
const began = performance.now();
const folder = mkdtempSync(join(tmpdir(), 'svc-tests-'));
const built = await buildTests(resolve(''), files, folder);
// Where a test finds the programs that it starts.
process.env.SVC_TEST_BUILT = folder;
const programs = new Map(rooms(files).map((room) => [roomProgram(folder, room, built), room]));
const failures = [];
/** Files of those failures; where to write them, which is not for runs that a test starts. */
const red = new Set();
const redFile = process.env.SVC_TEST_RED;
delete process.env.SVC_TEST_RED;
const heardOf = new Set();
const tookMs = new Map();
/** File whose tests are being reported: those of one come before those of the next. */
let current;

// Each process inherits how this one was started. Stacks name the sources. Garbage is collected in larger steps: most is from short tests.
process.execArgv.push('--enable-source-maps', '--min-semi-space-size=16');
// From Node 22 on a file whose test ran out of time is no longer ended by the runner, unless it is asked to.
const forceExit = Number(process.versions.node.split('.')[0]) >= 22;
const events = run({
  files: [...programs.keys()],
  // Tests wait for more than half of their time: for a child, a clock, a peer.
  concurrency: 3 * availableParallelism(),
  timeout: Number(fileDeadlineMs),
  ...(forceExit && { forceExit }),
});
events.on('test:start', ({ name, nesting }) => {
  if (nesting === 0) {
    current = name;
  } else {
    heardOf.add(current);
  }
});
events.on('test:fail', ({ name, nesting, details: { error, duration_ms: ms }, skip, todo }) => {
  told(name, nesting, ms);
  // A suite fails because of a test in it, which is told on its own.
  if (skip !== undefined || todo !== undefined || error?.failureType === 'subtestsFailed') {
    return;
  }
  const room = [...programs].find(([program]) => program === resolve(name))?.[1];
  const where = room ?? [current];
  where.forEach((file) => red.add(file));
  const what = nesting > 0 ? name : room === undefined ? 'does not load' : 'exited with an error';
  failures.push(`${where.join(', ')}: ${what} (${causeOf(error)})`);
});
events.on('test:pass', ({ name, nesting, details: { duration_ms: ms } }) =>
  told(name, nesting, ms),
);
const report = events.compose(process.stdout.isTTY ? new spec() : tap);
report.pipe(process.stdout);
report.once('end', () => {
  const used = usedByFiles();
  rmSync(folder, { recursive: true, force: true });
  const silent = files.filter((file) => !heardOf.has(file));
  failures.push(...silent.map((file) => `${file}: contains no test, or did not reach it`));
  silent.forEach((file) => red.add(file));
  if (redFile !== undefined) {
    writeFileSync(redFile, JSON.stringify([...red]));
  }
  process.stdout.write(
    `\n${figures(used)
      .map((line) => `# ${line}\n`)
      .join('')}`,
  );
  if (failures.length > 0) {
    process.stderr.write(`\nFailed:\n${failures.map((failure) => `  ${failure}\n`).join('')}`);
  }
  // Not by itself: a file that ignores being stopped would hold this process. bin/dev/test/test.mjs kills what is left.
  process.exit(failures.length === 0 ? 0 : 1);
});

function told(name, nesting, ms) {
  if (nesting === 0) {
    tookMs.set(name, ms);
  }
}

/** Reports the duration of the run, and its slowest and costliest files if there were many. */
function figures(used) {
  const wall = `took ${seconds(performance.now() - began)} s`;
  const slowest = [...tookMs].toSorted(([, a], [, b]) => b - a).slice(0, 20);
  return [
    ...(files.length > manyFiles
      ? [
          'Slowest files:',
          ...slowest.map(([file, ms]) => `  ${seconds(ms)} s ${file}`),
          'Most processor time, by the first file of a process:',
          ...used.slice(0, 40).map((line) => `  ${line.replace(' ', ' s ')}`),
        ]
      : []),
    [wall, ...usedByProcesses()].join(', '),
  ];
}

/** Lines of the processes that came to their end, the costliest first. */
function usedByFiles() {
  const file = processorFile(folder);
  return (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []).toSorted(
    (a, b) => Number.parseFloat(b) - Number.parseFloat(a),
  );
}

/** The kernel adds what a process used to its parent's account when that sees it end; where it tells nothing there is nothing to say. */
function usedByProcesses() {
  try {
    const bytes = Number(/^write_bytes: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))[1]);
    const ticks = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ').slice(11, 15);
    const cpu = ticks.reduce((sum, count) => sum + Number(count), 0) / 100;
    return [`${Math.round(cpu)} s of processor`, `${Math.round(bytes / 1e6)} MB written to disk`];
  } catch {
    return [];
  }
}

function seconds(ms) {
  return (ms / 1_000).toFixed(ms < 10_000 ? 1 : 0);
}

function causeOf(error) {
  const text = error?.cause?.message ?? error?.message ?? 'no reason given';
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, 200);
}
