import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { activating, testHouse } from './house.ts';

const signals = `import process from 'node:process';\nimport { spawnSync } from 'node:child_process';\n${activating(
  `process.kill(spawnSync(process.execPath, ['-e', '']).pid ? process.pid : 0, 0); setTimeout(() => undefined, 3_600_000).unref();`,
)}`;

test('a plugin of the product is lent the closed modules that it is trusted with, and their globals as they are', async (t) => {
  const house = testHouse(t);
  house.plugin(
    'runs',
    { entry: 'index.ts', trusted: ['child_process', 'process', 'timers'] },
    { 'index.ts': signals },
  );
  house.plugin('half', { entry: 'index.ts', trusted: ['child_process'] }, { 'index.ts': signals });
  house.plugin('none', { entry: 'index.ts', trusted: ['timers'] }, { 'index.ts': signals });
  await house.host.start();
  assert.deepEqual(
    ['runs', 'half', 'none']
      .map((id) => house.host.explain(id))
      .map(({ state, stage }) => [state, stage]),
    [
      ['active', undefined],
      ['failed', 'activate'],
      ['failed', 'evaluate'],
    ],
  );
  await house.host.disable('runs');
  await house.host.settled();
  assert.equal(house.host.explain('runs').residue, undefined, 'a timer of its own is no stray');
});

test('what lies in the data folder is trusted with nothing, whatever it says', async (t) => {
  const data = mkdtempSync(join(tmpdir(), 'svc-trusted-'));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  mkdirSync(join(data, 'sly'));
  const manifest = {
    id: 'sly',
    version: '1.0.0',
    title: 'Sly',
    description: 'Sly.',
    engines: { host: '^1.0.0' },
    trusted: ['child_process'],
  };
  writeFileSync(join(data, 'sly', 'plugin.json'), JSON.stringify(manifest));
  const house = testHouse(t, {
    sources: { roots: [{ path: data, origin: 'data' }], embedded: [] },
  });
  await house.host.start();
  const { state, cause } = house.host.explain('sly');
  assert.equal(state, 'invalid');
  assert.match(
    cause!,
    /only areas that ship with svc can use restricted modules; remove "trusted"/,
  );
});
