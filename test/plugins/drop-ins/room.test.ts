import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { startTestHost, type TestHost, useNoLeaks } from 'svc/testing';

import { persona } from '../../host/drop-folder.ts';

/** Starts a host with a folder of personas, and a plugin that carries some. */
async function houseWithFiles(
  t: TestContext,
): Promise<{ house: TestHost; folder: string; forest: string }> {
  const root = mkdtempSync(join(tmpdir(), 'svc-drop-ins-'));
  const [folder, forest] = [join(root, 'personas'), join(root, 'forest')];
  mkdirSync(folder);
  mkdirSync(join(forest, 'agents'), { recursive: true });
  writeFileSync(join(folder, 'ranger.md'), persona('ranger'));
  writeFileSync(join(forest, 'agents', 'scout.md'), persona('scout'));
  writeFileSync(
    join(forest, 'plugin.json'),
    JSON.stringify({
      id: 'forest',
      version: '1.0.0',
      title: 'Forest',
      description: 'Carries personas.',
      engines: { host: '^1.0.0' },
    }),
  );
  const house = await startTestHost(t, {
    plugins: ['drop-ins', forest],
    environment: { SVC_AGENTS_EXTERNAL_DIRS: folder },
  });
  useNoLeaks(t, house);
  t.after(() => rmSync(root, { recursive: true, force: true }));
  await until(house, (names) => names.length === 2);
  return { house, folder, forest };
}

const namesOf = ({ registry }: TestHost): readonly string[] =>
  [...registry.current.personas.keys()].toSorted();

/** Waits for a publication after which it is so. */
function until(house: TestHost, isSo: (names: readonly string[]) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (isSo(namesOf(house))) {
        undo();
        resolve();
      }
    };
    const undo = house.registry.onPublish(look);
    look();
  });
}

test('files of folders and of plugins serve, each with where it came from', async (t) => {
  const { house, folder, forest } = await houseWithFiles(t);
  const sources = [...house.registry.current.personas.values()].map(
    ({ value }) => `${value.name} ${value.source}`,
  );
  assert.deepEqual(sources.toSorted(), ['ranger disk', 'scout builtin']);
  const { items, total } = await house.json('/api/v1/drop-ins');
  assert.equal(total, 2);
  assert.deepEqual(
    items.map(({ file, state }: { file: string; state: string }) => `${file} ${state}`),
    [`${join(forest, 'agents', 'scout.md')} ok`, `${join(folder, 'ranger.md')} ok`],
  );
});

test('neither a reload of this room nor of the plugin that carries a file shows a gap', async (t) => {
  const { house } = await houseWithFiles(t);
  const gaps: string[] = [];
  const undo = house.registry.onPublish(() => {
    if (namesOf(house).join() !== 'ranger,scout') {
      gaps.push(namesOf(house).join());
    }
  });
  await house.reload('drop-ins');
  await house.reload('forest');
  await house.settled();
  assert.deepEqual(gaps, []);
  undo();
});

test('what a plugin carries leaves with it, and all leaves with this room', async (t) => {
  const { house } = await houseWithFiles(t);
  await house.host.disable('forest');
  await until(house, (names) => names.join() === 'ranger');
  await house.host.disable('drop-ins');
  assert.deepEqual(namesOf(house), []);
  await house.host.enable('forest');
  await house.host.enable('drop-ins');
  assert.deepEqual(namesOf(house), ['ranger', 'scout']);
});
