// `npm test [-- --changed|--drills|--third|--second-look] [part-of-a-path …]`: picks the test files, fast rooms first, and sees that their run comes to an end.
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { changedTests } from './changed.mjs';
import { testFolder } from './folder.mjs';
import { postgresFor } from './postgres.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
/**
 * Time limit of one process, which runs the files of a group; ten times what that takes on an idle
 * machine.
 */
const fileDeadlineMs = 30 * 60_000;
const runDeadlineMs = 75 * 60_000;

/**
 * Order of groups: a red one makes those that build on it uninteresting, so the foundations come
 * first; the rest by name.
 */
const roomOrder = [
  'client',
  'sdk',
  'registry',
  'auth',
  'observe',
  'events',
  'http',
  'host',
  'plugins',
  'storage',
  'isolate',
  'boot',
  'cli',
  'drill',
];

/** Take a minute and more each: they begin before all others, so that the run does not end with waiting for one. */
const longest = [
  'house/rooms-',
  'cli/update.',
  'plugins/console/',
  'plugins/edge-upgrade/',
  'plugins/investigate/room.',
  'plugins/self/',
];

/**
 * Max files that are run again: more of them are no coincidence, whatever the machine was doing.
 */
const maxSecondLooks = 5;

const options = ['--changed', '--drills', '--third', '--second-look'];
const wanted = process.argv.slice(2).filter((part) => !options.includes(part));
const [onlyChanged, wholeDrills, onlyThird, looksTwice] = options.map((option) =>
  process.argv.includes(option),
);
let files = testFiles().filter(
  (file) => wanted.length === 0 || wanted.some((part) => file.includes(part)),
);
if (files.length === 0) {
  console.error(
    wanted.length === 0
      ? 'There is no test/**/*.test.ts, so nothing was tested.'
      : `No test file has ${wanted.join(' or ')} in its path.`,
  );
  process.exit(1);
}
if (wholeDrills) {
  // Those that do with fewer rounds when they run with all others.
  files = files.filter((file) =>
    readFileSync(join(root, file), 'utf8').includes('drill/rounds.ts'),
  );
  process.env.SVC_TEST_DRILLS = 'whole';
}
if (onlyThird) {
  // Every third file, and others at the next commit: each commit pays for a part, and no drill waits for long.
  const commits = Number(git('rev-list', '--count', 'HEAD'));
  files = files.filter((_, index) => index % 3 === commits % 3);
}
if (onlyChanged) {
  const { changed, found } = await changedTests(root, files);
  console.log(
    `${changed.length} files have changed; ${found.length} of ${files.length} test files read them in one process. Run "npm test" for the whole product.`,
  );
  files = found;
}
if (files.length > 0) {
  process.exitCode = await (looksTwice ? runWithSecondLook(files) : runAll(files));
}

function git(...parameters) {
  return execFileSync('git', parameters, { cwd: root, encoding: 'utf8' });
}

function testFiles() {
  const rank = (file) => {
    if (longest.some((part) => file.startsWith(`test/${part}`))) {
      return -1;
    }
    const place = roomOrder.indexOf(file.split('/')[1]);
    return place === -1 ? roomOrder.length : place;
  };
  return readdirSync(new URL('../../../test', import.meta.url), {
    recursive: true,
    withFileTypes: true,
  })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(root.length))
    .filter((file) => !file.includes('/fixtures/'))
    .sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}

/**
 * Runs the files, then those few that were red once more on their own: what is green there was red
 * for the load of the run or by a race. That is reported, and it is not a failure of the change.
 */
async function runWithSecondLook(chosen) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-red-'));
  process.env.SVC_TEST_RED = join(folder, 'red.json');
  try {
    const code = await runAll(chosen);
    const red = code === 0 || !existsSync(process.env.SVC_TEST_RED) ? [] : redFiles();
    if (red.length === 0 || red.length > maxSecondLooks) {
      return code;
    }
    console.error(`\nSecond look, on their own: ${red.join(', ')}`);
    const again = await runAll(red);
    console.error(
      again === 0
        ? `\nRed in the whole run and green on their own, so they depend on load or order: ${red.join(', ')}`
        : `\nRed again on their own: ${redFiles().join(', ')}`,
    );
    return again;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function redFiles() {
  return JSON.parse(readFileSync(process.env.SVC_TEST_RED, 'utf8'));
}

/** Runs in a process group of its own, so that nothing a test started outlives the run: not after the end, a signal or the deadline. */
async function runAll(chosen) {
  const { NODE_TEST_CONTEXT: _outerRun, ...env } = process.env;
  const [folder, disk] = [testFolder(), mkdtempSync(join(tmpdir(), 'svc-'))];
  // Some tests start programs as another user, who has to come through.
  [folder, disk].forEach((path) => chmodSync(path, 0o711));
  // Programs of tests that are read through tsx find what it kept of them.
  const kept = `tsx-${process.getuid?.()}`;
  mkdirSync(join(tmpdir(), kept), { recursive: true });
  symlinkSync(join(tmpdir(), kept), join(folder, kept));
  const database = await postgresFor(folder, env);
  const runner = spawn(
    process.execPath,
    ['bin/dev/test/run.mjs', String(fileDeadlineMs), ...chosen],
    {
      cwd: root,
      env: { ...env, ...database.env, TMPDIR: folder, SVC_TEST_DISK: disk },
      stdio: ['ignore', 'inherit', 'inherit'],
      detached: true,
    },
  );
  const sweep = () => {
    database.end();
    try {
      if (runner.pid !== undefined) {
        process.kill(-runner.pid, 'SIGKILL');
      }
    } catch (error) {
      if (error.code !== 'ESRCH') {
        throw error;
      }
    }
    for (const written of [folder, disk]) {
      forget(written);
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, () => {
      sweep();
      process.exit(128 + constants.signals[signal]);
    });
  }
  const deadline = setTimeout(() => {
    console.error(
      `The tests did not finish within ${runDeadlineMs / 60_000} minutes and were stopped.`,
    );
    sweep();
  }, runDeadlineMs);
  return new Promise((settle) => {
    runner.once('exit', (code) => {
      clearTimeout(deadline);
      sweep();
      settle(code ?? 1);
    });
  });
}

function forget(folder) {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  } catch (error) {
    // A small disk that a test was stopped with is mounted there.
    console.error(`${folder} could not be removed: ${error.message}`);
  }
}
