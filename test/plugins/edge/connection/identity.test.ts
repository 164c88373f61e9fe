import assert from 'node:assert/strict';
import { test } from 'node:test';

import { HandClock } from '../../alert/engine-house.ts';
import { edgeHouse, edgeKeys, machine, until } from '../house.ts';

const codeOf = async (attempt: Promise<unknown>): Promise<number | string> =>
  await attempt.then(
    () => 'in',
    (error: { closeCode?: number; message: string }) => error.closeCode ?? error.message,
  );

test('the newest connection serves; two machines that take turns are both refused until a person says which is meant', async (t) => {
  const { ask, create, edge, simulate, house } = await edgeHouse(t, { plugins: ['edge', 'audit'] });
  const keys = await create();
  const ends: Promise<{ code: number }>[] = [];
  for (const n of [1, 2, 1, 2]) {
    ends.push((await simulate(keys, { machine: machine(n) })).session.closed);
  }
  assert.deepEqual(
    (await Promise.all(ends.slice(0, 3))).map(({ code }) => code),
    [4409, 4409, 4409],
  );
  assert.equal((await edge(keys.id)).conflict, null, 'three turns may be an accident');
  assert.equal(await codeOf(simulate(keys, { machine: machine(1) })), 4409);
  assert.equal((await ends[3]!).code, 4409);
  assert.equal(await codeOf(simulate(keys, { machine: machine(2) })), 4409);
  const disputed = await edge(keys.id);
  assert.deepEqual(disputed.conflict.machine_uuids, [machine(1), machine(2)]);
  assert.deepEqual(edgeKeys(house).recognise(keys.access_key, keys.secret_key), {
    edge_id: keys.id,
    disabled: true,
  });
  const trail = (await ask('GET', '/admin/audit-logs?action=edge:conflict')).body;
  assert.deepEqual([trail.total, trail.items[0].resource_id], [1, String(keys.id)]);

  const settled = await ask('POST', `/edges/${keys.id}/resolve`, { machine_uuid: machine(2) });
  assert.deepEqual([settled.status, settled.body.conflict], [200, null], settled.text);
  assert.equal((await ask('POST', `/edges/${keys.id}/resolve`, {})).status, 409);
  assert.equal(await codeOf(simulate(keys, { machine: machine(1) })), 4409);
  assert.equal(await codeOf(simulate(keys, { machine: machine(2) })), 'in');
});

test('turns that are far apart are no conflict: a machine was replaced, and replaced again', async (t) => {
  const clock = new HandClock();
  const { create, edge, simulate } = await edgeHouse(t, { plugins: ['edge'], clock });
  const keys = await create();
  for (const n of [1, 2, 1, 2, 1, 2, 1]) {
    await simulate(keys, { machine: machine(n) });
    clock.advance(100_000);
  }
  assert.equal((await edge(keys.id)).conflict, null);
});

test('a machine that was started anew takes over, and so does a copy, which shows by coming back as it was', async (t) => {
  const { create, edge, simulate } = await edgeHouse(t, { plugins: ['edge'] });
  const keys = await create();
  for (const boot of ['a', 'b', 'c', 'd', 'e', 'f']) {
    await simulate(keys, { boot });
  }
  assert.equal((await edge(keys.id)).conflict, null, 'six starts of one machine');
  for (const boot of ['g', 'f', 'g', 'f']) {
    await simulate(keys, { boot });
  }
  assert.equal(await codeOf(simulate(keys, { boot: 'g' })), 4409);
  assert.deepEqual((await edge(keys.id)).conflict.machine_uuids, [machine(1)]);
});

test('a new secret is offered to an edge that is online, and the old one dies when the new one is proved', async (t) => {
  const { ask, create, edge, simulate, house } = await edgeHouse(t, { plugins: ['edge'] });
  const keys = await create();
  let offered: { secret_key: string; generation: number } | undefined;
  const { session } = await simulate(keys, {
    methods: {
      rotate_secret: {
        mutating: true,
        async handle(params) {
          offered = params;
          await simulate({ ...keys, secret_key: params.secret_key }, { purpose: 'probe' });
          return {};
        },
      },
    },
  });
  const rotated = await ask('POST', `/edges/${keys.id}/rotate-secret`, {});
  assert.deepEqual([rotated.status, rotated.body.secret_generation], [200, 2], rotated.text);
  const end = await session.closed;
  assert.deepEqual(
    [end.code, offered?.secret_key, offered?.generation],
    [1012, rotated.body.secret_key, 2],
  );
  assert.ok(end.retry!.maxMs <= 1_000);
  assert.equal(await codeOf(simulate(keys)), 4401);
  const verifier = edgeKeys(house);
  assert.equal(verifier.recognise(keys.access_key, keys.secret_key), undefined);
  assert.deepEqual(verifier.recognise(keys.access_key, rotated.body.secret_key), {
    edge_id: keys.id,
  });
  assert.equal(await codeOf(simulate(rotated.body)), 'in');
  assert.equal((await edge(keys.id)).previous_secret_until, null);
});

test('the secret of an edge that is offline dies at once, or after its grace, in which both are good', async (t) => {
  const { ask, create, edge, simulate, house } = await edgeHouse(t, { plugins: ['edge'] });
  const keys = await create();
  const rotate = async (body: object) =>
    (await ask('POST', `/edges/${keys.id}/rotate-secret`, body)).body;
  const second = await rotate({});
  assert.equal(await codeOf(simulate(keys, { purpose: 'probe' })), 4401);
  const third = await rotate({ grace: '1h' });
  assert.ok(third.previous_secret_until);
  assert.equal(await codeOf(simulate(second, { purpose: 'probe' })), 'in');
  assert.equal(await codeOf(simulate(third, { purpose: 'probe' })), 'in');
  assert.equal(
    (await ask('POST', `/edges/${keys.id}/rotate-secret`, { grace: '25h' })).status,
    400,
  );
  await simulate(third);
  assert.equal(
    (await edge(keys.id)).previous_secret_until,
    null,
    'it has logged in with the new one',
  );
  assert.equal(await codeOf(simulate(second, { purpose: 'probe' })), 4401);
  assert.equal(edgeKeys(house).recognise('svc_ak_nobody', second.secret_key), undefined);
});

test('a tunnel whose edge does not take the new secret is closed, for its own is dead', async (t) => {
  const { ask, create, simulate } = await edgeHouse(t, { plugins: ['edge'] });
  const keys = await create();
  const { session } = await simulate(keys);
  const rotated = await ask('POST', `/edges/${keys.id}/rotate-secret`, { grace: '0s' });
  assert.equal(rotated.status, 200);
  assert.equal((await session.closed).code, 4403);
  await until('the old one is dead', async () => (await codeOf(simulate(keys))) === 4401);
});
