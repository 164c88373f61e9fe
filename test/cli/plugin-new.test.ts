import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { trespasses } from '../house/boundaries.ts';
import { source } from '../house/source.ts';
import { blemishes, readmeProblem } from '../house/style.ts';
import { accepted, checkout, scratch, serving, svc } from './launcher.ts';

const execute = promisify(execFile);

/** Runs a tool of the checkout on some of its files; its complaint is the failure. */
async function tool(root: string, name: string, ...args: string[]): Promise<void> {
  await execute(join(root, 'node_modules', '.bin', name), args, {
    cwd: root,
    timeout: 120_000,
  }).catch((error: { stdout: string; stderr: string }) =>
    assert.fail(`${name}: ${error.stdout}${error.stderr}`),
  );
}

async function passes(root: string, file: string): Promise<void> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(NODE_TEST_|SVC_)/.test(name)),
  );
  const { stdout } = await execute(process.execPath, ['--import', 'tsx', '--test', file], {
    cwd: root,
    env,
    timeout: 120_000,
  }).catch((error: { stdout: string; stderr: string }) => assert.fail(error.stdout + error.stderr));
  assert.match(stdout, /^(?:#|ℹ) pass 1$/m);
}

test('a new area works at once', async (t) => {
  const root = checkout(t, 'host', 'version');
  // The shortest and the longest name, because both must be formatted as they come.
  const ids = ['ab', 'a-plugin-with-a-name-of-forty-one-letters'];
  const made = ids.flatMap((id) => [
    `plugins/${id}`,
    `plugins/lib/contracts/${id}.ts`,
    `test/plugins/${id}.test.ts`,
  ]);

  await t.test('it is made from anywhere in the tree', async () => {
    for (const id of ids) {
      const { code, stderr, stdout } = await svc(['plugin', 'new', id], {
        root,
        cwd: join(root, 'core'),
      });
      assert.equal(code, 0, stderr);
      assert.match(stdout, new RegExp(`^Next: npm test -- plugins/${id}$`, 'm'));
    }
  });

  await t.test('its test passes', () => passes(root, `test/plugins/${ids[0]}.test.ts`));

  await t.test('it keeps every rule of the house', async () => {
    for (const id of ids) {
      const files = readdirSync(join(root, 'plugins', id), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => `plugins/${id}/${name}`)
        .concat(`plugins/lib/contracts/${id}.ts`, `test/plugins/${id}.test.ts`);
      assert.ok(files.length >= 8, files.join(', '));
      const sources = files.map((path) => source(path, readFileSync(join(root, path), 'utf8')));
      assert.deepEqual([...trespasses(sources), ...sources.flatMap(blemishes)], []);
      assert.equal(
        readmeProblem(
          `plugins/${id}`,
          readFileSync(join(root, 'plugins', id, 'README.md'), 'utf8'),
        ),
        undefined,
      );
    }
    writeFileSync(
      join(root, 'tsconfig.new.json'),
      JSON.stringify({ extends: './tsconfig.json', include: made }),
    );
    await tool(root, 'tsc', '-p', 'tsconfig.new.json');
    await tool(root, 'oxlint', '--type-aware', '--deny-warnings', ...made);
    await tool(root, 'oxfmt', '--check', ...made);
  });

  await t.test('it serves beside the others', async (part) => {
    const here = await serving(part, join(scratch(part), 'data'), { root });
    const notes = join(here.dataDir, 'notes.txt');
    writeFileSync(notes, 'the first line\n\nand another\n');
    const command = (...words: string[]) => svc(['ab', ...words, '--data', here.dataDir], { root });
    const imported = await command('import', notes);
    assert.equal(imported.stdout, 'Entries added: 2\n', imported.stderr);
    const deadline = Date.now() + 20_000;
    let listed = '';
    do {
      ({ stdout: listed } = await command('list'));
    } while (/ - +/.test(listed) && Date.now() < deadline);
    assert.match(listed, /^ID +AT +WORDS +TEXT\n2 .* 2 +and another\n1 .* 3 +the first line\n$/);
  });

  await t.test('nothing that is there is overwritten, and no path is given out twice', async () => {
    const attempt = async (id: string, ...more: string[]): Promise<string> => {
      const { code, stderr } = await svc(['plugin', 'new', id, ...more], { root, cwd: root });
      assert.equal(code, 1);
      return stderr;
    };
    assert.match(await attempt('version'), /already exists/);
    assert.match(await attempt('imbridge'), /imbridge\.ts already exists/);
    assert.ok(!existsSync(join(root, 'plugins/imbridge')), 'a part of a plugin is none');
    assert.match(await attempt('plugins'), /host already has the path \/api\/v1\/plugins/);
    assert.match(
      await attempt('version', '--dir', join(root, '..')),
      /the plugin version already has this id/,
    );
  });
});

test('anywhere else it is a pack: its test passes there, and built it serves from a data folder', async (t) => {
  const folder = scratch(t);
  const { code, stderr, json } = await svc(
    ['plugin', 'new', 'greeter', '--dir', 'packs', '--json'],
    { cwd: folder },
  );
  assert.equal(code, 0, stderr);
  const { form, files } = json<{ form: string; files: string[] }>();
  const pack = join(folder, 'packs', 'greeter');
  assert.equal(form, 'pack');
  assert.ok(files.every((file) => existsSync(file)));
  await passes(pack, 'test/greeter.test.ts');

  assert.equal((await svc(['plugin', 'check', '.'], { cwd: pack })).code, 0);
  assert.equal((await svc(['plugin', 'build', '.'], { cwd: pack })).code, 0);
  const here = await serving(t, join(folder, 'data'));
  cpSync(join(pack, 'dist', 'greeter'), join(folder, 'data', 'packs', 'greeter'), {
    recursive: true,
  });
  await accepted('greeter', join(folder, 'data'));
  const deadline = Date.now() + 30_000;
  let answer = await here.fetch('/api/v1/greeter');
  for (
    ;
    answer.status !== 200 && Date.now() < deadline;
    answer = await here.fetch('/api/v1/greeter')
  ) {
    await answer.arrayBuffer();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.equal(answer.status, 200, here.said());
  assert.deepEqual(await answer.json(), { message: 'Hello operator' });
});
