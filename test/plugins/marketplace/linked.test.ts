import assert from 'node:assert/strict';
import { test } from 'node:test';

import { useNoLeaks } from 'svc/testing';

import { ask, confirmOf, folderFor, manifest, putFiles, startMarket } from './market.ts';

const code = (value: number): string =>
  `import { definePack } from 'svc/sdk';\nexport default definePack({ routes: { 'GET /api/v1/lamp': () => ({ lit: ${value} }) } });`;
const route = { method: 'GET', path: '/api/v1/lamp', access: 'any', summary: 'Tells.' };
const asked = { entry: 'index.ts', mounts: ['/api/v1/lamp'], routes: [route] };

test('a linked folder serves what was saved a moment later, keeps what serves when it is broken, and asks anew for other rights', async (t) => {
  const house = await startMarket(t);
  useNoLeaks(t, house);
  const folder = folderFor(t, { 'plugin.json': manifest('lamp', asked), 'index.ts': code(1), 'node_modules/x/index.js': 'no' });
  const first = await ask(house, 'POST', '/links', { folder });
  assert.equal(first.status, 409);
  const { status, body } = await ask(house, 'POST', '/links', { folder, confirm: confirmOf(first.body) });
  assert.deepEqual([status, body.state, body.linked], [201, 'active', folder], JSON.stringify(body));
  const until = async (what: string, holds: () => Promise<boolean> | boolean): Promise<void> => {
    for (const deadline = Date.now() + 20_000; !(await holds()); await new Promise((resolve) => setTimeout(resolve, 30))) {
      assert.ok(Date.now() < deadline, what);
    }
  };
  const lit = async () => (await house.json<{ lit: number }>('/api/v1/lamp')).lit;
  assert.equal(await lit(), 1);
  putFiles(folder, { 'index.ts': code(2) });
  await until('the change serves', async () => (await lit()) === 2);
  putFiles(folder, { 'index.ts': 'export default {' });
  await until('the broken one is told', () => house.lines.some((line) => line.includes('marketplace.link_not_installed')));
  assert.equal(await lit(), 2);
  putFiles(folder, { 'plugin.json': manifest('lamp', { ...asked, events: ['edge.offline'] }), 'index.ts': code(3) });
  await until('other rights wait', () => house.lines.some((line) => line.includes('marketplace.link_waits')));
  assert.equal(await lit(), 2);
  assert.equal((await ask(house, 'DELETE', '/installed/lamp')).status, 204);
});
