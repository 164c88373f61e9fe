import 'reflect-metadata';

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { type RunningCore, boot } from '../../core/boot/boot.ts';
import { sourceBundler } from '../../bin/bundler/sources.ts';
import { watchFolders } from '../../bin/serve/watcher/watch.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const persona = (name: string, body = 'You help.'): string =>
  `---\nname: ${name}\ndescription: Helps.\nwhen_to_use: When help is needed.\n---\n${body}\n`;

interface Shown {
  readonly name: string;
  readonly file: string;
  readonly state: string;
  readonly error: string | null;
}

const manifest = (id: string, more: object = {}): string =>
  JSON.stringify({
    id,
    version: '1.0.0',
    title: id,
    description: 'Of a test.',
    engines: { host: '^1.0.0' },
    ...more,
  });

async function liveHouse(
  t: TestContext,
  prepare: (product: string) => void = () => undefined,
): Promise<{
  house: RunningCore;
  product: string;
  outside: string;
  shown: (nameOrFile: string) => Promise<Shown | undefined>;
}> {
  const product = mkdtempSync(join(tmpdir(), 'svc-live-'));
  const outside = join(product, 'outside');
  cpSync(join(root, 'plugins', 'drop-ins'), join(product, 'plugins', 'drop-ins'), {
    recursive: true,
  });
  for (const folder of ['agents', 'skills', 'outside']) {
    mkdirSync(join(product, folder));
  }
  prepare(product);
  // What is as young as the start counts as changed during it, and would be loaded once more in the middle of a test.
  for (const copied = Date.now(); Date.now() <= copied + 10;) {
    await pause(5);
  }
  const house = await boot({
    bundler: sourceBundler,
    watch: watchFolders,
    product: { version: '0.0.1', root: product },
    environment: {
      SVC_HTTP_ADDR: '127.0.0.1:0',
      SVC_DATA_DIR: join(product, 'data'),
      SVC_AGENTS_EXTERNAL_DIRS: outside,
    },
    writeLog: () => undefined,
    checkResponses: true,
  });
  t.after(async () => {
    await house.stop('the test has ended');
    rmSync(product, { recursive: true, force: true });
  });
  const shown = async (nameOrFile: string): Promise<Shown | undefined> => {
    const answer = await fetch(`${house.url}/api/v1/drop-ins`, {
      headers: { authorization: `Bearer ${house.operatorToken}` },
    });
    return ((await answer.json()) as { items: Shown[] }).items.find(({ name, file }) =>
      [name, file].includes(nameOrFile),
    );
  };
  return { house, product, outside, shown };
}

async function eventually(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  for (const deadline = Date.now() + 5_000; !(await holds()); await pause(20)) {
    assert.ok(Date.now() < deadline, `in time: ${what}`);
  }
}

describe('a file dropped into a running house', () => {
  test('is picked up, changed, kept at its last good version when broken, and withdrawn', async (t) => {
    const { house, outside, shown } = await liveHouse(t);
    const file = join(outside, 'night-watch.md');
    const body = (): string | undefined =>
      house.registry.current.personas.get('night-watch')?.value.body;

    writeFileSync(file, persona('night-watch', 'Version one.'));
    await eventually('the new persona serves', () => body() === 'Version one.\n');
    assert.equal((await shown('night-watch'))?.state, 'ok');

    writeFileSync(file, persona('night-watch', 'Version two.'));
    await eventually('the edit serves', () => body() === 'Version two.\n');

    writeFileSync(file, persona('night-watch').replace('description: Helps.\n', ''));
    await eventually(
      'the listing says why',
      async () => (await shown('night-watch'))?.state === 'stale',
    );
    assert.match((await shown('night-watch'))!.error!, /night-watch\.md.*description/);
    assert.equal(body(), 'Version two.\n', 'the last good version still serves');

    rmSync(file);
    await eventually('the persona is withdrawn', () => body() === undefined);
  });

  test('may be a skill, and gives way to a plugin that brings one of the same name', async (t) => {
    const { house, product, shown } = await liveHouse(t);
    mkdirSync(join(product, 'skills', 'count-sheep'));
    writeFileSync(
      join(product, 'skills', 'count-sheep', 'SKILL.md'),
      '---\nname: count-sheep\ndescription: Counts sheep.\n---\nOne, two.\n',
    );
    await eventually('the skill serves', () => house.registry.current.skills.has('count-sheep'));

    const guest = join(product, 'guest');
    mkdirSync(join(guest, 'agents'), { recursive: true });
    writeFileSync(
      join(guest, 'plugin.json'),
      JSON.stringify({
        id: 'guest',
        version: '1.0.0',
        title: 'Guest',
        description: 'Brings a persona.',
        engines: { host: '^1.0.0' },
      }),
    );
    writeFileSync(join(guest, 'agents', 'taken.md'), persona('taken'));
    renameSync(guest, join(product, 'plugins', 'guest'));
    await eventually(
      'the persona of the plugin serves',
      () => house.registry.current.personas.get('taken')?.value.source === 'builtin',
    );

    writeFileSync(join(product, 'agents', 'taken.md'), persona('taken'));
    await eventually(
      'the live file is told',
      async () => (await shown(join(product, 'agents', 'taken.md')))?.state === 'broken',
    );
    assert.match((await shown(join(product, 'agents', 'taken.md')))!.error!, /guest/);

    rmSync(join(product, 'plugins', 'guest'), { recursive: true });
    await eventually(
      'the name is free again',
      () => house.registry.current.personas.get('taken')?.value.source === 'disk',
    );
  });

  test('is picked up also when it comes while the house starts', async (t) => {
    const { house } = await liveHouse(t, (product) => {
      mkdirSync(join(product, 'guest'));
      writeFileSync(join(product, 'guest', 'plugin.json'), manifest('guest'));
      mkdirSync(join(product, 'plugins', 'sower'));
      writeFileSync(
        join(product, 'plugins', 'sower', 'plugin.json'),
        manifest('sower', { entry: 'index.ts' }),
      );
      writeFileSync(
        join(product, 'plugins', 'sower', 'index.ts'),
        `import { renameSync, writeFileSync } from 'node:fs';
         import { definePlugin } from 'svc/sdk';
         export default definePlugin({
           activate() {
             writeFileSync(${JSON.stringify(join(product, 'outside', 'late.md'))}, ${JSON.stringify(persona('late'))});
             renameSync(${JSON.stringify(join(product, 'guest'))}, ${JSON.stringify(join(product, 'plugins', 'guest'))});
           },
         });`,
      );
    });
    await eventually('the persona serves', () => house.registry.current.personas.has('late'));
    await eventually('the plugin serves', () => house.registry.current.generations.has('guest'));
  });

  test('may be a whole plugin, edited in place, whose stacks name the lines of its source', async (t) => {
    const { house, product } = await liveHouse(t);
    const folder = join(product, 'plugins', 'fresh');
    mkdirSync(folder);
    writeFileSync(
      join(folder, 'plugin.json'),
      JSON.stringify({
        id: 'fresh',
        version: '1.0.0',
        title: 'Fresh',
        description: 'Is edited.',
        entry: 'index.ts',
        engines: { host: '^1.0.0' },
        provides: [{ service: 'fresh.self', version: '1.0.0' }],
      }),
    );
    const source = (n: number): string =>
      `import { definePlugin, defineService } from 'svc/sdk';\n\nimport { where } from './where.ts';\n\nexport default definePlugin({\n  activate: (ctx) => ctx.services.provide(defineService<{ n: number; where(): string }>('fresh.self'), () => ({ n: ${n}, where })),\n});\n`;
    writeFileSync(
      join(folder, 'where.ts'),
      'interface Nothing {\n  readonly no: true;\n}\nexport function where(_nothing?: Nothing): string {\n  return new Error("here").stack!;\n}\n',
    );
    writeFileSync(join(folder, 'index.ts'), source(1));
    const self = (): { n: number; where(): string } | undefined =>
      house.registry.current.services.get('fresh.self')?.value.instance as never;
    await eventually('it is picked up', () => self()?.n === 1);
    assert.match(self()!.where(), /where\.ts:5:\d+/);
    writeFileSync(join(folder, 'index.ts'), source(2));
    await eventually('the edit serves', () => self()?.n === 2);
  });
});
