import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { edgeHouse, until } from '../house.ts';

const plugins = ['edge', fileURLToPath(new URL('../../../fixtures/edge-sample', import.meta.url))];

test('what an edge should run is checked, kept, sent when it differs, and told with how it is', async (t) => {
  const { ask, create, simulate } = await edgeHouse(t, { plugins });
  const keys = await create();
  const path = `/edges/${keys.id}/plugins`;
  const item = async () => (await ask('GET', path)).body.items[0];
  assert.deepEqual(await item(), {
    name: 'sample',
    kind: 'metrics',
    enabled: true,
    spec: { interval_seconds: 15, paths: [] },
    settled: null,
    health: {
      state: 'starting',
      last_error: null,
      restart_count: 0,
      started_at: null,
      updated_at: null,
      samples: 0,
    },
  });

  const bad = await ask('PUT', `${path}/sample`, {
    enabled: true,
    spec: { interval_seconds: 1, other: 2 },
  });
  assert.equal(bad.status, 400);
  assert.deepEqual(
    bad.body.details.map((problem: { path: string }) => problem.path),
    ['/spec', '/spec/interval_seconds'],
  );
  assert.equal((await ask('PUT', `${path}/other`, { enabled: true })).status, 404);
  assert.equal((await ask('PUT', `${path}/sample`, {})).status, 400);
  assert.equal((await ask('PUT', '/edges/99/plugins/sample', { enabled: true })).status, 404);

  const applied: { hash: string; plugins: Record<string, unknown> }[] = [];
  const methods = {
    config_apply: {
      mutating: true,
      handle: (params: (typeof applied)[number]) => {
        applied.push(params);
        return { hash: params.hash };
      },
    },
  };
  const { session } = await simulate(keys, { methods });
  const first = await until('it has its configuration', () => applied[0]);
  assert.deepEqual(first.plugins, { sample: { enabled: true, spec: {} } });

  const put = await ask('PUT', `${path}/sample`, { spec: { interval_seconds: 60 } });
  assert.deepEqual(
    [put.status, put.body.enabled, put.body.spec],
    [200, true, { interval_seconds: 60, paths: [] }],
    put.text,
  );
  const second = await until('it has the next', () => applied[1]);
  assert.deepEqual(second.plugins, { sample: { enabled: true, spec: { interval_seconds: 60 } } });
  assert.notEqual(second.hash, first.hash);
  await until('the manager knows', async () => (await item()).settled === true);
  assert.equal(
    (await ask('PUT', `${path}/sample`, { enabled: false })).body.spec.interval_seconds,
    60,
  );
  const third = await until('it has the last', () => applied[2]);
  assert.deepEqual((await ask('GET', '/integrations/plugin-counts')).body, {
    enabled: 0,
    disabled: 1,
    plugins: [{ name: 'sample', kind: 'metrics', enabled: 0, disabled: 1 }],
  });

  const health = {
    state: 'crashed',
    last_error: 'no such file',
    restart_count: 3,
    started_at: '2026-11-22T00:00:00.000Z',
    updated_at: '2026-11-22T00:01:00.000Z',
    samples: 7,
  };
  session.emit('plugin_health', { name: 'sample', health: { ...health, state: 'dancing' } });
  session.emit('plugin_health', { name: 'unknown', health });
  session.emit('plugin_health', { name: 'sample', health });
  await until('its health is shown', async () => (await item()).health.state === 'crashed');
  assert.deepEqual((await item()).health, health);

  await session.close();
  const now = { ...health, state: 'running', samples: 9 };
  const status = {
    handle: () => [{ name: 'sample', kind: 'metrics', enabled: false, health: now }, 'what'],
  };
  await simulate(keys, { methods: { ...methods, plugin_status: status }, configHash: third.hash });
  assert.deepEqual((await item()).health, now, 'it is asked when somebody looks');
  await until('it is settled from the start', async () => (await item()).settled === true);
  assert.equal(applied.length, 3, 'what it has already is not sent again');
});

test('what is wanted of the plugins of an edge, and how they were, outlives the manager', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-edge-plugins-'));
  const first = await edgeHouse(t, { plugins, dataDir });
  const keys = await first.create();
  const path = `/edges/${keys.id}/plugins`;
  assert.equal(
    (await first.ask('PUT', `${path}/sample`, { enabled: false, spec: { interval_seconds: 60 } }))
      .status,
    200,
  );
  const { session } = await first.simulate(keys);
  const health = {
    state: 'crashed',
    last_error: 'no such file',
    restart_count: 3,
    started_at: '2026-11-22T00:00:00.000Z',
    updated_at: '2026-11-22T00:01:00.000Z',
    samples: 7,
  };
  session.emit('plugin_health', { name: 'sample', health });
  const before = await until('its health is known', async () => {
    const item = (await first.ask('GET', path)).body.items[0];
    return item.health.restart_count === 3 && item;
  });
  await first.house.stop();
  const second = await edgeHouse(t, { plugins, dataDir });
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const after = (await second.ask('GET', path)).body.items[0];
  assert.deepEqual(
    [after.enabled, after.spec, after.health],
    [before.enabled, before.spec, before.health],
  );
});

test('a configuration that an edge does not take stays wanted, and is shown as not settled', async (t) => {
  const { ask, create, simulate } = await edgeHouse(t, { plugins });
  const keys = await create();
  let tries = 0;
  await simulate(keys, {
    methods: {
      config_apply: {
        mutating: true,
        handle: () => {
          tries += 1;
          throw new Error('disk full');
        },
      },
    },
  });
  await until('it was tried', () => tries > 0);
  assert.equal((await ask('GET', `/edges/${keys.id}/plugins`)).body.items[0].settled, false);
});
