import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { EdgeFleet } from 'svc/contracts/edge';
import type { TunnelSession } from 'svc/tunnel';

import { around, edgeHouse, freshMachine, type Keys, type simulator, until } from '../house.ts';

const count = 1_000;

test('a thousand edges come, are all asked, lose their manager without a word, and come back, with none of them offline', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-edge-thousand-'));
  writeFileSync(join(dataDir, 'svc.yaml'), 'edge:\n  handshakes_per_address: 100000\n');
  const first = await edgeHouse(t, { plugins: ['edge'], dataDir });
  const { body: enrolment } = await first.ask('POST', '/edges/enrolments', {
    name: 'hall',
    max_uses: count,
  });
  const machines: { keys: Keys & { edge_id: number }; uuid: string }[] = [];
  await inLots(Array.from({ length: count }), async (_, n) => {
    const uuid = freshMachine();
    const asked = {
      token: enrolment.token,
      machine_uuid: uuid,
      hostname: `host-${n}`,
      agent_version: 'v0.1.0',
      arch: 'x64',
      os: 'linux',
    };
    const { status, body, text } = await first.ask('POST', '/internal/edge/enrol', asked);
    assert.equal(status, 201, text);
    machines.push({ keys: body, uuid });
  });

  const sessions: TunnelSession[] = [];
  const comeTo = (simulate: ReturnType<typeof simulator>) =>
    inLots(machines, async ({ keys, uuid }) => {
      const { session } = await simulate(keys, {
        machine: uuid,
        methods: { who: { handle: () => keys.edge_id } },
      });
      sessions.push(session);
    });
  const askAll = async (fleet: EdgeFleet): Promise<void> => {
    const answers = await Promise.all(
      machines.map(({ keys: { edge_id: id } }) => fleet.call(id, 'who', {}, { timeoutMs: 60_000 })),
    );
    assert.deepEqual(
      answers,
      machines.map(({ keys }) => keys.edge_id),
    );
  };
  await comeTo(first.simulate);
  const before = first.house.service(EdgeFleet);
  assert.equal(before.online().size, count);
  assert.equal((await first.ask('GET', '/edges?status=online&limit=1')).body.total, count);
  await askAll(before);

  await first.house.stop();
  await until('all have noticed', () => sessions.every(({ live }) => !live));
  const second = await edgeHouse(t, { plugins: ['edge'], dataDir });
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const back = around(second.house);
  assert.equal(
    (await back.ask('GET', '/edges?status=online&limit=1')).body.total,
    count,
    'they are awaited',
  );
  await comeTo(second.simulate);
  const fleet = second.house.service(EdgeFleet);
  assert.equal(fleet.online().size, count);
  await askAll(fleet);
  assert.equal((await back.ask('GET', '/edges?status=offline')).body.total, 0);
});

/** Runs as many at a time as the manager lets authenticate. */
async function inLots<T>(
  items: readonly T[],
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < items.length; at += 100) {
    await Promise.all(items.slice(at, at + 100).map((item, index) => work(item, at + index)));
  }
}
