import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { startTestHost } from 'svc/testing';

import { testHouse } from './house.ts';

test('of two plugins of one id the first serves, and the log says where both are', async (t) => {
  const other = mkdtempSync(join(tmpdir(), 'svc-twins-'));
  t.after(() => rmSync(other, { recursive: true, force: true }));
  const twin = join(other, 'version');
  mkdirSync(twin);
  writeFileSync(join(twin, 'plugin.json'), '{}');
  const house = await startTestHost(t, { plugins: ['version', twin, 'version'] });
  assert.equal((await house.fetch('/api/v1/version')).status, 200);
  // The same folder twice is one plugin.
  assert.equal(
    house.lines.filter(
      (line) =>
        line.includes('two plugins have the id \\"version\\"') && line.includes(`${twin} is not`),
    ).length,
    1,
  );
});

test('a second plugin of an id that comes while the house serves is told of once, and the first goes on serving', async (t) => {
  const later = mkdtempSync(join(tmpdir(), 'svc-twins-'));
  t.after(() => rmSync(later, { recursive: true, force: true }));
  const roots: { path: string; origin: 'shipped' | 'data' }[] = [];
  const house = testHouse(t, { sources: { roots, embedded: [] } });
  roots.push({ path: house.pluginsDir, origin: 'shipped' }, { path: later, origin: 'data' });
  house.plugin('lamp', {});
  await house.host.start();
  mkdirSync(join(later, 'lamp'));
  writeFileSync(join(later, 'lamp', 'plugin.json'), '{}');
  await house.host.refresh(new Set());
  await house.host.refresh(new Set());
  assert.equal(house.host.explain('lamp').state, 'active');
  assert.deepEqual(
    house.lines.filter((line) => /two plugins/.test(line)),
    [
      `two plugins have the id "lamp": ${house.pluginsDir}/lamp is active, ${later}/lamp is not; rename or remove one of them`,
    ],
  );
});
