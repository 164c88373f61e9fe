import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { startTestHost, type TestHost } from '../kit/index.ts';
import { type Animal, buildZoo, laterZoo, packZoo, zoo } from '../fixtures/zoo.ts';

async function houseWith(t: TestContext, animals: readonly Animal[]): Promise<TestHost> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-zoo-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return await startTestHost(t, {
    plugins: ['version', 'drop-ins', 'packs', ...buildZoo(folder, animals)],
  });
}

async function assertTheRestServes(house: TestHost): Promise<void> {
  assert.match(
    (await house.json<{ manager_version: string }>('/api/v1/version')).manager_version,
    /^v\d/,
  );
}

describe('a plugin that misbehaves', () => {
  test('at any stage of its start ends in a state of its own, with the cause, and the rest serves', async (t) => {
    const house = await houseWith(t, zoo);
    for (const animal of zoo) {
      const { state, stage, cause } = house.host.explain(animal.id);
      assert.equal(state, animal.state, `${animal.id}: ${cause}`);
      assert.match(cause ?? '', animal.cause, animal.id);
      if (animal.stage) {
        assert.equal(stage, animal.stage, animal.id);
      }
    }
    assert.equal(
      (globalThis as Record<string, unknown>)['svcOwned'],
      undefined,
      'front matter was not evaluated',
    );
    const { items } = await house.json<{ items: { name: string; state: string; error: string }[] }>(
      '/api/v1/drop-ins',
    );
    assert.deepEqual(
      items.map(({ name, state }) => `${name} ${state}`),
      ['evil broken'],
    );
    assert.match(items[0]!.error, /js-front-matter\/agents\/evil\.md: The first line/);
    await assertTheRestServes(house);
  });

  test('while it serves is put into quarantine, and the rest serves', async (t) => {
    const house = await houseWith(t, laterZoo);
    for (const animal of laterZoo) {
      await until(
        `${animal.id} is ${animal.state}`,
        () => house.host.explain(animal.id).state === animal.state,
      );
      assert.match(house.host.explain(animal.id).cause ?? '', animal.cause);
    }
    await assertTheRestServes(house);
  });

  test('in a process of its own harms only its caller: an endless loop or full memory ends the process, not the house', async (t) => {
    const house = await houseWith(t, packZoo);
    for (const { id } of packZoo) {
      assert.equal(house.host.explain(id).state, 'active', house.host.explain(id).cause);
      const answer = await house.fetch(`/api/v1/${id}`);
      const { error } = (await answer.json()) as { error: string };
      assert.deepEqual([answer.status, error], [503, 'unavailable'], id);
      await until(`${id} has its end on its account`, () =>
        house.host.explain(id).strikes.some(({ label }) => label === 'pack process'),
      );
      await assertTheRestServes(house);
    }
  });

  test('cannot be unloaded cleanly: the state says unload-failed, names the effect, and a reload still works', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-zoo-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const [sticky] = buildZoo(folder, [
      {
        id: 'sticky',
        manifest: { entry: 'index.ts' },
        files: {
          'index.ts': `import { definePlugin } from 'svc/sdk';\nexport default definePlugin({ activate(ctx) { ctx.scope.defer('glue', () => { throw new Error('stuck'); }); } });\n`,
        },
        state: 'active',
        cause: /^$/,
      },
    ]);
    const house = await startTestHost(t, { plugins: ['version', sticky!] });
    await house.host.disable('sticky');
    await house.settled();
    const { state, cause } = house.host.explain('sticky');
    assert.equal(state, 'unload-failed');
    assert.match(
      cause!,
      /generation 1 could not be unloaded: glue \(stuck\); restart svc to free it/,
    );
    await house.host.enable('sticky');
    assert.equal(house.host.explain('sticky').state, 'active');
    await assertTheRestServes(house);
  });
});

test('a plugin that sets timers or listeners past its scope is told so by name when it goes, and they go with it', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-zoo-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const leaky = (id: string, body: string) => ({
    id,
    manifest: { entry: 'index.ts' },
    files: {
      'index.ts': `import { definePlugin } from 'svc/sdk';\nexport default definePlugin({ activate() { ${body} } });\n`,
    },
    state: 'active',
    cause: /^$/,
  });
  const plugins = buildZoo(folder, [
    leaky(
      'leaks-timer',
      'setInterval(() => undefined, 1_000); clearTimeout(setTimeout(() => undefined, 1_000));',
    ),
    leaky('leaks-listener', `process.on('SIGUSR2', () => undefined);`),
  ]);
  const house = await startTestHost(t, { plugins: ['version', ...plugins] });
  const before = process.listenerCount('SIGUSR2');
  for (const [id, what] of [
    [
      'leaks-timer',
      /what was set past ctx \(setInterval: stopped by the host; use ctx\.scope instead\.\)/,
    ],
    ['leaks-listener', /process\.on\('SIGUSR2'\): stopped by the host/],
  ] as const) {
    assert.equal(house.host.explain(id).state, 'active', house.host.explain(id).cause);
    await house.host.disable(id);
    await house.settled();
    assert.equal(house.host.explain(id).state, 'unload-failed');
    assert.match(house.host.explain(id).cause!, what);
  }
  assert.equal(process.listenerCount('SIGUSR2'), before - 1);
  await assertTheRestServes(house);
});

async function until(what: string, holds: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 10_000; !holds();) {
    assert.ok(Date.now() < deadline, `within 10 s: ${what}`);
    await pause(5);
  }
}
