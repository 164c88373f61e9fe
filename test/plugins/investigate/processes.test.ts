import assert from 'node:assert/strict';
import { test } from 'node:test';

import { HandClock, minute } from '../alert/engine-house.ts';
import { type Fault, hot, investigateHouse } from './house.ts';

/** An agent on host 3 whose process table is this, and that is asked for nothing else. */
const fleetOf = (processes: () => unknown) => ({
  online: () => new Set([7]),
  present: () => new Set([7]),
  list: () => [{ id: 7, name: 'host-3', status: 'online', agent_version: null, device_id: 3 }],
  get: () => undefined,
  capabilities: () => ({ methods: ['process_history'], streams: [], webshell: false }),
  call: async () => ({ processes: processes() }),
  openStream: () => assert.fail('nobody opens a stream'),
});

test('a host without processor is answered with the process that takes it, its user and since when', async (t) => {
  const clock = new HandClock();
  let began = Infinity;
  const busy = (from: number, cpu: (at: number) => number) =>
    Array.from({ length: 60 }, (_, at) => clock.now() - (59 - at) * minute)
      .filter((at) => at >= from)
      .map((at) => [at, cpu(at), 1e6, 0]);
  const house = await investigateHouse(t, {
    hosts: 3,
    clock,
    services: {
      'edge.fleet': fleetOf(() => [
        { pid: 1, name: 'postgres', user: 'postgres', started_at: 1, uses: busy(0, () => 12) },
        {
          pid: 4711,
          name: 'yes\u202E',
          user: 'ann',
          started_at: began,
          uses: busy(began, () => 99.4),
        },
        { pid: 'x', name: 3, uses: 'no table' },
      ]),
    },
  });
  const burning: Fault = (device, at, usual) => {
    began = Math.min(began, clock.now());
    return hot(3)(device, at, usual);
  };
  await house.rule({
    rule_key: 'cpu_hot',
    conditions: [{ expr: 'node_cpu_usage_percent > 90' }],
  });
  const { summary, verdict, hypotheses, markdown } = await house.report(
    await house.fired('cpu_hot', burning),
  );
  const since = new Date(began).toISOString().slice(11, 16);
  const said = `yes? (PID 4711, user ann) has used 99.4 % of a core since ${since} UTC`;
  assert.ok(['root_cause', 'suspected'].includes(verdict ?? ''), summary);
  assert.ok(summary.includes(said), summary);
  assert.ok(markdown.includes('user ann'), markdown);
  assert.ok(
    hypotheses[0]!.support.some(({ kind, text }) => kind === 'doc' && text === said),
    JSON.stringify(hypotheses[0]),
  );
});
