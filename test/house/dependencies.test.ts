import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { projectRoot } from './source.ts';

interface Row {
  readonly name: string;
  readonly version: string;
  readonly script: string;
}

type Versions = Readonly<Record<string, string>>;

const read = (path: string): string => readFileSync(join(projectRoot, path), 'utf8');
const project = JSON.parse(read('package.json')) as {
  dependencies: Versions;
  devDependencies: Versions;
  allowScripts: Readonly<Record<string, boolean>>;
};
const lock = JSON.parse(read('package-lock.json')) as {
  packages: Readonly<
    Record<string, { version?: string; integrity?: string; hasInstallScript?: boolean }>
  >;
};
const [runTime, development] = read('docs/dependencies.md')
  .split(/^## /m)
  .slice(1, 3)
  .map(rowsOf) as [Row[], Row[]];

/** The table rows of a part of the page. */
function rowsOf(part: string): Row[] {
  return part
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map((cells) => ({ name: cells[1]!, version: cells[2]!, script: cells.at(-2)! }));
}

const versionsOn = (rows: readonly Row[]): Versions =>
  Object.fromEntries(rows.map(({ name, version }) => [name, version]));

test('docs/dependencies.md explains exactly the packages of package.json, in their versions', () => {
  assert.deepEqual(versionsOn(runTime), project.dependencies);
  assert.deepEqual(versionsOn(development), project.devDependencies);
});

test('every version is exact and is the one the lockfile installs', () => {
  for (const [name, version] of Object.entries({
    ...project.dependencies,
    ...project.devDependencies,
  })) {
    assert.match(
      version,
      /^\d+\.\d+\.\d+(?:-[\w.]+)?$/,
      `${name} is asked for as "${version}"; pin it`,
    );
    assert.equal(
      lock.packages[`node_modules/${name}`]?.version,
      version,
      `package-lock.json and package.json differ about ${name}; run "npm install"`,
    );
  }
});

test('every package of the lockfile, for whatever platform, is held to its hash', () => {
  const unbound = Object.entries(lock.packages)
    .filter(([path, { integrity }]) => path !== '' && !integrity?.startsWith('sha512-'))
    .map(([path]) => path);
  assert.deepEqual(
    unbound,
    [],
    'delete these entries from package-lock.json and run "npm install --package-lock-only"',
  );
});

test('no package runs an install script that nobody has judged, and the page tells each verdict', () => {
  const scripted = Object.entries(lock.packages)
    .filter(([, entry]) => entry.hasInstallScript)
    .map(([path]) => path.split('node_modules/').at(-1)!);
  assert.deepEqual([...new Set(scripted)].sort(), Object.keys(project.allowScripts).sort());
  for (const { name, script } of [...runTime, ...development]) {
    const verdict = project.allowScripts[name];
    assert.match(
      script,
      verdict === undefined ? /^none$/ : verdict ? /^allowed: / : /^denied: /,
      `the install script of ${name}`,
    );
  }
});

test('at most 25 packages are needed at run time', () => {
  assert.ok(Object.keys(project.dependencies).length <= 25);
});
