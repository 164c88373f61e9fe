import assert from 'node:assert/strict';
import { test } from 'node:test';

import { household } from '../../trust/household.ts';
import { machine, simulator } from './house.ts';

const row = {
  pid: 1,
  ppid: 0,
  name: 'mysql',
  user: 'root',
  state: 'S',
  cpu_percent: 0,
  mem_percent: 0,
  rss_bytes: 1,
  started_at: null,
};
const cmdline = 'mysql --some-option-no-table-knows=hunter2';

test('a viewer sees the names of processes, and whoever holds edge:arguments their arguments', async (t) => {
  const { house, person, role, ask } = await household(t, {
    plugins: ['iam', 'session', 'edge', 'device'],
  });
  const made = await ask('POST', '/api/v1/edges', house.token, { name: 'e' });
  const simulate = simulator(t, house.url);
  const processes = {
    handle: () => ({ sampled_at: '2026-11-22T00:00:00.000Z', processes: [{ ...row, cmdline }] }),
  };
  await simulate(made.body, { methods: { processes } });
  await role('lines', ['edge:arguments']);
  const seen = async (token: string) =>
    (await ask('GET', `/api/v1/edges/${made.body.id}/processes`, token)).body.processes[0].cmdline;
  const [vera, lina] = [await person('vera', 'viewer'), await person('lina', 'lines')];
  assert.deepEqual(
    [await seen(vera.access), await seen(lina.access), await seen(house.token)],
    ['mysql', cmdline, cmdline],
  );
});

test('the identities of machines are for those who tell them apart', async (t) => {
  const { house, person, role, ask } = await household(t, {
    plugins: ['iam', 'session', 'edge', 'device'],
  });
  const made = await ask('POST', '/api/v1/edges', house.token, { name: 'e' });
  const { session } = await simulator(t, house.url)(made.body, { machine: machine(1) });
  await session.call(
    'tell',
    { event: 'host_info', payload: { hostname: 'h' } },
    { timeoutMs: 10_000 },
  );
  await role('acceptors', ['device:accept']);
  const seen = async (token: string) =>
    (await ask('GET', '/api/v1/devices/1/edges', token)).body.items[0].machine_uuid;
  const [vera, alan] = [await person('vera', 'viewer'), await person('alan', 'acceptors')];
  assert.deepEqual(
    [await seen(vera.access), await seen(alan.access), await seen(house.token)],
    [null, machine(1), machine(1)],
  );
  const everything = await Promise.all(
    ['/devices', '/devices/1', '/edges', `/edges/${made.body.id}`].map((path) =>
      ask('GET', `/api/v1${path}`, vera.access),
    ),
  );
  everything.forEach(({ text }) => assert.doesNotMatch(text, new RegExp(machine(1))));
});
