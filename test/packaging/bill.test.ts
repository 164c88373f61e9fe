import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { billOfMaterials } from '../../bin/dev/packaging/bill.ts';
import { licenceProblems } from '../../bin/dev/packaging/licences.ts';
import { runTimePackages } from '../../bin/dev/packaging/packages.ts';
import { placeBill } from '../../bin/dev/packaging/place-bill.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Creates a product whose lockfile names these packages, of which some are installed with a
 * manifest.
 */
function product(
  t: TestContext,
  lock: Readonly<Record<string, object>>,
  installed: Readonly<Record<string, object>> = {},
): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bill-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(
    join(folder, 'package-lock.json'),
    JSON.stringify({ lockfileVersion: 3, packages: lock }),
  );
  for (const [path, manifest] of Object.entries(installed)) {
    const file = join(folder, path, 'package.json');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(manifest));
  }
  return folder;
}

const problemsOf = (folder: string): string[] => licenceProblems(runTimePackages(folder).packages);

describe('the licences', () => {
  test('of everything that is needed at run time are on the short list', () => {
    assert.deepEqual(problemsOf(root), []);
  });

  test('that nobody has accepted, or that nobody names, are told by package', (t) => {
    const folder = product(
      t,
      {
        '': { dependencies: { good: '1.0.0' } },
        'node_modules/good': { version: '1.0.0', license: 'MIT' },
        'node_modules/either': { version: '1.0.0', license: '(WTFPL OR Apache-2.0)' },
        'node_modules/both': { version: '1.0.0', license: 'MIT AND GPL-3.0-only' },
        'node_modules/nested': { version: '1.0.0', license: 'MIT AND (GPL-3.0-only OR ISC)' },
        'node_modules/viral': { version: '2.0.0', license: 'AGPL-3.0' },
        'node_modules/silent': { version: '3.0.0' },
        'node_modules/empty': { version: '3.0.0', license: '' },
        'node_modules/turned': { version: '4.0.0', license: 'MIT' },
        'node_modules/old': { version: '0.1.0' },
        'node_modules/tool': { version: '5.0.0', dev: true, license: 'GPL-2.0' },
      },
      {
        'node_modules/turned': { license: 'BUSL-1.1' },
        'node_modules/old': { license: { type: 'BSD-3-Clause', url: 'https://example.org' } },
      },
    );
    assert.deepEqual(
      problemsOf(folder).map((problem) => problem.split(/[:,]/)[0]),
      [
        'node_modules/both 1.0.0 is under "MIT AND GPL-3.0-only"',
        'node_modules/empty 3.0.0 names no licence',
        'node_modules/nested 1.0.0 is under "MIT AND (GPL-3.0-only OR ISC)"',
        'node_modules/silent 3.0.0 names no licence',
        'node_modules/turned 4.0.0 is under "BUSL-1.1"',
        'node_modules/viral 2.0.0 is under "AGPL-3.0"',
      ],
    );
    assert.throws(
      () => placeBill(join(folder, 'bill.json'), folder, '1.0.0'),
      /node_modules\/viral 2\.0\.0/,
    );
    assert.throws(() => readFileSync(join(folder, 'bill.json')), { code: 'ENOENT' });
  });
});

describe('the bill of materials', () => {
  test('names each package that is needed at run time with its hash, its licence and what it needs itself', () => {
    const bill = JSON.parse(billOfMaterials(root, '1.2.3'));
    const { packages } = runTimePackages(root);
    assert.deepEqual(
      [bill.bomFormat, bill.specVersion, bill.version, bill.metadata.component.version],
      ['CycloneDX', '1.5', 1, '1.2.3'],
    );
    assert.equal(bill.components.length, packages.length);
    const names: string[] = bill.components.map(
      ({ group, name }: { group?: string; name: string }) =>
        group === undefined ? name : `${group}/${name}`,
    );
    const { dependencies, devDependencies } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    );
    assert.deepEqual(
      Object.keys(dependencies).filter((name) => !names.includes(name)),
      [],
    );
    assert.deepEqual(
      Object.keys(devDependencies).filter((name) => names.includes(name)),
      [],
    );
    const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
    for (const { licenses, hashes, purl, name, version } of bill.components) {
      assert.ok(licenses[0].expression ?? licenses[0].license.id, purl);
      if (name !== 'better-sqlite3' || version === locked['node_modules/better-sqlite3'].version) {
        assert.match(hashes[0].content, /^[0-9a-f]{128}$/, purl);
      }
    }
    const refs = new Set(
      bill.components.map((component: Record<string, string>) => component['bom-ref']),
    );
    assert.equal(refs.size, packages.length, 'every reference is unique');
    const [own, ...others] = bill.dependencies as { ref: string; dependsOn: string[] }[];
    assert.equal(own!.dependsOn.length, Object.keys(dependencies).length);
    assert.ok(
      others.every(
        ({ ref, dependsOn }) => refs.has(ref) && dependsOn.every((other) => refs.has(other)),
      ),
    );
    const needed = new Set([own!, ...others].flatMap(({ dependsOn }) => dependsOn));
    assert.deepEqual(
      [...refs].filter((ref) => !needed.has(ref as string)),
      [],
      'nothing is in it that nothing needs',
    );
  });

  test('tells two versions of one package apart, as Node finds them', (t) => {
    const folder = product(t, {
      '': { dependencies: { a: '1.0.0', b: '1.0.0' } },
      'node_modules/a': {
        version: '1.0.0',
        license: 'MIT',
        dependencies: { '@scope/c': '^2.0.0' },
      },
      'node_modules/a/node_modules/@scope/c': { version: '2.0.0', license: 'MIT' },
      'node_modules/b': {
        version: '1.0.0',
        license: 'MIT',
        dependencies: { '@scope/c': '^1.0.0' },
        optionalDependencies: { absent: '*' },
      },
      'node_modules/@scope/c': { version: '1.0.0', license: 'MIT', optional: true },
    });
    const { components, dependencies } = JSON.parse(billOfMaterials(folder, '1.0.0'));
    const needs = Object.fromEntries(
      dependencies.map(({ ref, dependsOn }: { ref: string; dependsOn: string[] }) => [
        ref,
        dependsOn,
      ]),
    );
    assert.deepEqual(needs['pkg:npm/a@1.0.0'], [
      'pkg:npm/%40scope/c@2.0.0#node_modules%2Fa%2Fnode_modules%2F%40scope%2Fc',
    ]);
    assert.deepEqual(needs['pkg:npm/b@1.0.0'], ['pkg:npm/%40scope/c@1.0.0']);
    const c = components.find(
      ({ version, name }: Record<string, string>) => name === 'c' && version === '1.0.0',
    );
    assert.deepEqual(
      [c.group, c.scope, c.purl],
      ['@scope', 'optional', 'pkg:npm/%40scope/c@1.0.0'],
    );
  });

  test('names the edition that is installed where it is not the one of the lockfile, without the hash of the other', (t) => {
    const lock = {
      '': { dependencies: { a: '1.0.0' } },
      'node_modules/a': {
        version: '1.0.0',
        license: 'MIT',
        integrity: 'sha512-AAAA',
        resolved: 'https://x',
      },
    };
    const folder = product(t, lock, { 'node_modules/a': { version: '2.0.0', license: 'ISC' } });
    const [a] = JSON.parse(billOfMaterials(folder, '1.0.0')).components;
    assert.deepEqual(
      [a.version, a.licenses[0].license.id, a.hashes, a.externalReferences],
      ['2.0.0', 'ISC', undefined, undefined],
    );
  });

  test('is the same text each time it is written', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-bill-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'new', 'svc.cdx.json');
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--import', 'tsx', 'bin/dev/sbom.ts', '--out', file],
      { cwd: root },
    );
    assert.equal(stdout, `${file}\n`);
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    assert.equal(readFileSync(file, 'utf8'), billOfMaterials(root, version));
  });
});
