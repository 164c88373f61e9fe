import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { DeviceDirectory } from 'svc/contracts/device';
import { EdgeFleet } from 'svc/contracts/edge';
import { Skills } from 'svc/contracts/skill';
import { startTestEdge } from 'svc/testing';

import { until } from '../edge/house.ts';
import { programsOf } from '../edge-skills/machine.ts';
import { agentHouse } from './house.ts';

test('an agent restarts a service on a real edge once a person has signed, and the edge has the last word', async (t) => {
  const programs = programsOf(t, { systemctl: `echo "$@" >> "$(dirname "$0")/args"; exit 0` });
  const restarts = (): readonly string[] => {
    const file = join(programs, 'args');
    return existsSync(file)
      ? readFileSync(file, 'utf8')
          .split('\n')
          .filter((line) => line.startsWith('restart'))
      : [];
  };
  let device = 0;
  let service = 'web';
  const kit = await agentHouse(t, {
    plugins: [
      'gate',
      'approval',
      'skill',
      'setting',
      'model',
      'chat',
      'edge',
      'device',
      'topology',
    ],
    rules: [
      {
        reply: ({ messages }) =>
          messages.at(-1)!.role === 'tool'
            ? { text: 'That is all.' }
            : {
                tool_calls: [
                  { name: 'service_restart', arguments: { service, device_id: device } },
                ],
              },
      },
    ],
  });
  const { body: made } = await kit.ask('operator', 'POST', '/edges', { name: 'far' });
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-edge-change-'));
  const { id, access_key, secret_key } = made as {
    id: number;
    access_key: string;
    secret_key: string;
  };
  writeFileSync(
    join(dataDir, 'edge.json'),
    JSON.stringify({
      manager: kit.house.url,
      tunnel_path: '/internal/tunnel',
      edge_id: id,
      name: 'far',
      access_key,
      secret_key,
    }),
    { mode: 0o600 },
  );
  writeFileSync(join(dataDir, 'policy.yaml'), 'skills:\n  services: [web]\n');
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  // As an agent does whose plugins begin one by one: it is there without skills, and at once again with them.
  const begun = await startTestEdge(t, { plugins: ['programs', 'edge-uplink'], dataDir });
  await until('the edge is there', () =>
    kit.house
      .service(EdgeFleet)
      .list()
      .find(({ status }) => status === 'online'),
  );
  await begun.stop();
  await startTestEdge(t, { plugins: ['programs', 'edge-uplink', 'edge-skills'], dataDir });
  device = await until('the edge has told which machine it watches', () =>
    kit.house.service(DeviceDirectory).deviceOf(id),
  );
  await until(
    'its skills are listed',
    () => kit.house.service(Skills).tool('service_restart') !== undefined,
  );

  const paused = await kit.send('Restart web there.');
  assert.deepEqual([paused.finish_reason, restarts()], ['approval', []], JSON.stringify(paused));
  const { body: approval } = await kit.ask('carl', 'GET', `/approvals/${paused.approvals[0]}`);
  assert.match(
    approval.rendered,
    new RegExp(`^service_restart service="web" on .+ \\(device ${device}\\)$`),
  );
  assert.equal(approval.target.id, device);
  assert.equal(
    (
      await kit.ask('carl', 'POST', `/approvals/${approval.id}/approve`, {
        args_sha256: approval.args_sha256,
      })
    ).status,
    200,
  );
  const end = await kit.ended(paused.run_id);
  assert.deepEqual(
    [end.tool_calls[0].status, restarts()],
    ['ok', ['restart --no-ask-password -- web.service']],
    JSON.stringify(end),
  );
  assert.equal((await kit.ask('carl', 'GET', `/approvals/${approval.id}`)).body.status, 'executed');

  // Signed here all the same, what the owner of the machine has not listed is not done.
  service = 'db';
  const second = await kit.send('Restart db there.', await kit.newSession());
  const { body: other } = await kit.ask('carl', 'GET', `/approvals/${second.approvals[0]}`);
  await kit.ask('carl', 'POST', `/approvals/${other.id}/approve`, {
    args_sha256: other.args_sha256,
  });
  await until(
    'the edge has refused it',
    async () => (await kit.ask('carl', 'GET', `/approvals/${other.id}`)).body.status === 'failed',
  );
  assert.equal(restarts().length, 1);
});
