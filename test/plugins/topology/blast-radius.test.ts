import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';
import { TopologyGraph } from 'svc/contracts/topology';

import { beside } from '../../kit/beside.ts';
import { topologyHouse } from './house.ts';

test('what fails with a node follows the direction of each kind of relation, and no further than asked', async (t) => {
  const { ask, node, relation } = await topologyHouse(t);
  const [host, db, replica, app, service, probe, peer] = [
    await node('host', 'host'),
    await node('db', 'database'),
    await node('replica', 'database'),
    await node('app'),
    await node('shop', 'service'),
    await node('probe'),
    await node('peer', 'host'),
  ];
  const onHost = await relation(db, 'runs_on', host);
  const replicates = await relation(db, 'replicates_to', replica);
  const depends = await relation(app, 'depends_on', db);
  await relation(service, 'served_by', app);
  await relation(probe, 'monitors', host);
  await relation(host, 'connected_to', peer);
  // In a circle.
  await relation(db, 'depends_on', service);

  const { body } = await ask('GET', `/nodes/${host}/blast-radius?depth=2`);
  assert.deepEqual([body.node.name, body.depth, body.complete], ['host', 2, false]);
  assert.deepEqual(
    body.reached.map(
      ({
        node: { name },
        distance,
        via,
      }: {
        node: { name: string };
        distance: number;
        via: object;
      }) => [name, distance, via],
    ),
    [
      ['db', 1, { relation_id: onHost, type: 'runs_on', from_node_id: host }],
      ['replica', 2, { relation_id: replicates, type: 'replicates_to', from_node_id: db }],
      ['app', 2, { relation_id: depends, type: 'depends_on', from_node_id: db }],
    ],
  );
  const usual = (await ask('GET', `/nodes/${host}/blast-radius`)).body;
  assert.deepEqual(
    [
      usual.depth,
      usual.complete,
      usual.reached.map(({ node: { name } }: { node: { name: string } }) => name),
    ],
    [3, true, ['db', 'replica', 'app', 'shop']],
  );
  assert.deepEqual(
    (await ask('GET', `/nodes/${replica}/blast-radius`)).body.reached,
    [],
    'a replica takes nobody along',
  );
  for (const depth of ['0', '11', 'x']) {
    assert.equal((await ask('GET', `/nodes/${host}/blast-radius?depth=${depth}`)).status, 400);
  }
  assert.equal((await ask('GET', '/nodes/999/blast-radius')).status, 404);
});

test('what is around a node is found in both directions, each relation turned so that its cause is named, as far and as much as asked', async (t) => {
  const { house, node, relation } = await topologyHouse(t);
  const [host, db, app, far, probe] = [
    await node('host', 'host'),
    await node('db', 'database'),
    await node('app'),
    await node('far'),
    await node('probe'),
  ];
  await relation(db, 'runs_on', host);
  await relation(app, 'depends_on', db);
  await relation(far, 'depends_on', app);
  await relation(probe, 'monitors', db);
  const graph = house.service(TopologyGraph);
  const { nodes, relations, complete } = await graph.neighbourhood(
    { names: ['db'], depth: 1 },
    undefined,
  );
  assert.deepEqual(
    nodes.map(({ name, distance }) => [name, distance]),
    [
      ['db', 0],
      ['host', 1],
      ['app', 1],
    ],
  );
  assert.deepEqual(
    relations.map(({ type, cause_id: cause, effect_id: effect }) => [type, cause, effect]),
    [
      ['runs_on', host, db],
      ['depends_on', db, app],
    ],
  );
  assert.equal(complete, true);
  assert.equal(
    (await graph.neighbourhood({ node_ids: [host], depth: 3 }, undefined)).nodes.length,
    4,
  );
  const few = await graph.neighbourhood({ node_ids: [host], depth: 3, most: 2 }, undefined);
  assert.deepEqual([few.nodes.length, few.complete], [2, false]);
  assert.deepEqual(
    (await graph.neighbourhood({ device_ids: [99], depth: 3 }, undefined)).nodes,
    [],
  );
});

test('the blast radius is what a walk along every way says, in any graph', async (t) => {
  const { house, ask, node } = await topologyHouse(t);
  const kinds = [
    { name: 'down', direction: 'src_to_dst', propagates_failure: true },
    { name: 'up', direction: 'dst_to_src', propagates_failure: true },
    { name: 'both', direction: 'bidirectional', propagates_failure: true },
    { name: 'none', direction: 'bidirectional', propagates_failure: false },
  ] as const;
  for (const kind of kinds) {
    assert.equal((await ask('POST', '/relation-types', kind)).status, 201);
  }
  const graph = house.service(TopologyGraph);
  const size = 7;
  const ids: number[] = [];
  for (let n = 0; n < size; n += 1) {
    ids.push(await node(`n${n}`));
  }
  const end = fc.integer({ min: 0, max: size - 1 });
  const edge = fc.record({ src: end, dst: end, kind: fc.constantFrom(...kinds) });
  const edges = fc.uniqueArray(edge, {
    minLength: 4,
    maxLength: 14,
    selector: ({ src, dst, kind }) => `${src} ${kind.name} ${dst}`,
  });

  await fc.assert(
    fc.asyncProperty(edges, end, fc.integer({ min: 1, max: 5 }), async (drawn, root, depth) => {
      const there: number[] = [];
      const ways: (readonly [number, number])[] = [];
      for (const { src, dst, kind } of drawn.filter((one) => one.src !== one.dst)) {
        const { body, status } = await ask('POST', '/relations', {
          type: kind.name,
          src_id: ids[src],
          dst_id: ids[dst],
        });
        assert.equal(status, 201);
        there.push(body.id);
        if (kind.propagates_failure) {
          ways.push(
            ...(kind.direction !== 'dst_to_src' ? [[ids[src]!, ids[dst]!] as const] : []),
            ...(kind.direction !== 'src_to_dst' ? [[ids[dst]!, ids[src]!] as const] : []),
          );
        }
      }
      try {
        const distances = everyWay(ids[root]!, ways);
        const { reached, complete } = await graph.blastRadius(ids[root]!, depth);
        const expected = [...distances].filter(
          ([, distance]) => distance >= 1 && distance <= depth,
        );
        assert.deepEqual(
          new Map(reached.map(({ node_id, distance }) => [node_id, distance])),
          new Map(expected),
        );
        assert.equal(complete, expected.length === distances.size - 1);
        for (const { node_id: id, distance, via } of reached) {
          assert.equal(
            distances.get(via.from_node_id),
            distance - 1,
            'it comes from a node that is one step nearer',
          );
          assert.ok(ways.some(([from, to]) => from === via.from_node_id && to === id));
        }
      } finally {
        for (const id of there) {
          await ask('DELETE', `/relations/${id}`);
        }
      }
    }),
    { numRuns: 30 },
  );
});

test('a radius of very many nodes is cut off, and says so', async (t) => {
  const { house, ask, node } = await topologyHouse(t);
  const centre = await node('centre', 'database');
  await beside(house.dataDir, (database) =>
    database.exec(`
    with recursive n(i) as (values (1) union all select i + 1 from n where i < 1001)
    insert into topology_nodes (type, name, props, tags, created_at, updated_at) select 'app', 'app ' || i, '{}', '{}', 1, 1 from n;
    insert into topology_relations (type, src_id, dst_id, props, created_at) select 'depends_on', id, ${centre}, '{}', 1 from topology_nodes where type = 'app'`),
  );
  const { body } = await ask('GET', `/nodes/${centre}/blast-radius?depth=1`);
  assert.deepEqual([body.reached.length, body.complete], [1_000, false]);
});

/**
 * Computes distances by relaxing every edge as often as there are nodes; the slow and certain
 * method.
 */
function everyWay(root: number, ways: readonly (readonly [number, number])[]): Map<number, number> {
  const distances = new Map([[root, 0]]);
  for (let round = 0; round < 10; round += 1) {
    for (const [from, to] of ways) {
      const distance = (distances.get(from) ?? Infinity) + 1;
      if (distance < (distances.get(to) ?? Infinity)) {
        distances.set(to, distance);
      }
    }
  }
  return distances;
}
