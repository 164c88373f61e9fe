import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Skills } from 'svc/contracts/skill';

import { machine, simulator, until } from '../plugins/edge/house.ts';
import { areas, rowsOf } from './area.ts';
import { type Customer, twoCustomers, type TwoCustomers } from './two-customers.ts';

const changes: readonly (readonly [route: string, body?: object])[] = [
  ['PUT /api/v1/edges/{id}/plugins/hostmetrics', { enabled: false }],
  ['POST /api/v1/edges/{id}/upgrade', { url: 'https://example.org/agent', sha256: 'a'.repeat(64) }],
  ['POST /api/v1/edges/{id}/upgrade-package', { arch: 'arm64', version: 'v0.0.0' }],
  ['POST /api/v1/edges/{id}/resolve', {}],
  ['POST /api/v1/edges/{id}/rotate-secret', { immediate: true }],
  ['DELETE /api/v1/edges/{id}'],
];

const pairs = ({ acme, bravo }: TwoCustomers): readonly (readonly [Customer, Customer])[] => [
  [acme, bravo],
  [bravo, acme],
];

/** The edges of both, connected; each offers a tool of its own, and one that says on each whose it is. */
async function connected(t: Parameters<typeof twoCustomers>[0]): Promise<TwoCustomers> {
  const all = await twoCustomers(t);
  const { body: role } = await all.ask(
    'GET',
    '/api/v1/roles/everything-but-admin',
    all.house.token,
  );
  // Tools of machines are for who may look at devices.
  await all.role('everything-but-admin', [...role.grants, 'device:*']);
  const simulate = simulator(t, all.house.url);
  for (const [index, { name, edge }] of [all.acme, all.bravo].entries()) {
    const {
      status,
      body: keys,
      text,
    } = await all.ask('POST', `/api/v1/edges/${edge}/rotate-secret`, all.house.token, {});
    assert.equal(status, 200, text);
    const skill = (key: string) => ({
      key,
      name: `Look at ${name}`,
      description: `Looks at ${name}.`,
      class: 'safe',
      scope: 'edge',
      tier: 'core',
      schema: {},
    });
    const { session } = await simulate(keys, {
      machine: machine(index + 1),
      methods: {
        skill_list: { handle: () => ({ skills: [skill(`look_${name}`), skill('look_all')] }) },
        skill_execute: {
          handle: () => ({
            status: 'ok',
            result: `seen at ${name}`,
            error: null,
            duration_ms: 1,
            execution_id: 'x',
            truncated: false,
            read_on: null,
          }),
        },
        upgrade: { mutating: true, handle: () => ({}) },
      },
    });
    session.emit('host_info', { hostname: `${name}-host`, os: 'linux' });
  }
  const offered = (): readonly string[] =>
    all.house
      .service(Skills)
      .tools()
      .map(({ key }) => key);
  await until('both edges have told their tools', () =>
    ['look_acme', 'look_bravo', 'look_all'].every((key) => offered().includes(key)),
  );
  return all;
}

test('tools that edges offer are those of the edges that one sees, on every way to a list of tools', async (t) => {
  const all = await connected(t);
  const everybody = await all.ask('GET', '/api/v1/skills?q=look_&limit=100', all.house.token);
  assert.equal(everybody.body.total, 3);
  for (const [own, other] of pairs(all)) {
    const tool = (key: string, body: object) =>
      own.ask('POST', `/api/v1/skills/${key}/execute`, body);
    const rpc = (method: string, params: object) =>
      own.ask('POST', '/mcp', { jsonrpc: '2.0', id: 1, method, params });
    for (const { text } of [
      await own.ask('GET', '/api/v1/skills?limit=200'),
      await own.ask('GET', '/api/v1/skills/look_all'),
      await own.ask('GET', `/api/v1/skills/look_${own.name}`),
      await tool('tool_search', { params: { select: ['look_all'] } }),
      await rpc('tools/list', {}),
      await tool('look_all', { device_id: own.device }),
    ]) {
      assert.ok(text.includes(own.name) && !text.includes(other.name), text.slice(0, 2_000));
    }
    const { body } = await own.ask('GET', '/api/v1/skills?q=look_&limit=100');
    assert.equal(body.total, 2);
    const words = async (key: string): Promise<string> => {
      const answers = [
        await own.ask('GET', `/api/v1/skills/${key}`),
        await tool(key, { device_id: own.device }),
        await tool(key, { device_id: other.device }),
        await tool('tool_search', { params: { select: [key] } }),
        await rpc('tools/call', { name: key, arguments: { device_id: own.device } }),
      ];
      const said = answers.map(
        (answer) => `${answer.status} ${answer.body.message ?? JSON.stringify(answer.body.result)}`,
      );
      return said.join('\n').replaceAll(key, '#');
    };
    // As near to what there is.
    assert.equal(
      await words(`look_${other.name}`),
      await words(`look_${other.name.slice(0, -1)}x`),
    );
  }
});

test('edges of devices that one sees are changed, and others are edges that never were', async (t) => {
  const all = await connected(t);
  const narrowed = rowsOf('edge', (await areas()).all.get('edge')!).filter(
    ({ stance, method }) => stance === 'narrowed' && method !== 'GET',
  );
  assert.deepEqual(
    narrowed
      .map(({ method, path }) => `${method} ${path}`.replace('{name}', 'hostmetrics'))
      .toSorted(),
    changes.map(([route]) => route).toSorted(),
    'each narrowed route that changes an edge is asked here',
  );
  const told = async (own: Customer, route: string, id: number, body: object | undefined) => {
    const [method = '', path = ''] = route.split(' ');
    const answer = await own.ask(method, path.replace('{id}', String(id)), body);
    return {
      ...answer,
      words: `${answer.status} ${answer.body?.message}`.replaceAll(String(id), '#'),
    };
  };
  for (const [own, other] of pairs(all)) {
    for (const [route, body] of changes) {
      const foreign = await told(own, route, other.edge, body);
      assert.deepEqual(
        [foreign.status, foreign.words],
        [404, (await told(own, route, 999_999, body)).words],
        route,
      );
    }
    assert.equal(
      (await all.ask('GET', `/api/v1/edges/${other.edge}`, all.house.token)).body.status,
      'online',
    );
  }
  for (const [own] of pairs(all)) {
    const counts = await own.ask('GET', '/api/v1/integrations/plugin-counts');
    const ofHosts = counts.body.plugins.find(
      ({ name }: { name: string }) => name === 'hostmetrics',
    );
    assert.deepEqual([ofHosts.enabled, ofHosts.disabled], [1, 0], counts.text);
    const statuses: number[] = [];
    for (const [route, body] of changes) {
      statuses.push((await told(own, route, own.edge, body)).status);
    }
    // An upgrade is under way by then, there is no such package, and no conflict.
    assert.deepEqual(statuses, [200, 202, 404, 409, 200, 204]);
    assert.equal((await own.ask('GET', '/api/v1/edges')).body.total, 0);
    assert.equal(
      (await own.ask('GET', `/api/v1/devices/${own.device}`)).status,
      200,
      'its device stays',
    );
    const { body: trail } = await all.ask(
      'GET',
      `/api/v1/admin/audit-logs?limit=200`,
      all.house.token,
    );
    assert.ok(
      trail.items.some(
        ({ action, status }: { action: string; status: string }) =>
          action === 'edge:delete' && status === 'success',
      ),
    );
  }
});
