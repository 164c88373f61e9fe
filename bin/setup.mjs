// Makes a bare clone ready to run. Plain JavaScript, node:* only: nothing else is there yet.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { withSetupLock } from './setup-lock.mjs';
import { progress } from './progress.mjs';

const projectRoot = fileURLToPath(new URL('..', import.meta.url));
const oldestNode = [20, 19];
const npmDeadlineMs = 15 * 60_000;
const keptOutput = 64 * 1024;

/**
 * Installs what package-lock.json names when node_modules is not that yet, or was built for another Node.
 * Throws an Error whose message is a sentence for the user; silent when there is nothing to do.
 */
export async function ensureInstalled(root = projectRoot) {
  requireNode(process.versions.node);
  const wanted = stampOf(root);
  if (readText(stampPath(root)) === wanted) {
    return;
  }
  await withSetupLock(root, async (beat) => {
    if (readText(stampPath(root)) === wanted) {
      return;
    }
    if (!holdsLockedVersions(root) || addonProblem(root) !== undefined) {
      await install(root, beat);
    }
    mkdirSync(join(root, 'node_modules'), { recursive: true });
    writeFileSync(stampPath(root), wanted);
  });
}

/** Refuses a Node that cannot run svc. */
export function requireNode(version) {
  const [major, minor] = version.split('.').map(Number);
  const [oldestMajor, oldestMinor] = oldestNode;
  if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
    throw new Error(
      `svc needs Node.js ${oldestMajor}.${oldestMinor} or newer, and ${process.execPath} is ${version}. ` +
        'Install a current release (https://nodejs.org, or "nvm install 24") and start again.',
    );
  }
}

const stampPath = (root) => join(root, 'node_modules', '.svc-lock-hash');

/** What an installation depends on: the locked versions, and the Node that native addons were built for. */
function stampOf(root) {
  const lock = readText(join(root, 'package-lock.json'));
  if (lock === undefined) {
    throw new Error(`${join(root, 'package-lock.json')} is missing, so nobody knows what to install. Restore it with "git checkout package-lock.json".`);
  }
  return `${createHash('sha256').update(lock).digest('hex')} ${process.versions.modules}\n`;
}

/** True when somebody ran npm by hand and every package stands there in its locked version. */
function holdsLockedVersions(root) {
  const installed = readText(join(root, 'node_modules', '.package-lock.json'));
  if (installed === undefined) {
    return false;
  }
  const found = JSON.parse(installed).packages;
  const locked = JSON.parse(readText(join(root, 'package-lock.json'))).packages;
  return Object.entries(locked).every(([path, entry]) => path === '' || entry.optional || found[path]?.version === entry.version);
}

/** Why the one native addon does not load here, if it does not: never built, or built for another Node. */
function addonProblem(root) {
  try {
    createRequire(join(root, 'package.json'))('better-sqlite3/build/Release/better_sqlite3.node');
    return undefined;
  } catch (error) {
    return error.message.split('\n')[0];
  }
}

async function install(root, beat) {
  const bar = progress('Installing dependencies (first start, new versions or another Node.js)', beat);
  const result = await npmCi(root);
  const problem = result.problem ?? addonProblem(root);
  bar.end(problem === undefined ? 'Dependencies installed' : 'Dependencies were not installed');
  if (problem === undefined) {
    return;
  }
  process.stderr.write(`${result.output.trimEnd()}\n`);
  throw new Error(
    `"npm ci" in ${root} did not succeed: ${problem}. Its output is above. ` +
      'It needs the npm registry, and a compiler for better-sqlite3 (Debian: apt-get install build-essential python3).',
  );
}

/** Runs npm to its end, at most `npmDeadlineMs`; a signal to us ends npm too. */
function npmCi(root) {
  return new Promise((settle) => {
    // NODE_ENV=production would leave out what `npm test` needs.
    const npm = spawn('npm', ['ci', '--include=dev', '--no-audit', '--no-fund'], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    // The group, not npm alone: a compiler left behind would keep its output open.
    const stop = () => process.kill(-npm.pid, 'SIGKILL');
    let output = '';
    const keep = (chunk) => (output = (output + chunk).slice(-keptOutput));
    npm.stdout.on('data', keep);
    npm.stderr.on('data', keep);
    const deadline = setTimeout(stop, npmDeadlineMs);
    const interrupted = (_signal, number) => {
      stop();
      process.exit(128 + number);
    };
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    signals.forEach((signal) => process.once(signal, interrupted));
    const end = (problem) => {
      clearTimeout(deadline);
      signals.forEach((signal) => process.off(signal, interrupted));
      settle({ output, problem });
    };
    npm.once('error', (error) => end(error.code === 'ENOENT' ? 'npm is not on the PATH' : error.message));
    npm.once('close', (code, signal) => end(code === 0 ? undefined : `npm ended with ${signal ?? `exit code ${code}`}`));
  });
}

function readText(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') {
      return undefined;
    }
    throw error;
  }
}

if (realpathSync(resolve(process.argv[1] ?? '')) === fileURLToPath(import.meta.url)) {
  await ensureInstalled().catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}
