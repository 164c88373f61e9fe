import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import fc from 'fast-check';

import { deviceHouse, machine } from './house.ts';

test('an edge that connects for the first time gets a device, and keeps it whatever it says later', async (t) => {
  const { ask, connect, fleet } = await deviceHouse(t);
  const told = {
    os: 'Debian GNU/Linux',
    os_version: '12',
    arch: 'x86_64',
    kernel_version: '6.1',
    ip_address: '10.0.0.7',
    cpu_count: 4,
    mem_total_bytes: 8e9,
    disk_total_bytes: 1e11,
  };
  const first = await connect(1, 1, told);
  assert.deepEqual(first, { status: 'bound', device_id: 1, created: true, resembles: [] });
  let asked = await ask('GET', '/devices/1');
  // The topology gives it a node a moment later, which changes the tag.
  while (asked.body.node_id === null) {
    await pause(20);
    asked = await ask('GET', '/devices/1');
  }
  const { body: shown, etag } = asked;
  const {
    created_at: createdAt,
    updated_at: updatedAt,
    last_seen_at: seenAt,
    node_id: _node,
    ...rest
  } = shown;
  assert.deepEqual(rest, {
    id: 1,
    display_name: 'host-1',
    hostname: 'host-1',
    ...told,
    tags: {},
    reported_by: [],
    roles: [],
    online: true,
  });
  assert.deepEqual([createdAt, updatedAt], [seenAt, createdAt]);

  assert.deepEqual(await connect(1, 1, told), { ...first, created: false });
  assert.equal(
    (await ask('GET', '/devices/1')).etag,
    etag,
    'what says nothing new changes nothing',
  );
  await connect(1, 1, {
    kernel_version: '6.2',
    hostname: '  new\u0000\u202Ename\n',
    cpu_count: -1,
    os: 7,
    mem_total_bytes: '1',
  });
  const { body: changed } = await ask('GET', '/devices/1');
  assert.deepEqual(
    [
      changed.hostname,
      changed.kernel_version,
      changed.cpu_count,
      changed.os,
      changed.mem_total_bytes,
    ],
    ['new name', '6.2', 4, told.os, 8e9],
  );

  fleet.up.delete(1);
  assert.equal(
    (await connect(1, 2)).status,
    'conflict',
    'an edge that comes from another machine is asked about',
  );
  assert.deepEqual(
    await connect(1, 1, told),
    { ...first, created: false },
    'and is itself again where it was',
  );
});

test('a new edge on a machine that proves its key is the same device, once the old edge is offline', async (t) => {
  const { ask, connect, fleet, directory } = await deviceHouse(t);
  const key = { machine_key: 'k1' };
  await connect(1, 1, {}, undefined, key);
  fleet.up.delete(1);
  assert.deepEqual(await connect(2, 1, {}, undefined, key), {
    status: 'bound',
    device_id: 1,
    created: false,
    resembles: [],
  });
  fleet.known.set(2, {
    name: 'web',
    status: 'online',
    agent_version: '1.2.0',
    last_seen_at: 1_790_000_000_000,
  });
  const { body } = await ask('GET', '/devices/1/edges');
  assert.deepEqual(
    body.items.map(
      ({
        id,
        name,
        status,
        agent_version,
        last_seen_at,
        binding,
        rival_edge_id,
      }: Record<string, unknown>) => [
        id,
        name,
        status,
        agent_version,
        last_seen_at,
        binding,
        rival_edge_id,
      ],
    ),
    [
      [2, 'web', 'online', '1.2.0', '2026-09-21T14:13:20.000Z', 'bound', null],
      [1, null, null, null, null, 'bound', null],
    ],
  );
  assert.deepEqual([await directory.onlineEdge(1), await directory.deviceOf(2)], [2, 1]);
  await directory.release(2);
  await directory.release(1);
  assert.equal(
    (await connect(3, 1)).status,
    'conflict',
    'that it says the identity of the machine proves nothing',
  );
  assert.deepEqual(
    await connect(4, 1, {}, undefined, key),
    { status: 'bound', device_id: 1, created: false, resembles: [] },
    'a device outlives its edges',
  );
});

test('a clone ends in a conflict that anybody can see, and nobody is merged until a person tells them apart', async (t) => {
  const { ask, connect, fleet, directory, house } = await deviceHouse(t);
  await connect(1, 1, { hostname: 'original' });
  const clone = await connect(2, 1, { hostname: 'clone' });
  assert.deepEqual(
    { ...clone, reason: '' },
    { status: 'conflict', device_id: 1, edge_id: 1, reason: '' },
  );
  assert.match(
    (clone as { reason: string }).reason,
    /edge 1, which is online, already watches device 1 .* a clone/,
  );
  assert.equal(
    (await ask('GET', '/devices/1')).body.hostname,
    'original',
    'nothing of the clone is written over it',
  );
  assert.deepEqual(
    [await directory.deviceOf(2), (await ask('GET', '/devices')).body.total],
    [undefined, 1],
  );
  const { body } = await ask('GET', '/devices/1/edges');
  assert.deepEqual(
    body.items.map(({ id, binding, rival_edge_id, rival_device_id }: Record<string, unknown>) => [
      id,
      binding,
      rival_edge_id,
      rival_device_id,
    ]),
    [
      [2, 'conflict', 1, 1],
      [1, 'bound', null, null],
    ],
  );
  assert.ok(
    house.lines.some(
      (line) => line.includes('edge not bound to a device') && line.includes('"edge":2'),
    ),
  );

  fleet.up.delete(1);
  assert.equal(
    (await connect(2, 1)).status,
    'conflict',
    'that the original is offline for a moment proves nothing',
  );
  assert.deepEqual(await connect(1, 1), {
    status: 'bound',
    device_id: 1,
    created: false,
    resembles: [],
  });

  assert.deepEqual(
    await connect(2, 7),
    { status: 'bound', device_id: 2, created: true, resembles: [] },
    'with an identity of its own it is a device of its own',
  );
  assert.equal((await ask('GET', '/devices/1/edges')).body.total, 1);
});

test('a person settles a conflict by saying which machine is the device; taking the old one off gives it to nobody', async (t) => {
  const { ask, connect, fleet, directory } = await deviceHouse(t);
  await connect(1, 1, {}, undefined, { machine_key: 'k1' });
  await connect(2, 1, {}, undefined, { machine_key: 'k2' });
  for (const [method, path] of [
    ['DELETE', '/devices/1/edges/1'],
    ['POST', '/devices/1/edges/2/accept'],
  ] as const) {
    const online = await ask(method, path);
    assert.deepEqual(
      [online.status, online.body.message],
      [409, 'Edge 1 is online and watches device 1; stop its agent first.'],
    );
  }
  fleet.up.delete(1);
  assert.equal((await ask('DELETE', '/devices/1/edges/1')).status, 204);
  const waits = await connect(2, 1, {}, undefined, { machine_key: 'k2' });
  assert.match(
    String((waits as { reason: string }).reason),
    /bound to the key of its machine, and this one has another.* "svc device accept 1 2"/,
  );
  assert.equal((await ask('POST', '/devices/1/edges/9/accept')).status, 404);
  const accepted = await ask('POST', '/devices/1/edges/2/accept');
  assert.deepEqual([accepted.status, accepted.body.id, await directory.deviceOf(2)], [200, 1, 1]);
  assert.equal(
    (await ask('POST', '/devices/1/edges/2/accept')).status,
    404,
    'it claims nothing any more',
  );
  assert.deepEqual(await connect(2, 1, {}, undefined, { machine_key: 'k2' }), {
    status: 'bound',
    device_id: 1,
    created: false,
    resembles: [],
  });
  assert.equal(
    (await connect(1, 1, {}, undefined, { machine_key: 'k1' })).status,
    'conflict',
    'the old machine is another one from now on',
  );
  assert.deepEqual(
    [
      (await ask('DELETE', '/devices/1/edges/9')).status,
      (await ask('DELETE', '/devices/9/edges/2')).status,
    ],
    [404, 404],
  );
});

test('keys that are moved onto the machine of another edge are a conflict, too', async (t) => {
  const { ask, connect, fleet, directory } = await deviceHouse(t);
  await connect(1, 1);
  await connect(2, 2);
  fleet.up.clear();
  const moved = await connect(1, 2);
  assert.deepEqual([moved.status, moved.device_id], ['conflict', 1]);
  assert.match(
    (moved as { reason: string }).reason,
    /this edge watches device 1, and now comes from a machine of another identity/,
  );
  assert.deepEqual(
    [await directory.deviceOf(1), await directory.deviceOf(2)],
    [undefined, 2],
    'who was there stays',
  );
  assert.equal(
    (await ask('POST', '/devices/1/edges/1/accept')).status,
    200,
    'a person says that this machine is device 1',
  );
  assert.deepEqual(
    [await directory.deviceOf(1), (await connect(1, 2)).status],
    [1, 'bound'],
    'and so it is',
  );
});

test('a fingerprint suggests which device a machine was, and decides nothing', async (t) => {
  const { connect } = await deviceHouse(t);
  await connect(1, 1, {}, 'board-77');
  await connect(2, 2, {}, 'board-78');
  assert.deepEqual(await connect(3, 3, {}, 'board-77'), {
    status: 'bound',
    device_id: 3,
    created: true,
    resembles: [1],
  });
  assert.deepEqual(
    await connect(2, 2),
    { status: 'bound', device_id: 2, created: false, resembles: [] },
    'nothing said is nothing changed',
  );
});

test('an introduction that is none is refused', async (t) => {
  const { directory } = await deviceHouse(t);
  const good = { edge_id: 1, machine_uuid: machine(1), host_info: null };
  for (const wrong of [
    { edge_id: 0 },
    { edge_id: 1.5 },
    { machine_uuid: 'x' },
    { machine_uuid: `${machine(1)}0` },
    { fingerprint: 'a b' },
    { fingerprint: 'x'.repeat(201) },
  ]) {
    await assert.rejects(
      directory.bind({ ...good, ...wrong }),
      { code: 'invalid_argument' },
      JSON.stringify(wrong),
    );
  }
  assert.equal(
    (await directory.bind({ ...good, machine_uuid: machine(1).toUpperCase() })).status,
    'bound',
  );
});

test('whatever edges do, no device is ever watched by two that are online', async (t) => {
  const { connect, directory, fleet, ask } = await deviceHouse(t);
  const step = fc.record({
    edge: fc.integer({ min: 1, max: 4 }),
    machine: fc.integer({ min: 1, max: 3 }),
    act: fc.constantFrom('connect', 'connect', 'connect', 'leave', 'release'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 15 }), async (steps) => {
      for (const edge of [1, 2, 3, 4]) {
        fleet.up.delete(edge);
        await directory.release(edge);
      }
      for (const { act, edge, machine: from } of steps) {
        if (act === 'connect') {
          const bound = await connect(edge, from);
          assert.equal(
            await directory.deviceOf(edge),
            bound.status === 'bound' ? bound.device_id : undefined,
          );
        } else {
          fleet.up.delete(edge);
          await (act === 'release' && directory.release(edge));
        }
        const watched = (
          await Promise.all([...fleet.up].map((id) => directory.deviceOf(id)))
        ).filter((id) => id !== undefined);
        assert.equal(new Set(watched).size, watched.length);
      }
    }),
    { numRuns: 40 },
  );
  assert.ok((await ask('GET', '/devices')).body.total >= 3);
});
