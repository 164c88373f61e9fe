import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Skills } from 'svc/contracts/skill';

import { EdgeTools, type EdgeToolParts } from '../../../plugins/skill/edge-tools.ts';
import { until } from '../edge/house.ts';
import { skillHouse } from './house.ts';

/** Edges whose lists come or fail as the test says; what is to be done soon is done when the test says so. */
function edges() {
  const asked: number[] = [];
  const failing = new Set<number>();
  let isDue = false;
  const skill = {
    key: 'look',
    name: 'Look',
    description: 'Looks.',
    class: 'safe',
    scope: 'edge',
    tier: 'core',
    schema: {},
  };
  const skills = {
    list: async (id: number) => {
      asked.push(id);
      assert.ok(!failing.has(id), 'the tunnel has ended');
      return [skill];
    },
  };
  const up = (service: object) => ({ available: true, get: () => service });
  const log = { debug: () => undefined };
  const tools = new EdgeTools({
    skills: up(skills),
    fleet: up({}),
    log,
    soon: () => (isDue = true),
  } as unknown as EdgeToolParts);
  const soon = async (): Promise<void> => {
    while (isDue) {
      isDue = false;
      await tools.catchUp(AbortSignal.timeout(10_000));
    }
  };
  return { tools, asked, failing, soon, keys: () => tools.list().map(({ key }) => key) };
}

test('an edge whose list did not come is asked again a few times, and afresh with its next tunnel', async () => {
  const { tools, asked, failing, soon, keys } = edges();
  failing.add(1);
  tools.note(1);
  await soon();
  assert.deepEqual([asked, keys()], [[1, 1, 1], []]);
  failing.clear();
  tools.note(1);
  await soon();
  assert.deepEqual([asked.length, keys()], [4, ['look']]);
});

test('an edge that answers the second time is not asked a third time', async () => {
  const { tools, asked, failing, soon, keys } = edges();
  failing.add(2);
  tools.note(1);
  tools.note(2);
  await tools.catchUp(AbortSignal.timeout(10_000));
  failing.clear();
  await soon();
  assert.deepEqual([asked, keys()], [[1, 2, 2], ['look']]);
});

test('a tool of edges runs on devices that its caller sees; others are not there, by their own number and by that of their edge', async (t) => {
  const ran: number[] = [];
  const schema = { type: 'object' };
  const offered = {
    key: 'look',
    name: 'Look',
    description: 'Looks.',
    class: 'safe',
    scope: 'edge',
    tier: 'core',
    schema,
  };
  const { house, people, ask } = await skillHouse(t, {
    services: {
      // Edge 3 watches device 7 of acme, edge 4 device 8 of another customer.
      'device.directory': {
        get: async (id: number) =>
          id === 7 || id === 8 ? { id, display_name: `device-${id}`, tags: {} } : undefined,
        deviceOf: async (edge: number) => (edge === 3 || edge === 4 ? edge + 4 : undefined),
        onlineEdge: async (id: number) => id - 4,
      },
      'device.scopes': {
        of: async (selectors: string[]) => ({
          ids: new Set(selectors.includes('customer=acme') ? [7] : []),
          enforce: [],
        }),
      },
      'edge.fleet': {
        list: () => [{ id: 3, name: 'e', status: 'online' }],
        get: (id: number) => ({ id, device_id: id + 4 }),
      },
      'edge.skills': {
        list: async () => [offered],
        execute: async (edge: number) => {
          ran.push(edge);
          return {
            status: 'ok',
            result: 'seen',
            error: null,
            duration_ms: 1,
            execution_id: 'x',
            truncated: false,
            read_on: null,
          };
        },
      },
    },
  });
  await until('its skills are listed', () => house.service(Skills).tool('look') !== undefined);
  const look = async (where: object) =>
    (await ask('anna', 'POST', '/skills/look/execute', where)).body;
  assert.equal((await look({ device_id: 8 })).status, 'ok', 'who sees all devices');
  people.anna.selectors = ['customer=acme'];
  assert.deepEqual(
    [(await look({ device_id: 7 })).status, (await look({ edge_id: 3 })).status],
    ['ok', 'ok'],
  );
  assert.deepEqual(
    [(await look({ device_id: 8 })).message, (await look({ device_id: 9 })).message],
    ['There is no device 8.', 'There is no device 9.'],
  );
  assert.deepEqual(
    [(await look({ edge_id: 4 })).message, (await look({ edge_id: 5 })).message],
    ['Edge 4 has no device.', 'Edge 5 has no device.'],
  );
  assert.deepEqual(ran, [4, 3, 3]);
  const sample = await ask('anna', 'POST', '/skills/sample_safe/execute', {
    params: { host: 'db' },
  });
  assert.match(
    sample.body.message,
    /sample_safe cannot be limited to the devices of your organization/,
  );
  const { body: found } = await ask('anna', 'POST', '/skills/tool_search/execute', {
    params: { query: 'sample look' },
  });
  assert.deepEqual(
    found.result.tools.map(({ key }: { key: string }) => key),
    ['look', 'tool_search'],
    'what would be refused is not offered',
  );
});
