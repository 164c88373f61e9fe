import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { projectRoot, scratch, svc } from './launcher.ts';

interface Problem {
  readonly stage: string;
  readonly message: string;
}

/** A plugin with a bit of everything that is built or copied. */
function toolbox(t: TestContext, id = 'toolbox'): string {
  const folder = join(scratch(t), id);
  const write = (name: string, text: string): void => {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  write(
    'plugin.json',
    JSON.stringify({
      $schema: './x.json',
      id,
      version: '1.0.0',
      title: 'T',
      description: 'D',
      entry: 'index.ts',
      engines: { host: '^1.0.0' },
    }),
  );
  write(
    'index.ts',
    `import { definePlugin } from 'svc/sdk';\nimport { Type } from 'typebox';\nimport { tools } from './tools.ts';\nexport default definePlugin({ activate() { void [tools, Type]; } });\n`,
  );
  write('tools.ts', `export const tools: readonly string[] = ['hammer'];\n`);
  write(
    'migrations/001-init.sql',
    'create table toolbox_tools (id integer primary key, name text not null) strict;\n',
  );
  write(
    'agents/smith.md',
    '---\nname: smith\ndescription: Works.\nwhen_to_use: When iron is hot.\n---\nYou forge.\n',
  );
  write(
    'skills/forging/SKILL.md',
    '---\nname: forging\ndescription: How to forge.\n---\nHit it.\n',
  );
  write('test/toolbox.test.ts', 'throw new Error();\n');
  write('tsconfig.json', '{}');
  return folder;
}

const contentOf = (folder: string): Map<string, string> =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry): [string, string] => [
        join(entry.parentPath, entry.name).slice(folder.length + 1),
        readFileSync(join(entry.parentPath, entry.name), 'utf8'),
      ])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

test('a build holds one file of code, the data and the hashes of both, the same bytes wherever it is made', async (t) => {
  const [one, two] = [toolbox(t), toolbox(t)];
  for (const folder of [one, two]) {
    const { code, stderr } = await svc(['plugin', 'build', folder]);
    assert.equal(code, 0, stderr);
  }
  const built = contentOf(join(one, 'dist', 'toolbox'));
  assert.deepEqual(
    [...built.keys()],
    [
      'agents/smith.md',
      'index.cjs',
      'migrations/001-init.sql',
      'plugin.json',
      'skills/forging/SKILL.md',
    ],
  );
  assert.deepEqual(built, contentOf(join(two, 'dist', 'toolbox')));
  const manifest = JSON.parse(built.get('plugin.json')!) as {
    entry: string;
    integrity: Record<string, string>;
    $schema?: string;
  };
  assert.equal(manifest.entry, 'index.cjs');
  assert.equal(manifest.$schema, undefined);
  assert.deepEqual(
    Object.keys(manifest.integrity),
    [...built.keys()].filter((name) => name !== 'plugin.json'),
  );
  assert.match(
    built.get('index.cjs')!,
    /require\("typebox"\)/,
    'what the house lends stays outside',
  );
  assert.match(built.get('index.cjs')!, /hammer/);

  assert.equal((await svc(['plugin', 'check', join(one, 'dist', 'toolbox')])).code, 0);
  assert.equal((await svc(['plugin', 'build', one])).code, 0, 'an earlier build is replaced');
  assert.deepEqual(contentOf(join(one, 'dist', 'toolbox')), built);
  assert.equal(
    (await svc(['plugin', 'build', join(one, 'dist', 'toolbox'), '--out', join(two, 'again')]))
      .code,
    0,
    'a build can be built',
  );
  assert.deepEqual(contentOf(join(two, 'again')), built);
});

test('the build of an area serves from plugins/ of an installation', async (t) => {
  const folder = join(scratch(t), 'version');
  cpSync(join(projectRoot, 'plugins', 'version'), folder, { recursive: true });
  const { stdout, code } = await svc(['plugin', 'build', folder]);
  assert.equal(code, 0);
  assert.match(stdout, /an area: it serves from plugins\/ of an installation/);
});

test('a build never replaces what is not a build', async (t) => {
  const folder = toolbox(t);
  const work = join(scratch(t), 'work');
  mkdirSync(work);
  writeFileSync(join(work, 'thesis.md'), 'years');
  for (const out of [work, folder, join(folder, '..')]) {
    const { code, stderr } = await svc(['plugin', 'build', folder, '--out', out]);
    assert.equal(code, 1);
    assert.match(stderr, /is not a built plugin/);
  }
  assert.equal(readFileSync(join(work, 'thesis.md'), 'utf8'), 'years');
});

test('check names every problem with its file', async (t) => {
  const folder = toolbox(t);
  writeFileSync(join(folder, 'tools.ts'), 'export const tools = ;\n');
  writeFileSync(join(folder, 'migrations', '001-init.sql'), 'drop table toolbox_tools;\n');
  writeFileSync(join(folder, 'agents', 'smith.md'), 'no header\n');
  writeFileSync(
    join(folder, 'skills', 'forging', 'SKILL.md'),
    '---\nname: other\ndescription: x\n---\n',
  );
  const { code, json } = await svc(['plugin', 'check', folder, '--json']);
  assert.equal(code, 1);
  const { ok, problems } = json<{ ok: boolean; problems: Problem[] }>();
  assert.equal(ok, false);
  const expected: [stage: string, message: RegExp][] = [
    ['compile', /tools\.ts:1:\d+ /],
    ['migrations', /001-init\.sql/],
    ['persona', /agents\/smith\.md/],
    ['skill', /skills\/forging\/SKILL\.md.*"other".*"forging"/],
  ];
  assert.deepEqual(
    problems.map(({ stage }) => stage),
    expected.map(([stage]) => stage),
  );
  expected.forEach(([, message], index) => assert.match(problems[index]!.message, message));
});

test('check says what is wrong with a manifest, and that of two kinds only one may come through the data folder', async (t) => {
  const folder = toolbox(t);
  const manifest = join(folder, 'plugin.json');
  const wrong = {
    id: 'toolbox',
    version: '1',
    title: 'T',
    description: 'D',
    engines: { host: '^1.0.0' },
    requries: [],
  };
  writeFileSync(manifest, JSON.stringify(wrong));
  const bad = await svc(['plugin', 'check', folder]);
  assert.equal(bad.code, 1);
  assert.match(bad.stdout, /^manifest: .*plugin\.json: .*"requries".*version/m);
  writeFileSync(manifest, '{');
  assert.match((await svc(['plugin', 'check', folder])).stdout, /plugin\.json is not JSON/);

  const packs = join(scratch(t), 'packs', 'toolbox');
  cpSync(toolbox(t), packs, { recursive: true });
  assert.match((await svc(['plugin', 'check', packs])).stdout, /set "kind" to "pack"/);
});

test('check names services that nothing here provides, and the one that was meant', async (t) => {
  const folder = toolbox(t);
  const manifest = JSON.parse(readFileSync(join(folder, 'plugin.json'), 'utf8')) as object;
  const requires = [
    { service: 'core.build', range: '^1.0.0' },
    { service: 'audit.trial', range: '^1.0.0' },
    { service: 'audit.trail', range: '^9.0.0' },
  ];
  writeFileSync(join(folder, 'plugin.json'), JSON.stringify({ ...manifest, requires }));
  const { code, stdout } = await svc(['plugin', 'check', folder]);
  assert.equal(code, 1);
  assert.deepEqual(stdout.trim().split('\n'), [
    'needs: needs service audit.trial ^1.0.0, which no plugin here provides; did you mean audit.trail?',
    'needs: needs service audit.trail ^9.0.0, provided in 1.0.0 by audit',
  ]);
});

test('check finds a build that was touched, and code that is none', async (t) => {
  const folder = toolbox(t);
  await svc(['plugin', 'build', folder]);
  const built = join(folder, 'dist', 'toolbox');
  writeFileSync(join(built, 'index.cjs'), 'module.exports = {');
  writeFileSync(join(built, 'extra.txt'), 'x');
  const touched = await svc(['plugin', 'check', built]);
  assert.equal(touched.code, 1);
  assert.match(touched.stdout, /^integrity: .*extra\.txt is not listed/m);
  assert.match(touched.stdout, /^compile: .*index\.cjs is not JavaScript/m);
  symlinkSync('/etc/passwd', join(built, 'link'));
  assert.match(
    (await svc(['plugin', 'check', built])).stdout,
    /^files: .*link is a symbolic link/m,
  );
});

test('a folder that is no plugin is a mistake in typing', async (t) => {
  const { code, stderr } = await svc(['plugin', 'check', scratch(t)]);
  assert.equal(code, 2);
  assert.match(stderr, /it has no plugin\.json/);
  assert.equal((await svc(['plugin', 'build', scratch(t)])).code, 1);
});
