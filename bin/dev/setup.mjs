// Makes a bare clone ready to run. Plain JavaScript, node:* only: nothing else is there yet.
import '../product/oldest-node.mjs';

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { installHooks } from './install-hooks.mjs';
import { withSetupLock } from './setup-lock.mjs';
import { progress } from '../product/progress.mjs';

const projectRoot = fileURLToPath(new URL('../..', import.meta.url));
const npmDeadlineMs = 15 * 60_000;
const keptOutput = 64 * 1024;

/**
 * Installs what package-lock.json names when node_modules is not that yet, or was built for another Node.
 * Throws an Error whose message is a sentence for the user; silent when there is nothing to do.
 */
export async function ensureInstalled(root = projectRoot) {
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

const stampPath = (root) => join(root, 'node_modules', '.svc-lock-hash');

/**
 * Returns what an installation depends on: the locked versions, and the Node that native addons
 * were built for.
 */
function stampOf(root) {
  // An import would load web cryptography as well, into each agent.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const lock = readText(join(root, 'package-lock.json'));
  if (lock === undefined) {
    throw new Error(
      `${join(root, 'package-lock.json')} is missing, so the versions to install are unknown. Restore it with "git checkout package-lock.json".`,
    );
  }
  return `${createHash('sha256').update(lock).digest('hex')} ${process.versions.modules}\n`;
}

/**
 * Version 12 of the addon is the last one for Node 20. On newer ones it ends the process when a statement is collected
 * (docs/adr/0014), so they get its successor, which needs no compiler and in turn refuses Node 20.
 */
function successorOfAddon(root) {
  const locked = JSON.parse(readText(join(root, 'package-lock.json'))).packages[
    'node_modules/better-sqlite3'
  ]?.version;
  return locked?.startsWith('12.') && Number(process.versions.node.split('.')[0]) >= 22
    ? 'better-sqlite3@13.2.0'
    : undefined;
}

/** True when somebody ran npm by hand and every package stands there in its locked version. */
function holdsLockedVersions(root) {
  if (successorOfAddon(root) !== undefined) {
    return false;
  }
  const installed = readText(join(root, 'node_modules', '.package-lock.json'));
  if (installed === undefined) {
    return false;
  }
  const found = JSON.parse(installed).packages;
  const locked = JSON.parse(readText(join(root, 'package-lock.json'))).packages;
  return Object.entries(locked).every(
    ([path, entry]) => path === '' || entry.optional || found[path]?.version === entry.version,
  );
}

/** Why the one native addon does not load here, if it does not. Asked of another process: what this one loads it could not replace. */
function addonProblem(root) {
  const load = successorOfAddon(root)
    ? "new (require('better-sqlite3'))(':memory:').close()"
    : "require('better-sqlite3/build/Release/better_sqlite3.node')";
  const probe = spawnSync(process.execPath, ['-e', load], {
    cwd: root,
    encoding: 'utf8',
    timeout: 60_000,
  });
  const reason =
    /^Error: ([^]*?)\n(?:Require stack:| {4}at )/m.exec(probe.stderr)?.[1] ??
    `better-sqlite3 does not load (${probe.signal ?? `exit code ${probe.status}`})`;
  return probe.status === 0 ? undefined : reason.replaceAll(/\s+/g, ' ');
}

async function install(root, beat) {
  discardUnlessSound(root);
  const compiling = compileNotice(root);
  const bar = progress('Installing dependencies', () => {
    beat();
    return compiling();
  });
  const result = await npmInstall(root);
  const problem = result.problem ?? addonProblem(root);
  bar.end(problem === undefined ? 'Dependencies installed' : 'Dependencies were not installed');
  if (problem === undefined) {
    return;
  }
  process.stderr.write(`${result.output.trimEnd()}\n`);
  throw new Error(
    `"npm install" in ${root} failed: ${problem}. Its output is above. It needs the npm registry, and for better-sqlite3 either github.com, which has it prebuilt, or a compiler (Debian: apt-get install build-essential python3) and the headers of Node, found next to it or at nodejs.org.`,
  );
}

/** Answers once, when npm has found no built addon and begins to compile it: minutes in which nothing else is said. */
function compileNotice(root) {
  const begun = join(root, 'node_modules/better-sqlite3/build/config.gypi');
  let told = existsSync(begun);
  return () => {
    if (told || !existsSync(begun)) {
      return undefined;
    }
    told = true;
    return 'No prebuilt better-sqlite3 is available from github.com; compiling it, which takes 2 to 5 minutes';
  };
}

/**
 * Returns the headers of this Node, if they came with it: node-gyp would fetch them from
 * nodejs.org.
 */
function ownHeaders() {
  const folder = resolve(dirname(realpathSync(process.execPath)), '..');
  const text = readText(join(folder, 'include/node/node_version.h')) ?? '';
  const version = [
    /define NODE_MAJOR_VERSION (\d+)/,
    /define NODE_MINOR_VERSION (\d+)/,
    /define NODE_PATCH_VERSION (\d+)/,
  ]
    .map((part) => part.exec(text)?.[1])
    .join('.');
  return version === process.versions.node ? folder : undefined;
}

/**
 * Keeps what an earlier run of npm brought to its end, because the addon takes a minute to compile. Half of a package
 * that a killed run left, or an addon of another Node, would pass for installed: then all of it goes.
 */
function discardUnlessSound(root) {
  const ended = join(root, 'node_modules', '.package-lock.json');
  if (existsSync(ended) && addonProblem(root) === undefined) {
    rmSync(ended);
  } else {
    rmSync(join(root, 'node_modules'), { recursive: true, force: true });
  }
}

/**
 * Installs the locked versions, within `npmDeadlineMs`; a signal to us ends npm too. Not `npm ci`,
 * which would restart what a killed run left unfinished (packages of other platforms are in the
 * lockfile by `npm run lock-platforms`).
 */
function npmInstall(root) {
  return new Promise((settle) => {
    const args = [
      'install',
      '--no-save',
      '--prefer-offline',
      '--no-audit',
      '--no-fund',
      ...[successorOfAddon(root) ?? []].flat(),
    ];
    // NODE_ENV=production would leave out what `npm test` needs.
    // Ours first on the PATH: npm builds the addon for the Node that it runs in.
    const headers = ownHeaders();
    const env = {
      ...process.env,
      PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
      ...(headers !== undefined && { npm_config_nodedir: headers }),
    };
    const npm = spawn('npm', [...args, '--include=dev'], {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    // The group, not npm alone: a compiler left behind would keep its output open.
    const stop = () => npm.pid !== undefined && process.kill(-npm.pid, 'SIGKILL');
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
    npm.once('error', (error) =>
      end(error.code === 'ENOENT' ? 'npm is not on the PATH' : error.message),
    );
    npm.once('close', (code, signal) =>
      end(code === 0 ? undefined : `npm ended with ${signal ?? `exit code ${code}`}`),
    );
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
  await ensureInstalled()
    .then(() => installHooks(projectRoot))
    .catch((error) => {
      console.error(error.message);
      process.exitCode = 1;
    });
}
