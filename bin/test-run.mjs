// Runs the given test files in the given order as one run of node's own test runner, so that its closing lines count all of them.
// (`node --test a b` would sort them by name.) Started by bin/test.mjs.
import { availableParallelism } from 'node:os';
import { relative, resolve } from 'node:path';
import { run } from 'node:test';
import { spec, tap } from 'node:test/reporters';

import { shareProcesses } from './test-rooms.mjs';

// Every test file inherits how this process was started; it has no TypeScript of its own, and need not wait for what reads that.
process.execArgv.push('--import', 'tsx');

const [fileDeadlineMs, ...names] = process.argv.slice(2);
const files = names.map((name) => resolve(name));
const { entries, forget } = shareProcesses(files);
/** So many that their slowest are worth knowing. */
const manyFiles = 50;
const failures = [];
const heardOf = new Set();
const tookMs = new Map();

// From Node 22 on a file whose test ran out of time is no longer ended by the runner, unless it is asked to.
const forceExit = Number(process.versions.node.split('.')[0]) >= 22;
const events = run({
  files: entries,
  concurrency: availableParallelism(),
  timeout: Number(fileDeadlineMs),
  ...(forceExit && { forceExit }),
});
events.on('test:fail', ({ name, file, details, skip, todo }) => {
  heardOf.add(file);
  // A suite fails because of a test in it, which is told on its own.
  if (skip === undefined && todo === undefined && details.error?.failureType !== 'subtestsFailed') {
    failures.push(
      `${relative('', file ?? name)}: ${file === name || file === undefined ? 'ended badly' : name} (${causeOf(details.error)})`,
    );
  }
});
events.on('test:pass', ({ name, file }) => {
  // The runner counts a file that registers nothing as one passed test.
  if (name !== file) {
    heardOf.add(file);
  }
});
// Of each test that is in no other one; those of one file run one after another.
events.on('test:complete', ({ name, file, nesting, details: { duration_ms: ms } }) => {
  if (nesting === 0 && name !== file && file !== undefined) {
    tookMs.set(file, (tookMs.get(file) ?? 0) + ms);
  }
});
const report = events.compose(process.stdout.isTTY ? new spec() : tap);
report.pipe(process.stdout);
report.once('end', () => {
  forget();
  const silent = files.filter((file) => !heardOf.has(file));
  failures.push(
    ...silent.map((file) => `${relative('', file)}: holds no test, or did not come to it`),
  );
  if (files.length > manyFiles) {
    const slowest = [...tookMs].toSorted(([, a], [, b]) => b - a).slice(0, 20);
    process.stdout.write(
      `\n# Slowest files:\n${slowest.map(([file, ms]) => `#   ${Math.round(ms / 1_000)} s ${relative('', file)}\n`).join('')}`,
    );
  }
  if (failures.length > 0) {
    process.stderr.write(`\nFailed:\n${failures.map((failure) => `  ${failure}\n`).join('')}`);
  }
  // Not by itself: a file that ignores being stopped would hold this process. bin/test.mjs kills what is left.
  process.exit(failures.length === 0 ? 0 : 1);
});

function causeOf(error) {
  const text = error?.cause?.message ?? error?.message ?? 'no reason given';
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, 200);
}
