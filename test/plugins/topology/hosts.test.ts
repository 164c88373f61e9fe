import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { deviceHouse, until } from '../device/house.ts';

test('every device has a host node by its id, which follows the device and leaves with it', async (t) => {
  const { ask, deviceOf, fleet } = await deviceHouse(t);
  const [one, two] = [
    await deviceOf(1, 1, { hostname: 'same' }),
    await deviceOf(2, 2, { hostname: 'same' }),
  ];
  const nodeOf = async (id: number): Promise<number | null> =>
    (await ask('GET', `/devices/${id}`)).body.node_id;
  await until(
    'both have a node',
    async () => (await nodeOf(one)) !== null && (await nodeOf(two)) !== null,
  );
  const id = (await nodeOf(one))!;
  assert.notEqual(id, await nodeOf(two), 'the same name is not the same machine');

  await ask('PATCH', `/devices/${one}`, { display_name: 'Web', tags: { env: 'prod' } });
  const shown = async () => (await ask('GET', `/topology/nodes/${id}`)).body;
  await until('the node is called so', async () => (await shown()).name === 'Web');
  const { type, tags, device_id: device } = await shown();
  assert.deepEqual([type, tags, device], ['host', { env: 'prod' }, one]);
  assert.deepEqual(
    (await ask('GET', '/topology/nodes?type=host&tag=env=prod')).body.items.map(
      (node: { id: number }) => node.id,
    ),
    [id],
  );

  assert.equal(
    (await ask('PATCH', `/topology/nodes/${id}`, { props: { location: 'cellar' } })).body.props
      .location,
    'cellar',
  );
  assert.match(
    (await ask('PATCH', `/topology/nodes/${id}`, { name: 'x' })).body.message,
    /is the host node of device 1, and takes its name and tags from it/,
  );
  assert.match(
    (await ask('DELETE', `/topology/nodes/${id}?cascade=true`)).body.message,
    /delete the device to delete its node, too/,
  );
  const { body: app } = await ask('POST', '/topology/nodes', { type: 'app', name: 'shop' });
  assert.equal(
    (await ask('POST', '/topology/relations', { type: 'runs_on', src_id: app.id, dst_id: id }))
      .status,
    201,
  );

  fleet.up.clear();
  assert.equal((await ask('DELETE', `/devices/${one}`)).status, 204);
  await until(
    'the node is gone',
    async () => (await ask('GET', `/topology/nodes/${id}`)).status === 404,
  );
  assert.equal((await ask('GET', `/topology/relations?node_id=${app.id}`)).body.total, 0);
});

test('what happened while the topology was away is made good when it comes back', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-topology-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const { house, ask, deviceOf, fleet } = await deviceHouse(t, { dataDir });
  const [gone, renamed] = [await deviceOf(1), await deviceOf(2)];
  const hosts = async () => (await ask('GET', '/topology/nodes?type=host')).body;
  await until('both are there', async () => (await hosts()).total === 2);
  await house.host.disable('topology');
  fleet.up.clear();
  await ask('DELETE', `/devices/${gone}`);
  await ask('PATCH', `/devices/${renamed}`, { display_name: 'Other' });
  const late = await deviceOf(3);
  await house.host.enable('topology');
  await until('the nodes are right', async () => {
    const { items } = await hosts();
    return (
      items?.length === 2 &&
      items[0].device_id === late &&
      items[1].device_id === renamed &&
      items[1].name === 'Other'
    );
  });
  await house.host.disable('device');
  assert.equal((await hosts()).total, 2, 'without the devices the nodes stay');
});
