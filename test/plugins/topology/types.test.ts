import assert from 'node:assert/strict';
import { test } from 'node:test';

import { useNoLeaks } from 'svc/testing';

import { topologyHouse } from './house.ts';

test('the types that everybody needs are there, and stay', async (t) => {
  const { house, ask } = await topologyHouse(t);
  useNoLeaks(t, house);
  const { body: nodeTypes } = await ask('GET', '/node-types');
  assert.deepEqual(
    nodeTypes.items.map(({ name, tier, builtin }: Record<string, unknown>) => [
      name,
      tier,
      builtin,
    ]),
    [
      ['app', 'application', true],
      ['cluster', 'infrastructure', true],
      ['database', 'data', true],
      ['host', 'infrastructure', true],
      ['queue', 'data', true],
      ['rack', 'facility', true],
      ['service', 'business', true],
    ],
  );
  assert.deepEqual(
    (await ask('GET', '/node-types?tier=data')).body.items.map(
      ({ name }: { name: string }) => name,
    ),
    ['database', 'queue'],
  );
  const { body: relationTypes } = await ask('GET', '/relation-types');
  assert.deepEqual(
    relationTypes.items.map(({ name, direction, propagates_failure }: Record<string, unknown>) => [
      name,
      direction,
      propagates_failure,
    ]),
    [
      ['connected_to', 'bidirectional', false],
      ['depends_on', 'dst_to_src', true],
      ['member_of', 'dst_to_src', true],
      ['monitors', 'src_to_dst', false],
      ['replicates_to', 'src_to_dst', true],
      ['routes_to', 'dst_to_src', true],
      ['runs_on', 'dst_to_src', true],
      ['served_by', 'dst_to_src', true],
    ],
  );
  assert.equal((await ask('GET', '/relation-types/runs_on')).body.display_name, 'Runs on');
  for (const path of ['/node-types/host', '/relation-types/runs_on']) {
    const { status, body } = await ask('DELETE', path);
    assert.deepEqual([status, body.error], [409, 'conflict']);
    assert.match(body.message, /is built in and cannot be deleted/);
  }
  const page = (await ask('GET', '/relation-types?limit=3')).body;
  assert.deepEqual(
    [
      page.total,
      (await ask('GET', `/relation-types?limit=1&cursor=${page.next_cursor}`)).body.items[0].name,
    ],
    [8, 'monitors'],
  );
});

test('a type of one’s own is made once, used, and deleted when nothing is of it any more', async (t) => {
  const { ask, node, relation } = await topologyHouse(t);
  const made = await ask('POST', '/node-types', { name: 'printer' });
  assert.deepEqual(
    [made.status, made.body],
    [201, { name: 'printer', display_name: 'printer', schema: {}, tier: 'custom', builtin: false }],
  );
  assert.deepEqual(
    (await ask('POST', '/relation-types', { name: 'feeds', direction: 'src_to_dst' })).body,
    {
      name: 'feeds',
      display_name: 'feeds',
      direction: 'src_to_dst',
      propagates_failure: true,
      builtin: false,
    },
  );
  assert.equal((await ask('POST', '/node-types', { name: 'printer' })).status, 409);
  assert.equal(
    (await ask('POST', '/relation-types', { name: 'feeds', direction: 'dst_to_src' })).status,
    409,
  );
  const [a, b] = [await node('a', 'printer'), await node('b', 'printer')];
  const id = await relation(a, 'feeds', b);
  assert.match(
    (await ask('DELETE', '/node-types/printer')).body.message,
    /printer is in use by these nodes: 2/,
  );
  assert.match(
    (await ask('DELETE', '/relation-types/feeds')).body.message,
    /feeds is in use by these relations: 1/,
  );
  assert.equal((await ask('DELETE', `/relations/${id}`)).status, 204);
  assert.equal((await ask('DELETE', `/nodes/${a}`)).status, 204);
  assert.equal((await ask('DELETE', `/nodes/${b}`)).status, 204);
  assert.equal((await ask('DELETE', '/node-types/printer')).status, 204);
  assert.equal((await ask('DELETE', '/relation-types/feeds')).status, 204);
  for (const path of ['/node-types/printer', '/relation-types/feeds']) {
    assert.deepEqual(
      [(await ask('GET', path)).status, (await ask('DELETE', path)).status],
      [404, 404],
    );
  }
  for (const [path, body] of [
    ['/node-types', { name: 'Printer' }],
    ['/node-types', { name: 'x', builtin: true }],
    ['/relation-types', { name: 'x' }],
    ['/relation-types', { name: 'x', direction: 'up' }],
  ] as const) {
    assert.equal((await ask('POST', path, body)).status, 400, JSON.stringify(body));
  }
});

test('props fit the schema of their type at all times, and a refusal names the field', async (t) => {
  const { ask, node } = await topologyHouse(t);
  const schema = {
    type: 'object',
    required: ['serial'],
    additionalProperties: false,
    properties: {
      serial: { type: 'string', pattern: '^[A-Z]{2}\\d+$' },
      state: { enum: ['new', 'used'] },
      address: { type: 'string', format: 'ipv4' },
      slots: {
        type: 'array',
        maxItems: 2,
        items: { type: 'object', properties: { n: { type: 'integer' } } },
      },
    },
  };
  assert.equal((await ask('POST', '/node-types', { name: 'switch', schema })).status, 201);
  assert.deepEqual((await ask('GET', '/node-types/switch')).body.schema, schema);
  const id = await node('s1', 'switch', { props: { serial: 'AB12', address: '10.0.0.1' } });
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{}, /serial/],
    [{ serial: 'ab12' }, /props\.serial must match pattern/],
    [{ serial: 'AB1', state: 's3cr3t' }, /props\.state .*: new, used/],
    [{ serial: 'AB1', address: '10.0.0.256' }, /props\.address must match format "ipv4"/],
    [{ serial: 'AB1', colour: 1 }, /additional properties: colour/],
    [{ serial: 'AB1', slots: [{ n: 1 }, { n: 'x' }] }, /props\.slots\.1\.n must be integer/],
    [{ serial: `AB${'1'.repeat(20_000)}` }, /longer than 16 KiB/],
  ];
  for (const [props, message] of wrong) {
    for (const answer of [
      await ask('POST', '/nodes', { type: 'switch', name: 'x', props }),
      await ask('PATCH', `/nodes/${id}`, { props }),
    ]) {
      assert.deepEqual(
        [answer.status, answer.body.error],
        [400, 'invalid_argument'],
        JSON.stringify(props).slice(0, 100),
      );
      assert.match(answer.body.message, message);
      assert.ok(!answer.text.includes('s3cr3t') && answer.body.details.length > 0);
    }
  }
  assert.deepEqual(
    (await ask('PATCH', `/nodes/${id}`, { props: { serial: 'ZZ9', state: 'used' } })).body.props,
    { serial: 'ZZ9', state: 'used' },
  );
  assert.equal(
    (await ask('POST', '/nodes', { type: 'database', name: 'd', props: { port: 70_000 } })).status,
    400,
    'seeded types have schemas, too',
  );
});

test('a schema that could not be compiled or run safely is refused with the place', async (t) => {
  const { ask, node } = await topologyHouse(t);
  const nested = (depth: number): object =>
    depth === 0 ? {} : { properties: { a: nested(depth - 1) } };
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ $ref: 'http://169.254.169.254/x.json' }, /schema\.\$ref is not supported/],
    [{ properties: { a: { $ref: '#' } } }, /schema\.properties\.a\.\$ref is not supported/],
    [{ $id: 'x' }, /is not supported/],
    [{ definitions: {} }, /definitions is not a supported keyword/],
    [{ type: 'string' }, /schema\.type must be object/],
    [{ type: 'nothing' }, /schema\.type must be object/],
    [{ properties: { a: { type: 'nothing' } } }, /is no JSON Schema/],
    [{ properties: [] }, /schema\.properties must be schemas by name/],
    [{ anyOf: {} }, /schema\.anyOf must be a list of schemas/],
    [{ properties: { a: 1 } }, /schema\.properties\.a is not a schema/],
    [{ $schema: 'https://json-schema.org/draft/2020-12/schema' }, /schema\.\$schema must be/],
    [{ properties: { a: { pattern: '(?=x)' } } }, /is no JSON Schema/],
    [{ properties: { a: { pattern: 'x'.repeat(301) } } }, /pattern has more than 300 characters/],
    [{ properties: { a: { format: 'regex' } } }, /is no JSON Schema: unknown format/],
    [nested(8), /is more than 8 levels deep/],
    [
      { properties: Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`p${n}`, {}])) },
      /more than 300 parts/,
    ],
    [{ description: 'x'.repeat(17_000) }, /longer than 16 KiB/],
  ];
  for (const [schema, message] of wrong) {
    const { status, body } = await ask('POST', '/node-types', { name: 'bad', schema });
    assert.equal(status, 400, JSON.stringify(schema).slice(0, 100));
    assert.match(body.message, message);
  }
  assert.equal((await ask('POST', '/node-types', { name: 'deep', schema: nested(7) })).status, 201);
  assert.equal(
    (
      await ask('POST', '/node-types', {
        name: 'named',
        schema: { properties: { $ref: { type: 'integer' } } },
      })
    ).status,
    201,
    'a field may be called anything',
  );
  await node('x', 'named', { props: { $ref: 7 } });
  assert.equal(
    (
      await ask('POST', '/node-types', {
        name: 'slow',
        schema: { properties: { a: { pattern: '^(a+)+$' } } },
      })
    ).status,
    201,
  );
  assert.equal(
    (
      await ask('POST', '/nodes', {
        type: 'slow',
        name: 'x',
        props: { a: `${'a'.repeat(10_000)}!` },
      })
    ).status,
    400,
    'and no pattern stalls anybody',
  );
});
