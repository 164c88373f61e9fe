import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { missingPlatforms } from '../../bin/dev/lock-platforms.mjs';
import { addonFile } from '../addon.ts';
import { projectRoot } from './source.ts';

const headers = join(dirname(realpathSync(process.execPath)), '../include/node/node_version.h');

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A project as small as npm allows: one local package, whose addon is the real one; `runs` counts what npm has done. */
function bareClone(t: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), 'svc-setup-'));
  t.after(() => rmSync(root, { recursive: true }));
  const addon = 'build/Release/better_sqlite3.node';
  mkdirSync(join(root, 'local/build/Release'), { recursive: true });
  symlinkSync(addonFile, join(root, 'local', addon));
  writeFileSync(join(root, 'local/package.json'), '{"name":"better-sqlite3","version":"1.0.0"}');
  demand(root, '1.0.0');
  return root;
}

/** Writes a package.json and the lockfile for it; `preinstall` is run by npm. */
function demand(root: string, version: string, preinstall = 'echo once >> runs'): void {
  const dependencies = { 'better-sqlite3': 'file:./local' };
  writeFileSync(
    join(root, 'package.json'),
    JSON.stringify({ name: 'tiny', version, dependencies, scripts: { preinstall } }),
  );
  const packages = {
    '': { name: 'tiny', version, dependencies },
    local: { name: 'better-sqlite3', version },
    'node_modules/better-sqlite3': { resolved: 'local', link: true },
  };
  writeFileSync(
    join(root, 'package-lock.json'),
    JSON.stringify({ name: 'tiny', version, lockfileVersion: 3, requires: true, packages }),
  );
}

const runs = (root: string): number =>
  existsSync(join(root, 'runs'))
    ? readFileSync(join(root, 'runs'), 'utf8').trim().split('\n').length
    : 0;

/** One start of svc, as far as its set-up goes. */
function start(root: string): Promise<Ended> {
  const script = `import('./bin/dev/setup.mjs').then((setup) => setup.ensureInstalled(process.argv[1])).catch((error) => { console.error(error.message); process.exitCode = 1; })`;
  return new Promise((settle) => {
    execFile(
      process.execPath,
      ['-e', script, root],
      { cwd: projectRoot, timeout: 120_000 },
      (error, stdout, stderr) =>
        settle({
          code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1,
          stdout,
          stderr,
        }),
    );
  });
}

test('a bare clone installs its dependencies once and is silent from then on', async (t) => {
  const root = bareClone(t);
  const first = await start(root);
  assert.equal(first.code, 0, first.stderr);
  assert.match(first.stderr, /^Installing dependencies …\nDependencies installed \(\d+ s\)\n$/);
  assert.deepEqual(await start(root), { code: 0, stdout: '', stderr: '' });
  assert.equal(runs(root), 1);
  assert.equal(existsSync(join(root, '.setup.lock')), false);
});

test('what has to be compiled is told when that begins, with how long it takes', async (t) => {
  const root = bareClone(t);
  demand(root, '1.0.0', 'echo once >> runs && touch local/build/config.gypi && sleep 2.5');
  const { code, stderr } = await start(root);
  assert.equal(code, 0, stderr);
  assert.match(
    stderr,
    /^Installing dependencies …\nNo prebuilt better-sqlite3 is available .* compiling it, which takes 2 to 5 minutes\nDependencies installed \(\d+ s\)\n$/,
  );
});

test(
  'the headers that came with this Node are compiled against, where there are any',
  { skip: !existsSync(headers) },
  async (t) => {
    const root = bareClone(t);
    demand(root, '1.0.0', 'echo "$npm_config_nodedir" > headers');
    assert.equal((await start(root)).code, 0);
    assert.equal(
      join(readFileSync(join(root, 'headers'), 'utf8').trim(), 'include/node/node_version.h'),
      headers,
    );
  },
);

test('two starts at once install once', async (t) => {
  const root = bareClone(t);
  demand(root, '1.0.0', 'echo once >> runs && sleep 1');
  const both = await Promise.all([start(root), start(root)]);
  assert.deepEqual(
    both.map(({ code }) => code),
    [0, 0],
  );
  assert.equal(runs(root), 1);
});

test('a changed lockfile installs again', async (t) => {
  const root = bareClone(t);
  await start(root);
  writeFileSync(join(root, 'local/package.json'), '{"name":"better-sqlite3","version":"1.0.1"}');
  demand(root, '1.0.1');
  assert.equal((await start(root)).code, 0);
  assert.equal(runs(root), 2);
});

test('another Node.js than the addon was built for installs again', async (t) => {
  const root = bareClone(t);
  await start(root);
  const stamp = join(root, 'node_modules/.svc-lock-hash');
  writeFileSync(stamp, readFileSync(stamp, 'utf8').replace(/ \d+/, ' 1'));
  rmSync(join(root, 'local/build/Release/better_sqlite3.node'));
  const broken = await start(root);
  assert.equal(broken.code, 1);
  assert.match(broken.stderr, /failed: Cannot find module .*better_sqlite3\.node/);
  assert.equal(runs(root), 2);
});

test('what somebody installed by hand, in the locked versions, is taken as it is', async (t) => {
  const root = bareClone(t);
  await start(root);
  rmSync(join(root, 'node_modules/.svc-lock-hash'));
  assert.deepEqual(await start(root), { code: 0, stdout: '', stderr: '' });
  assert.equal(runs(root), 1);
});

test('a failure shows what npm said, names the cause and leaves no lock', async (t) => {
  const root = bareClone(t);
  demand(root, '1.0.0', 'echo no room left >&2 && exit 3');
  const { code, stderr } = await start(root);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /no room left[^]*"npm install" in .* failed: npm ended with exit code \d+\. Its output is above/,
  );
  assert.equal(existsSync(join(root, '.setup.lock')), false);
});

test('the lock of a start that was killed does not hold up the next one', async (t) => {
  const root = bareClone(t);
  const gone = spawnSync(process.execPath, ['-e', '']).pid;
  writeFileSync(
    join(root, '.setup.lock'),
    JSON.stringify({ pid: gone, host: hostname(), token: 'x' }),
  );
  assert.equal((await start(root)).code, 0);
  assert.equal(runs(root), 1);
});

test('a Node.js that is too old, and a missing lockfile, stop at a sentence', async (t) => {
  for (const program of ['bin/svc', 'bin/dev/setup.mjs']) {
    // The file that is loaded first makes this Node say that it is another one.
    const pretend =
      "data:text/javascript,Object.defineProperty(process.versions,'node',{value:'18.20.4'})";
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--import', pretend, program, 'version'],
      { cwd: projectRoot, encoding: 'utf8' },
    );
    assert.equal(status, 1);
    assert.match(
      stderr,
      /^svc needs Node\.js 20\.19 or newer, and .* is 18\.20\.4\. Install .* and start again\.\n$/,
    );
  }
  const root = bareClone(t);
  rmSync(join(root, 'package-lock.json'));
  assert.match(
    (await start(root)).stderr,
    /package-lock\.json is missing, .* "git checkout package-lock\.json"/,
  );
});

test('the lockfile names the packages of every platform, so that "npm ci" takes it', () => {
  assert.deepEqual(
    missingPlatforms(JSON.parse(readFileSync(join(projectRoot, 'package-lock.json'), 'utf8'))),
    [],
    'npm run lock-platforms',
  );
});

test('npm start becomes the process that serves, so that a signal to npm reaches it', () => {
  const { scripts } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  assert.equal(scripts['start'], 'exec node bin/svc serve');
});
