import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import { Skills } from 'svc/contracts/skill';

import { until } from '../edge/house.ts';
import { type AgentHouse, agentHouse, turns } from './house.ts';

const hourMs = 3_600_000;

interface Away extends AgentHouse {
  readonly clock: { ahead: number };
  readonly edge: { online: boolean; readonly asked: object[] };
  approvalOf(id: string): Promise<Record<string, string>>;
  sign(id: string): Promise<void>;
}

/** A device whose edge comes and goes as a test says, and offers one change; who asks and who signs are real. */
async function awayHouse(t: Pick<TestContext, 'after'>): Promise<Away> {
  const clock = { ahead: 0 };
  const edge = { online: true, asked: [] as object[] };
  const offered = {
    key: 'service_restart',
    name: 'Restart',
    description: 'Restarts a service.',
    class: 'mutating',
    scope: 'edge',
    tier: 'core',
  };
  const schema = {
    type: 'object',
    properties: { service: { type: 'string' } },
    required: ['service'],
  };
  const kit = await agentHouse(t, {
    rules: turns([['service_restart', { service: 'web', device_id: 7 }]], 'That is all.'),
    clock: { now: () => Date.now() + clock.ahead, monotonic: () => performance.now() },
    services: {
      'device.directory': {
        get: async (id: number) => (id === 7 ? { id, display_name: 'far', tags: {} } : undefined),
        deviceOf: async () => 7,
        onlineEdge: async () => (edge.online ? 3 : undefined),
      },
      'edge.fleet': { list: () => [{ id: 3, name: 'far', status: 'online' }] },
      'edge.skills': {
        list: async () => [{ ...offered, schema }],
        execute: async (_edge: number, _key: string, params: object) => {
          edge.asked.push(params);
          return {
            status: 'ok',
            result: 'restarted',
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
  await until(
    'its skills are listed',
    () => kit.house.service(Skills).tool('service_restart') !== undefined,
  );
  const approvalOf = async (id: string) =>
    (await kit.ask('carl', 'GET', `/approvals/${id}`)).body as Record<string, string>;
  return Object.assign(kit, {
    clock,
    edge,
    approvalOf,
    async sign(id: string) {
      const { args_sha256 } = await approvalOf(id);
      assert.equal(
        (await kit.ask('carl', 'POST', `/approvals/${id}/approve`, { args_sha256 })).status,
        200,
      );
    },
  });
}

/** Longer than whatever looks for runs that may go on. */
const looked = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 300));

test('what is approved while its device is away waits, and runs once it is back', async (t) => {
  const kit = await awayHouse(t);
  const paused = await kit.send('Restart web there.');
  const id = paused.approvals[0] as string;
  kit.edge.online = false;
  await kit.sign(id);
  await looked();
  await kit.house.reload('chat');
  await kit.house.reload('approval');
  await looked();
  const run = (await kit.ask('anna', 'GET', `/chat/sessions/${kit.session}/runs/${paused.run_id}`))
    .body;
  assert.deepEqual(
    [run.finish_reason, (await kit.approvalOf(id))['status'], kit.edge.asked],
    ['approval', 'approved', []],
  );

  kit.edge.online = true;
  // A reload looks at once; else it is a matter of seconds.
  await kit.house.reload('chat');
  const end = await kit.ended(paused.run_id);
  assert.deepEqual(
    [end.message, end.tool_calls[0].status, kit.edge.asked],
    ['That is all.', 'ok', [{ service: 'web' }]],
  );
  assert.equal((await kit.approvalOf(id))['status'], 'executed');
});

test('what is approved for a device that stays away ends as expired, and is not run when it comes back after all', async (t) => {
  const kit = await awayHouse(t);
  const paused = await kit.send('Restart web there.');
  const id = paused.approvals[0] as string;
  kit.edge.online = false;
  await kit.sign(id);
  const byHand = await kit.ask('token of anna', 'POST', '/skills/service_restart/execute', {
    params: { service: 'db' },
    device_id: 7,
  });
  assert.equal(byHand.status, 202, JSON.stringify(byHand.body));
  await kit.sign(byHand.body.approval_id);
  await looked();
  assert.deepEqual(
    [
      (await kit.approvalOf(id))['status'],
      (await kit.approvalOf(byHand.body.approval_id))['status'],
    ],
    ['approved', 'approved'],
  );

  kit.clock.ahead += hourMs;
  await kit.house.reload('approval');
  const end = await kit.ended(paused.run_id);
  assert.deepEqual(
    [end.finish_reason, end.message, end.tool_calls[0].status],
    ['stop', 'That is all.', 'denied'],
  );
  assert.match(end.tool_calls[0].result_preview, /expired: not signed, or not begun, in time/);
  kit.edge.online = true;
  await kit.house.reload('approval');
  await kit.house.reload('skill');
  await kit.house.reload('chat');
  await looked();
  for (const each of [id, byHand.body.approval_id]) {
    assert.equal((await kit.approvalOf(each))['status'], 'expired');
  }
  assert.deepEqual(kit.edge.asked, []);
});
