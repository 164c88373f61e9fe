import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { startTestHost, type TestHost, useNoLeaks } from 'svc/testing';

import { scratch, svc } from '../cli/launcher.ts';
import { projectRoot } from '../house/source.ts';
import { filesOf, writeFiles } from './page.ts';

const home = mkdtempSync(join(tmpdir(), 'svc-docs-packs-'));
after(() => rmSync(home, { recursive: true, force: true }));
writeFiles(filesOf('packs.md'), home);
const lookout = join(home, 'lookout');

/** Emits the event that the page listens to. */
function herald(): string {
  const folder = join(home, 'herald');
  mkdirSync(folder);
  const manifest = {
    id: 'herald',
    version: '1.0.0',
    title: 'Herald',
    description: 'Emits.',
    engines: { host: '^1.0.0' },
    entry: 'index.ts',
  };
  writeFileSync(
    join(folder, 'plugin.json'),
    JSON.stringify({ ...manifest, mounts: ['/api/v1/herald'] }),
  );
  writeFileSync(
    join(folder, 'index.ts'),
    `import { defineEvent, definePlugin, route } from 'svc/sdk';
     import { Type } from 'typebox';
     const Lost = defineEvent<{ edge_id: number; last_seen_at: number }>('edge.offline');
     export default definePlugin({ activate: (ctx) => ctx.http.routes([route({ method: 'POST', path: '/api/v1/herald', access: 'any', summary: 'Emit',
       body: Type.Object({ edge_id: Type.Integer() }), response: Type.Object({}), handle: async ({ body }) => { ctx.events.emit(Lost, { ...body, last_seen_at: 7 }); return {}; } })]) });`,
  );
  return folder;
}

interface Items {
  readonly items: readonly { readonly edge_id: number; readonly at: number }[];
}

/** Asks once more where the answer says when to: on a busy machine a pack starts for longer than a request waits. */
async function seen(house: TestHost): Promise<readonly number[]> {
  for (const deadline = Date.now() + 60_000; ; await pause(200)) {
    const answer = await house.fetch('/api/v1/lookout');
    const text = await answer.text();
    if (answer.ok) {
      return (JSON.parse(text) as Items).items.map(({ edge_id: id }) => id);
    }
    const isLater = answer.status === 503 && answer.headers.has('retry-after');
    assert.ok(isLater && Date.now() < deadline, `${answer.status} ${text}`);
  }
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 120_000; !(await holds()); await pause(20)) {
    assert.ok(Date.now() < deadline, `within two minutes: ${what}`);
  }
}

test('the pack of docs/packs.md hears, remembers, answers, is a tool, follows its setting, and loses nothing in a reload', async (t) => {
  const house = await startTestHost(t, {
    plugins: ['packs', 'gate', 'skill', 'setting', 'drop-ins', herald()],
    packs: [lookout],
    services: {
      'iam.directory': { live: () => undefined },
      'audit.trail': { append: async () => undefined },
    },
  });
  useNoLeaks(t, house);
  const { hash, rights } = await house.json<{ hash: string; rights: string[] }>(
    '/api/v1/packs/lookout',
  );
  assert.ok(
    rights.some((right) => right === 'receives every event edge.offline'),
    rights.join('\n'),
  );
  assert.ok(rights.some((right) => right === 'stores its own tables, up to 16 MB'));
  await house.json('/api/v1/packs/lookout/accept', {
    method: 'POST',
    body: JSON.stringify({ hash }),
  });
  assert.equal(house.host.explain('lookout').state, 'active', house.host.explain('lookout').cause);

  const lose = (id: number): Promise<unknown> =>
    house.json('/api/v1/herald', { method: 'POST', body: JSON.stringify({ edge_id: id }) });
  await lose(1);
  await lose(2);
  await until('both are remembered', async () => (await seen(house)).join() === '2,1');

  const { result } = await house.json<{ result: unknown }>(
    '/api/v1/skills/lookout-latest/execute',
    {
      method: 'POST',
      body: JSON.stringify({ params: { count: 1 } }),
    },
  );
  assert.deepEqual(result, [{ edge_id: 2, at: 7 }]);
  const wrong = await house.fetch('/api/v1/skills/lookout-latest/execute', {
    method: 'POST',
    body: JSON.stringify({ params: { count: 0 } }),
  });
  assert.equal(wrong.status, 400);

  await house.json('/api/v1/system-settings/lookout/most', {
    method: 'PUT',
    body: JSON.stringify({ value: 1 }),
  });
  await until('the setting has reached it', async () => (await seen(house)).join() === '2');

  assert.ok(
    [...house.registry.current.personas.keys()].includes('lookout-clerk'),
    'its persona is there',
  );

  // Reloads under fire: every call is answered, every event is kept.
  await house.json('/api/v1/system-settings/lookout/most', {
    method: 'PUT',
    body: JSON.stringify({ value: 1000 }),
  });
  let over = false;
  let sent = 0;
  const asking = (async () => {
    while (!over) {
      await seen(house);
      // No more than a question shows, however long the reloads take.
      if (sent < 900) {
        await lose(100 + sent);
        sent += 1;
      }
    }
  })();
  for (let round = 0; round < 3; round += 1) {
    await house.reload('lookout');
  }
  over = true;
  await asking;
  let remembered = 0;
  await until('every event is remembered', async () => {
    remembered = (await seen(house)).filter((id) => id >= 100).length;
    return remembered === sent;
  }).catch((error: unknown) => {
    throw new Error(`${remembered} of ${sent} events are remembered`, { cause: error });
  });
  assert.ok(sent > 0);
});

test('its files over a new pack pass its test', async (t) => {
  const cwd = scratch(t);
  const commands: readonly (readonly string[])[] = [
    ['plugin', 'new', 'lookout', '--dir', '.'],
    ['pack', 'test', 'lookout'],
  ];
  for (const words of commands) {
    const { code, stdout, stderr } = await svc(words, { cwd });
    assert.equal(code, 0, `svc ${words.join(' ')}: ${stderr}${stdout}`);
    writeFiles(filesOf('packs.md'), cwd);
  }
});

test('its types are right', () => {
  const config = {
    extends: join(projectRoot, 'tsconfig.json'),
    include: [join(lookout, '*.ts')],
    compilerOptions: {
      rootDir: '/',
      paths: { 'svc/sdk': [join(projectRoot, 'core/sdk/index.ts')] },
    },
  };
  writeFileSync(join(home, 'package.json'), '{"type":"module"}');
  writeFileSync(join(home, 'tsconfig.json'), JSON.stringify(config));
  const { status, stdout } = spawnSync(
    join(projectRoot, 'node_modules', '.bin', 'tsc'),
    [
      '-p',
      home,
      '--noEmit',
      '--typeRoots',
      join(projectRoot, 'node_modules', '@types'),
      '--pretty',
      'false',
    ],
    {
      encoding: 'utf8',
    },
  );
  assert.equal(status, 0, stdout);
});
