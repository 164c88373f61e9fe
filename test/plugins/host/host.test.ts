import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { startTestHost, type TestHost, useNoLeaks } from 'svc/testing';

const fixture = (id: string): string =>
  fileURLToPath(new URL(`../../fixtures/plugins/${id}`, import.meta.url));
const post = (house: TestHost, path: string): Promise<Response> =>
  house.fetch(path, { method: 'POST' });
const problem = async (
  answer: Response,
): Promise<{ status: number; error: string; message: string }> => ({
  status: answer.status,
  ...((await answer.json()) as { error: string; message: string }),
});

describe('the plugin pages', () => {
  test('list every plugin page by page, in the order of their ids', async (t) => {
    const house = await startTestHost(t, {
      plugins: ['host', 'version', fixture('target'), fixture('aim')],
    });
    useNoLeaks(t, house);
    const first = await house.json('/api/v1/plugins?limit=3');
    assert.deepEqual(
      first.items.map(({ id, state }: { id: string; state: string }) => [id, state]),
      [
        ['aim', 'active'],
        ['host', 'active'],
        ['target', 'active'],
      ],
    );
    assert.equal(first.total, 4);
    const second = await house.json(`/api/v1/plugins?limit=3&cursor=${first.next_cursor}`);
    assert.deepEqual(
      second.items.map(({ id }: { id: string }) => id),
      ['version'],
    );
    assert.equal(second.next_cursor, '');
  });

  test('show one plugin with its effects, dependents and timings', async (t) => {
    const house = await startTestHost(t, { plugins: ['host', fixture('target'), fixture('aim')] });
    const target = await house.json('/api/v1/plugins/target');
    assert.deepEqual(
      [target.state, target.generation, target.provides, target.dependents],
      ['active', 1, ['target.self 1.0.0'], ['aim']],
    );
    assert.ok(target.last_attempt.ok && target.last_attempt.timings_ms.compile > 0);
    assert.equal(target.effects.label, 'target#1');
    assert.deepEqual(
      target.effects.children.map(({ label }: { label: string }) => label),
      ['routes', 'services', 'what was set past ctx', 'settings', 'service container'],
    );
    assert.deepEqual(
      await problem(await house.fetch('/api/v1/plugins/nobody')).then(({ status, error }) => [
        status,
        error,
      ]),
      [404, 'not_found'],
    );
  });

  test('let an administrator reload, disable and enable a plugin, with a reason where that is refused', async (t) => {
    const house = await startTestHost(t, { plugins: ['host', fixture('target'), fixture('aim')] });
    const reloaded = await post(house, '/api/v1/plugins/target/reload');
    assert.deepEqual(
      [reloaded.status, ((await reloaded.json()) as { generation: number }).generation],
      [200, 2],
    );

    const refused = await problem(await post(house, '/api/v1/plugins/target/disable'));
    assert.deepEqual([refused.status, refused.error], [409, 'conflict']);
    assert.match(refused.message, /target is needed by aim/);

    assert.equal((await post(house, '/api/v1/plugins/target/disable?cascade=true')).status, 200);
    const blocked = await problem(await house.fetch('/api/v1/aim'));
    assert.deepEqual([blocked.status, blocked.error], [503, 'unavailable']);
    assert.match(blocked.message, /Aim is blocked: it needs service target\.self/);
    const disabled = await problem(await house.fetch('/api/v1/target'));
    assert.match(disabled.message, /Target is disabled/);

    assert.equal((await post(house, '/api/v1/plugins/target/enable')).status, 200);
    assert.equal((await house.fetch('/api/v1/aim')).status, 200);
  });

  test('say in the list when the last change did not come up, and do not switch themselves off', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-broken-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    cpSync(fixture('target'), join(folder, 'target'), { recursive: true });
    const house = await startTestHost(t, { plugins: ['host', join(folder, 'target')] });
    writeFileSync(join(folder, 'target', 'index.ts'), 'export default {');
    assert.equal((await post(house, '/api/v1/plugins/target/reload')).status, 409);
    const { items } = await house.json('/api/v1/plugins');
    const target = items.find(({ id }: { id: string }) => id === 'target');
    assert.equal(target.state, 'active');
    assert.match(target.cause, /the last change failed in compile: .*; generation 1 keeps running/);
    assert.equal(
      (await problem(await post(house, '/api/v1/plugins/host/disable'))).error,
      'conflict',
    );
  });

  test('can reload the very plugin that answers', async (t) => {
    const house = await startTestHost(t, { plugins: ['host'] });
    const answer = await post(house, '/api/v1/plugins/host/reload');
    assert.deepEqual(
      [answer.status, ((await answer.json()) as { generation: number }).generation],
      [200, 2],
    );
    assert.equal((await house.json('/api/v1/plugins/host')).generation, 2);
  });

  test('are read by everybody who is known and steered by administrators only', async (t) => {
    const viewer = { kind: 'user', id: '7', role: 'viewer', grants: [] } as const;
    const authenticator = {
      authenticate: ({ value }: { value: string }) => (value === 'viewer' ? viewer : undefined),
    };
    const house = await startTestHost(t, {
      plugins: ['host'],
      services: { 'auth.authenticator': authenticator },
    });
    const as = { authorization: 'Bearer viewer' };
    assert.equal((await house.fetch('/api/v1/plugins', { headers: as })).status, 200);
    for (const verb of ['reload', 'enable', 'disable']) {
      assert.equal(
        (await house.fetch(`/api/v1/plugins/host/${verb}`, { method: 'POST', headers: as })).status,
        403,
        verb,
      );
    }
    assert.equal((await fetch(`${house.url}/api/v1/plugins`)).status, 401);
  });
});
