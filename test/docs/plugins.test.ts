import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { checkout, serving, svc } from '../cli/launcher.ts';
import { trespasses } from '../house/boundaries.ts';
import { source } from '../house/source.ts';
import { filesOf, writeFiles } from './page.ts';

const files = filesOf('plugins.md');

test('the plugins of docs/plugins.md work as the page shows them', async (t) => {
  const root = checkout(t, 'host', 'version');
  const made = await svc(['plugin', 'new', 'handover'], { root, cwd: root });
  assert.equal(made.code, 0, made.stderr);
  writeFiles(files, root);

  await t.test('its files take the place of those that "plugin new" has made', () => {
    const kept = made.stdout
      .split('\n')
      .filter((line) => line.startsWith('  '))
      .map((line) => line.trim())
      .filter((path) => !files.has(path));
    assert.deepEqual(kept, [
      'plugins/handover/migrations/002-add-jobs.sql',
      'plugins/handover/README.md',
    ]);
  });

  await t.test('its test passes', () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--import', 'tsx', '--test', 'test/plugins/handover.test.ts'],
      {
        cwd: root,
        encoding: 'utf8',
        env: { ...process.env, NODE_TEST_CONTEXT: undefined },
      },
    );
    assert.equal(status, 0, stdout + stderr);
  });

  await t.test('its types are right, and it keeps every rule of the house', () => {
    const config = {
      extends: './tsconfig.json',
      include: ['plugins/handover', 'plugins/briefing', 'test/plugins'],
    };
    writeFileSync(join(root, 'tsconfig.page.json'), JSON.stringify(config));
    const { status, stdout } = spawnSync(
      join(root, 'node_modules', '.bin', 'tsc'),
      ['-p', 'tsconfig.page.json', '--pretty', 'false'],
      {
        cwd: root,
        encoding: 'utf8',
      },
    );
    assert.equal(status, 0, stdout);
    const sources = [...files]
      .filter(([path]) => path.endsWith('.ts'))
      .map(([path, text]) => source(path, text));
    assert.deepEqual(trespasses(sources), []);
  });

  await t.test('svc plugin check finds nothing wrong with it', async () => {
    const { code, stderr, stdout } = await svc(
      ['plugin', 'check', join(root, 'plugins', 'handover')],
      { root },
    );
    assert.equal(code, 0, stdout + stderr);
  });

  await t.test('it serves, and a saved file is served at once', async () => {
    mkdirSync(join(root, 'data'), { recursive: true });
    const house = await serving(t, join(root, 'data'), { root });
    const left = await fetch(`${house.url}/api/v1/handover`, {
      method: 'POST',
      headers: { authorization: `Bearer ${house.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'quiet night' }),
    });
    assert.equal(left.status, 201);
    const command = (...words: string[]) =>
      svc(['handover', ...words, '--data', house.dataDir], { root });
    assert.match((await command('add', 'and a loud morning')).stdout, /^Note 2 is left by \S+\n$/);
    const notes = join(house.dataDir, 'notes.txt');
    writeFileSync(notes, 'db-3 is on the spare disk\n\n');
    const imported = await command('import', notes);
    assert.equal(imported.stdout, 'Notes left: 1\n', imported.stderr);
    assert.match(
      (await command('list')).stdout,
      /^ID +AT +BY +NOTE\n3 .* db-3 is on the spare disk\n2 .* and a loud morning\n1 .* quiet night\n$/,
    );
    const file = join(root, 'plugins', 'handover', 'routes.ts');
    writeFileSync(
      file,
      readFileSync(file, 'utf8')
        .replace('author: Type.String(),', 'author: Type.String(), shift: Type.String(),')
        .replace('...note, at:', "...note, shift: 'night', at:"),
    );
    const deadline = Date.now() + 20_000;
    const shift = async () =>
      ((await (await house.fetch('/api/v1/handover')).json()) as { items: { shift?: string }[] })
        .items[0]?.shift;
    while ((await shift()) !== 'night') {
      assert.ok(Date.now() < deadline, `the edit is not served: ${house.said().slice(-2_000)}`);
      await pause(50);
    }
  });
});
