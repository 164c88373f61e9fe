import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { arrows, libraries, pluginPackages, trusted } from '../house/boundaries.ts';
import { projectRoot } from '../house/source.ts';

/** Max files on the way from the socket to the row; a change that shortens it lowers this, too. */
const mostFilesToRow = 20;

const read = (path: string): string => readFileSync(join(projectRoot, path), 'utf8');
const page = read('docs/architecture.md');

/** Matches sessions of a reader; the files they mention exist only through them. */
const sessions = /^```(?:sh|ts)\n[^]*?^```$/gm;

const pathsIn = (text: string): readonly string[] => [
  ...new Set(
    [
      ...text.matchAll(
        /(?<![\w./-])(?:core|plugins|bin|test|config|docs|agents|skills|vault)\/[\w./-]*\w\/?(?![\w*<-])/g,
      ),
    ].map(([path]) => path),
  ),
];
const quoted = (text: string): readonly string[] =>
  [...text.matchAll(/`([^`]+)`/g)].map(([, word]) => word!);

/** The text between one heading and the next of its rank or above. */
function section(heading: string): string {
  const from = page.indexOf(`\n${heading}`);
  assert.notEqual(from, -1, `docs/architecture.md has no heading "${heading}"`);
  const rank = heading.indexOf(' ');
  const rest = page.slice(from + 1 + heading.length);
  return rest.slice(0, new RegExp(`\n#{1,${rank}} `).exec(rest)?.index);
}

for (const path of ['docs/architecture.md', 'README.md']) {
  test(`every path that ${path} names exists`, () => {
    const named = pathsIn(read(path).replaceAll(sessions, ''));
    assert.ok(named.length > 5, `only ${named.join(', ')} look like paths`);
    assert.deepEqual(
      named.filter((name) => !existsSync(join(projectRoot, name))),
      [],
    );
  });
}

test('the table of imports is the one that is enforced', () => {
  const rows = [...section('## Import rules').matchAll(/^\| `([^`]+)` +\| (.+?) +\|$/gm)].map(
    ([, who, whom]) => [
      who,
      whom === 'nothing' ? [] : whom === 'all of core' ? ['core/*'] : quoted(whom!),
    ],
  );
  const ofCore = Object.entries(arrows).map(([room, others]) => [
    `core/${room}`,
    others.map((name) => `core/${name}`),
  ]);
  const ofLibraries = Object.entries(libraries).map(([name, below]) => [
    `plugins/lib/${name}`,
    ['svc/sdk', ...below.map((other) => `svc/${other}`)],
  ]);
  assert.deepEqual(rows, [...ofCore, ...ofLibraries]);
});

test('the packages of plugins and the trusted plugins are those that are enforced', () => {
  const [, packages, trustedOnes] =
    /\nA plugin may use these packages: ([^.]+)\.[^]*?as\s+`trusted`: ([^.]+)\./.exec(page) ?? [];
  assert.deepEqual(quoted(packages ?? ''), pluginPackages);
  assert.deepEqual(quoted(trustedOnes ?? '').toSorted(), Object.keys(trusted).toSorted());
});

test('the way of an HTTP body counts its files, and does not grow', () => {
  const [, count] = /\n### From HTTP body to row \((\d+) files\)/.exec(page) ?? [];
  const files = [...section('### From HTTP body to row').matchAll(/^\d+\. `([^`]+)`/gm)].map(
    ([, path]) => path,
  );
  assert.equal(new Set(files).size, Number(count));
  assert.ok(files.length <= mostFilesToRow, `${files.length} files, which were ${mostFilesToRow}`);
});
