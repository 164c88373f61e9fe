import assert from 'node:assert/strict';
import { test } from 'node:test';

import { useNoLeaks } from 'svc/testing';

import { deviceHouse } from './house.ts';

test('a device is named, tagged and given roles, each change against the version that was read', async (t) => {
  const { ask, deviceOf, house } = await deviceHouse(t);
  useNoLeaks(t, house);
  const id = await deviceOf(1);
  const { etag } = await ask('GET', `/devices/${id}`);
  const named = await ask(
    'PATCH',
    `/devices/${id}`,
    { display_name: ' Web 1 ', tags: { env: 'prod', 'team/owner': 'web' } },
    { 'if-match': etag },
  );
  assert.deepEqual(
    [named.status, named.body.display_name, named.body.tags],
    [200, 'Web 1', { env: 'prod', 'team/owner': 'web' }],
    named.text,
  );
  for (const [path, body] of [
    [`/devices/${id}`, { display_name: 'Late' }],
    [`/devices/${id}/roles`, { roles: [] }],
  ] as const) {
    assert.equal((await ask('PATCH', path, body, { 'if-match': etag })).status, 409);
  }
  assert.equal(
    (await ask('DELETE', `/devices/${id}`, undefined, { 'if-match': etag })).status,
    409,
  );
  const roles = await ask(
    'PATCH',
    `/devices/${id}/roles`,
    { roles: ['web', 'cache'] },
    { 'if-match': named.etag },
  );
  assert.deepEqual(
    [roles.status, roles.body.roles, roles.body.display_name],
    [200, ['web', 'cache'], 'Web 1'],
  );
  assert.equal(
    (await ask('PATCH', `/devices/${id}`, { display_name: null })).body.display_name,
    'host-1',
  );

  const wrong: readonly (readonly [string, object])[] = [
    ['', {}],
    ['', { display_name: '  ' }],
    ['', { hostname: 'x' }],
    ['', { tags: { 'a b': 'c' } }],
    ['', { tags: { a: 1 } }],
    ['/roles', { roles: ['a', 'a'] }],
    ['/roles', { roles: ['a b'] }],
    ['/roles', {}],
  ];
  for (const [part, body] of wrong) {
    assert.equal(
      (await ask('PATCH', `/devices/${id}${part}`, body)).status,
      400,
      JSON.stringify(body),
    );
  }
  assert.equal((await ask('PATCH', '/devices/99/roles', { roles: [] })).status, 404);
});

test('a device that went offline has another tag and is no 304, and the tag that was read before still names it', async (t) => {
  const { ask, deviceOf, fleet } = await deviceHouse(t);
  const path = `/devices/${await deviceOf(1)}`;
  const { etag, body } = await ask('GET', path);
  assert.equal((await ask('GET', path, undefined, { 'if-none-match': etag })).status, 304);
  fleet.up.delete(1);
  const later = await ask('GET', path, undefined, { 'if-none-match': etag });
  assert.deepEqual(
    [body.online, later.status, later.body?.online, later.etag === etag],
    [true, 200, false, false],
  );
  assert.equal(
    (await ask('PATCH', path, { display_name: 'Web 1' }, { 'if-match': etag })).status,
    200,
  );
});

test('the list finds devices by text, tags, roles and presence, and pages stably while devices come', async (t) => {
  const { ask, deviceOf, fleet } = await deviceHouse(t);
  for (const n of [1, 2, 3, 4, 5]) {
    await deviceOf(n, n, { ip_address: `10.0.0.${n}` });
  }
  await ask('PATCH', '/devices/1', {
    display_name: 'Database %1',
    tags: { env: 'prod', zone: 'a' },
  });
  await ask('PATCH', '/devices/2', { tags: { env: 'prod', zone: 'b' } });
  await ask('PATCH', '/devices/3', { tags: { env: 'test' } });
  await ask('PATCH', '/devices/1/roles', { roles: ['db', 'backup'] });
  await ask('PATCH', '/devices/2/roles', { roles: ['db'] });
  fleet.up.delete(2);
  fleet.up.delete(4);
  const found = async (query: string): Promise<number[]> => {
    const { status, body, text } = await ask('GET', `/devices?${query}`);
    assert.equal(status, 200, text);
    assert.equal(body.total, body.items.length);
    return body.items.map(({ id }: { id: number }) => id);
  };
  assert.deepEqual(await found(''), [5, 4, 3, 2, 1]);
  assert.deepEqual(await found('q=dataBASE'), [1]);
  assert.deepEqual(await found('q=%25'), [1], 'a percent sign is one');
  assert.deepEqual(await found('q=host-1'), [1], 'its own name counts as well');
  assert.deepEqual(await found('q=0.0.4'), [4]);
  assert.deepEqual(await found('tag=env'), [3, 2, 1]);
  assert.deepEqual(await found('tag=env%3Dprod'), [2, 1]);
  assert.deepEqual(await found('tag=env=prod&tag=zone=a'), [1]);
  assert.deepEqual(await found('role=db'), [2, 1]);
  assert.deepEqual(await found('role=db&role=backup'), [1]);
  assert.deepEqual(await found('online=true'), [5, 3, 1]);
  assert.deepEqual(await found('online=false'), [4, 2]);
  assert.deepEqual(await found('online=true&tag=env'), [3, 1]);
  assert.equal((await ask('GET', '/devices?online=perhaps')).status, 400);

  const first = (await ask('GET', '/devices?limit=2')).body;
  await deviceOf(6);
  const second = (await ask('GET', `/devices?limit=2&cursor=${first.next_cursor}`)).body;
  assert.deepEqual(
    [...first.items, ...second.items].map(({ id }) => id),
    [5, 4, 3, 2],
  );
});

test('a device with an edge that is online stays; without one it goes, and the edge gets another when it comes back', async (t) => {
  const { ask, connect, deviceOf, fleet, house } = await deviceHouse(t);
  const id = await deviceOf(1);
  await connect(2, 1);
  const refused = await ask('DELETE', `/devices/${id}`);
  assert.deepEqual([refused.status, refused.body.error], [409, 'conflict']);
  assert.match(refused.body.message, /Edge 1 is online and watches device 1; stop its agent/);
  fleet.up.delete(1);
  assert.equal(
    (await ask('DELETE', `/devices/${id}`)).status,
    204,
    'an edge in conflict watches nothing',
  );
  assert.equal((await ask('GET', `/devices/${id}`)).status, 404);
  assert.equal((await ask('GET', `/devices/${id}/edges`)).status, 404);
  assert.deepEqual(
    await connect(1, 1),
    { status: 'bound', device_id: 2, created: true, resembles: [] },
    'ids are never used twice',
  );
  await house.reload('device');
  assert.equal((await ask('GET', '/devices/2')).body.hostname, 'host-1');
});

test('when a device was seen last is what the fleet knows, and without a fleet nobody is online', async (t) => {
  const { ask, deviceOf, fleet } = await deviceHouse(t);
  const id = await deviceOf(1);
  fleet.known.set(1, {
    name: 'e',
    status: 'online',
    agent_version: null,
    last_seen_at: Date.UTC(2040, 0),
  });
  assert.equal((await ask('GET', `/devices/${id}`)).body.last_seen_at, '2040-01-01T00:00:00.000Z');

  const alone = await deviceHouse(t, { plugins: ['device'], services: {} });
  await alone.deviceOf(1);
  const { body } = await alone.ask('GET', '/devices/1');
  assert.deepEqual([body.online, body.node_id], [false, null]);
  assert.equal((await alone.ask('DELETE', '/devices/1')).status, 204);
});
