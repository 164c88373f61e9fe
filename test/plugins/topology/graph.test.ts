import assert from 'node:assert/strict';
import { test } from 'node:test';

import { topologyHouse } from './house.ts';

test('nodes are made, found by type, tag and name, changed with their ETag, and deleted', async (t) => {
  const { ask, node } = await topologyHouse(t);
  const a = await node('Shop', 'service', {
    tags: { env: 'prod', team: 'shop' },
    props: { owner: 'ann' },
  });
  const b = await node('shop-db', 'database', { tags: { env: 'prod' } });
  const c = await node('100%', 'app', { tags: { env: 'test' } });
  const found = async (query: string): Promise<number[]> => {
    const { status, body, text } = await ask('GET', `/nodes?${query}`);
    assert.equal(status, 200, text);
    return body.items.map(({ id }: { id: number }) => id);
  };
  assert.deepEqual(await found(''), [c, b, a]);
  assert.deepEqual(await found('type=database'), [b]);
  assert.deepEqual(await found('type=nothing'), []);
  assert.deepEqual(await found('tag=env'), [c, b, a]);
  assert.deepEqual(await found('tag=env%3Dprod'), [b, a]);
  assert.deepEqual(await found('tag=env=prod&tag=team'), [a]);
  assert.deepEqual(await found('q=SHOP'), [b, a]);
  assert.deepEqual(await found('q=%25'), [c]);
  const first = (await ask('GET', '/nodes?limit=1')).body;
  await node('later');
  assert.equal(
    (await ask('GET', `/nodes?limit=1&cursor=${first.next_cursor}`)).body.items[0].id,
    b,
  );

  const { etag, body } = await ask('GET', `/nodes/${a}`);
  assert.deepEqual(
    [body.name, body.props, body.tags, body.device_id],
    ['Shop', { owner: 'ann' }, { env: 'prod', team: 'shop' }, null],
  );
  const changed = await ask(
    'PATCH',
    `/nodes/${a}`,
    { name: 'Store', tags: { env: 'test' } },
    { 'if-match': etag },
  );
  assert.deepEqual(
    [changed.body.name, changed.body.tags, changed.body.props],
    ['Store', { env: 'test' }, { owner: 'ann' }],
    changed.text,
  );
  assert.equal(
    (await ask('PATCH', `/nodes/${a}`, { name: 'Late' }, { 'if-match': etag })).status,
    409,
  );
  assert.equal((await ask('DELETE', `/nodes/${a}`, undefined, { 'if-match': etag })).status, 409);
  assert.deepEqual(await found('tag=team'), []);
  assert.equal((await ask('DELETE', `/nodes/${a}`)).status, 204);
  for (const [method, body2] of [['GET'], ['PATCH', { name: 'x' }], ['DELETE']] as const) {
    assert.equal((await ask(method, `/nodes/${a}`, body2)).status, 404);
  }
  for (const wrong of [
    { name: 'x' },
    { type: 'nothing', name: 'x' },
    { type: 'app', name: ' ' },
    { type: 'app', name: 'x', device_id: 1 },
    { type: 'app', name: 'x', tags: { a: 1 } },
  ]) {
    assert.equal((await ask('POST', '/nodes', wrong)).status, 400, JSON.stringify(wrong));
  }
});

test('relations join two nodes that are there, once in each way and kind', async (t) => {
  const { ask, node, relation } = await topologyHouse(t);
  const [a, b, c] = [await node('a'), await node('b', 'database'), await node('c', 'cluster')];
  const ab = await relation(a, 'depends_on', b);
  const cb = await relation(c, 'connected_to', b);
  const wrong: readonly (readonly [object, number, RegExp])[] = [
    [{ type: 'nothing', src_id: a, dst_id: b }, 400, /type does not exist/],
    [{ type: 'runs_on', src_id: a, dst_id: a }, 400, /dst_id is the same node as src_id/],
    [
      { type: 'runs_on', src_id: a, dst_id: 999 },
      400,
      /dst_id does not exist: there is no node 999/,
    ],
    [{ type: 'runs_on', src_id: 999, dst_id: a }, 400, /there is no node 999/],
    [{ type: 'runs_on', src_id: a }, 400, /dst_id is required/],
    [
      { type: 'runs_on', src_id: a, dst_id: b, props: { text: 'x'.repeat(17_000) } },
      400,
      /props are longer than 16 KiB/,
    ],
    [{ type: 'depends_on', src_id: a, dst_id: b }, 409, /Relation \d+ already exists/],
  ];
  for (const [body, status, message] of wrong) {
    const answer = await ask('POST', '/relations', body);
    assert.equal(answer.status, status, answer.text);
    assert.match(answer.body.message, message);
  }
  const ba = await relation(b, 'depends_on', a);
  const found = async (query: string): Promise<number[]> =>
    (await ask('GET', `/relations?${query}`)).body.items.map(({ id }: { id: number }) => id);
  assert.deepEqual(await found(''), [ba, cb, ab]);
  assert.deepEqual(await found(`src_id=${a}`), [ab]);
  assert.deepEqual(await found(`dst_id=${b}`), [cb, ab]);
  assert.deepEqual(await found(`node_id=${a}`), [ba, ab]);
  assert.deepEqual(await found(`node_id=${b}&type=connected_to`), [cb]);

  const changed = await ask('PATCH', `/relations/${ab}`, {
    type: 'routes_to',
    props: { weight: 3 },
  });
  assert.deepEqual(
    [changed.status, changed.body.type, changed.body.props, changed.body.src_id],
    [200, 'routes_to', { weight: 3 }, a],
  );
  assert.equal((await ask('PATCH', `/relations/${ab}`, { props: {} })).body.type, 'routes_to');
  await relation(a, 'depends_on', b);
  assert.equal((await ask('PATCH', `/relations/${ab}`, { type: 'depends_on' })).status, 409);
  assert.equal((await ask('PATCH', `/relations/${ab}`, { type: 'nothing' })).status, 400);
  assert.equal(
    (await ask('PATCH', `/relations/${ab}`, { src_id: c })).status,
    400,
    'ends do not change',
  );

  const kept = await ask('DELETE', `/nodes/${b}`);
  assert.deepEqual(
    [kept.status, kept.body.message],
    [409, `Node ${b} (b) has relations: 4; delete them first, or use cascade=true.`],
  );
  assert.equal((await ask('DELETE', `/nodes/${b}?cascade=false`)).status, 409);
  assert.equal((await ask('DELETE', `/nodes/${b}?cascade=true`)).status, 204);
  assert.deepEqual(await found(''), []);
  assert.equal((await ask('GET', `/relations/${ab}`)).status, 404);
  assert.equal((await ask('DELETE', `/relations/${ab}`)).status, 404);
});
