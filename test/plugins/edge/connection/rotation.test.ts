import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import type { TunnelMethod } from 'svc/tunnel';

import { around, edgeHouse, type Keys, until } from '../house.ts';

const codeOf = async (attempt: Promise<unknown>): Promise<number | string> =>
  await attempt.then(
    () => 'in',
    (error: { closeCode?: number; message: string }) => error.closeCode ?? error.message,
  );

const rotating = (take: (secret: string) => Promise<void>): Record<string, TunnelMethod> => ({
  rotate_secret: {
    mutating: true,
    async handle({ secret_key: secret }: { secret_key: string }) {
      await take(secret);
      return {};
    },
  },
});

/** Copies what a manager that is killed now finds at its next start. */
function killedHere(t: TestContext, dataDir: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'svc-edge-killed-'));
  t.after(() => rmSync(copy, { recursive: true, force: true }));
  cpSync(dataDir, copy, { recursive: true });
  return copy;
}

test('wherever the manager is killed while an edge changes its secret, the edge is let in and ends with the new one alone', async (t) => {
  const copies = new Map<string, string>();
  const { ask, create, edge, simulate, house } = await edgeHouse(t, { plugins: ['edge'] });
  const keys = await create();
  let staged: Keys | undefined;
  const { session } = await simulate(keys, {
    methods: rotating(async (secret) => {
      copies.set('offered, and nothing of it is on the edge', killedHere(t, house.dataDir));
      staged = { ...keys, secret_key: secret };
      await simulate(staged, { purpose: 'probe' });
      copies.set('proved, and the edge has not said so', killedHere(t, house.dataDir));
    }),
  });
  const rotated = await ask('POST', `/edges/${keys.id}/rotate-secret`, {});
  assert.equal(rotated.status, 200, rotated.text);
  assert.equal((await session.closed).code, 1012);
  await until('it is settled', async () => (await edge(keys.id)).previous_secret_until === null);
  copies.set('settled', killedHere(t, house.dataDir));
  assert.equal(staged?.secret_key, rotated.body.secret_key);
  await house.stop();

  for (const [point, dataDir] of copies) {
    // The edge was killed as well, before or after it had renamed its file, or it was not.
    for (const has of point === 'settled'
      ? [staged!]
      : point.startsWith('proved')
        ? [keys, staged!]
        : [keys]) {
      const where = `${point}, edge has the ${has === keys ? 'old' : 'new'} one`;
      const again = await edgeHouse(t, { plugins: ['edge'], dataDir: killedHere(t, dataDir) });
      let current: Keys = has;
      const methods = rotating(async (secret) => {
        await again.simulate({ ...keys, secret_key: secret }, { purpose: 'probe' });
        current = { ...keys, secret_key: secret };
      });
      const back = await again.simulate(current, { methods });
      if (has === keys) {
        assert.equal((await back.session.closed).code, 1012, where);
        assert.equal(
          current.secret_key,
          rotated.body.secret_key,
          `${where}: it is the one that the person was told`,
        );
        await again.simulate(current, { methods });
      }
      await until(
        'one secret is left',
        async () => (await around(again.house).edge(keys.id)).previous_secret_until === null,
      );
      assert.equal(await codeOf(again.simulate(keys, { purpose: 'probe' })), 4401, where);
      assert.equal(await codeOf(again.simulate(rotated.body, { purpose: 'probe' })), 'in', where);
      await again.house.stop();
    }
  }
});

test('an edge that cannot prove its new secret now keeps the old one and is asked again; "immediate" ends that', async (t) => {
  const { ask, create, edge, simulate } = await edgeHouse(t, { plugins: ['edge'] });
  const keys = await create();
  const rotate = (body: object) => ask('POST', `/edges/${keys.id}/rotate-secret`, body);
  const offers: string[] = [];
  const refusing = rotating(async (secret) => {
    offers.push(secret);
    throw new Error('the disk is full');
  });
  const first = await simulate(keys, { methods: refusing });
  const rotated = await rotate({});
  await until('it was asked', () => offers.length === 1);
  assert.ok(
    (await edge(keys.id)).previous_secret_until,
    'both are good for now, and that is shown',
  );
  const tooSoon = await rotate({});
  assert.deepEqual([tooSoon.status, tooSoon.body.error], [409, 'conflict'], tooSoon.text);
  await first.session.close();
  const second = await simulate(keys, { methods: refusing });
  await until('it was asked again', () => offers.length === 2);
  assert.deepEqual(offers, [rotated.body.secret_key, rotated.body.secret_key]);

  assert.equal((await rotate({ immediate: true, grace: '1h' })).status, 400);
  const last = await rotate({ immediate: true });
  assert.deepEqual([last.status, last.body.previous_secret_until], [200, null], last.text);
  assert.equal((await second.session.closed).code, 4403);
  assert.equal(offers.length, 2);
  for (const [secret, outcome] of [
    [keys.secret_key, 4401],
    [rotated.body.secret_key, 4401],
    [last.body.secret_key, 'in'],
  ]) {
    assert.equal(
      await codeOf(simulate({ ...keys, secret_key: secret }, { purpose: 'probe' })),
      outcome,
    );
  }
});

test('a secret that is changed while the edge is away for a moment does not lock it out', async (t) => {
  const { ask, create, simulate, edge } = await edgeHouse(t, { plugins: ['edge'] });
  const keys = await create();
  const first = await simulate(keys);
  await first.session.close();
  await until(
    'its tunnel is closed',
    async () => (await ask('GET', `/edges/${keys.id}/metrics`)).status === 503,
  );
  assert.equal((await edge(keys.id)).status, 'online', 'nobody has been told yet');
  const rotated = await ask('POST', `/edges/${keys.id}/rotate-secret`, {});
  let taken: string | undefined;
  const methods = rotating(async (secret) => {
    await simulate({ ...keys, secret_key: secret }, { purpose: 'probe' });
    taken = secret;
  });
  assert.equal((await (await simulate(keys, { methods })).session.closed).code, 1012);
  assert.equal(taken, rotated.body.secret_key);
  assert.equal(await codeOf(simulate(keys)), 4401);
});
