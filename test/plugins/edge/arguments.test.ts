import assert from 'node:assert/strict';
import { test } from 'node:test';

import { household } from '../../trust/household.ts';
import { simulator } from './house.ts';

const row = { pid: 1, ppid: 0, name: 'mysql', user: 'root', state: 'S', cpu_percent: 0, mem_percent: 0, rss_bytes: 1, started_at: null };
const cmdline = 'mysql --some-option-no-table-knows=hunter2';

test('a viewer sees the names of processes, and whoever holds edge:arguments their arguments', async (t) => {
  const { house, person, role, ask } = await household(t, { plugins: ['iam', 'session', 'edge', 'device'] });
  const made = await ask('POST', '/api/v1/edges', house.token, { name: 'e' });
  const simulate = simulator(t, house.url);
  const processes = { handle: () => ({ sampled_at: '2026-11-22T00:00:00.000Z', processes: [{ ...row, cmdline }] }) };
  await simulate(made.body, { methods: { processes } });
  await role('lines', ['edge:arguments']);
  const seen = async (token: string) => (await ask('GET', `/api/v1/edges/${made.body.id}/processes`, token)).body.processes[0].cmdline;
  const [vera, lina] = [await person('vera', 'viewer'), await person('lina', 'lines')];
  assert.deepEqual([await seen(vera.access), await seen(lina.access), await seen(house.token)], ['mysql', cmdline, cmdline]);
});
