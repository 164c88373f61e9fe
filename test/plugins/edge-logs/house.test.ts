import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import type { Parcel } from 'svc/contracts/edge-uplink';
import { Health } from 'svc/sdk';
import { startTestEdge } from 'svc/testing';

import { Machine, specOf } from './machine.ts';

test('in the house of an agent: a reload in the middle of writing loses no line and repeats none, and what cannot be shipped shows', async (t) => {
  const machine = new Machine(t);
  let spec = specOf({
    files: [{ paths: [machine.path('*.log')] }],
    rescan_seconds: 1,
    journal: { enabled: false },
  });
  let full = false;
  const edge = await startTestEdge(t, {
    plugins: ['edge-logs'],
    services: {
      'uplink.specs': { of: () => spec },
      'uplink.policy': { current: () => ({ logs: { paths: [`${machine.folder}/**`] } }) },
      'uplink.shipping': {
        async ship(parcel: Parcel) {
          if (full) {
            throw new Error('no room');
          }
          machine.parcels.push(parcel);
        },
      },
    },
  });
  let written = 0;
  const until = async (what: string, holds: () => boolean | Promise<boolean>): Promise<void> => {
    for (const deadline = Date.now() + 30_000; !(await holds()); await pause(20)) {
      assert.ok(Date.now() < deadline, `within 30 s: ${what}`);
      machine.append('a.log', `${++written}\n`);
    }
  };
  await until('it reads', () => machine.lines().length > 0);
  spec = specOf({ ...spec, files: [{ paths: [machine.path('*.log')], job: 'other' }] });
  await edge.reload('edge-logs');
  await until('the new generation reads', () =>
    machine.shipped.some(({ labels }) => labels['job'] === 'other'),
  );
  full = true;
  await until('it waits', async () =>
    (await edge.service(Health).check()).checks.some(
      ({ ok, detail }) => !ok && /reading is paused: no room/.test(detail ?? ''),
    ),
  );
  full = false;
  await until('it goes on', () => machine.lines().length >= written - 50);
  await edge.stop();
  assert.deepEqual(
    machine.lines(),
    Array.from({ length: machine.lines().length }, (_, i) => String(i + 1)),
  );
  assert.ok(!existsSync(join(edge.dataDir, 'plugins/edge-logs/reader')));
  assert.ok(edge.lines.some((line) => line.includes('log reading paused')));
});

test('an expression that is none keeps the plugin from coming up, and says so', async (t) => {
  const edge = await startTestEdge(t, {
    plugins: ['edge-logs'],
    services: {
      'uplink.specs': { of: () => specOf({ files: [{ multiline_start: '(' }] }) },
      'uplink.policy': { current: () => ({ logs: { paths: [] } }) },
      'uplink.shipping': { ship: () => Promise.resolve() },
    },
  });
  const { state, cause } = edge.host.explain('edge-logs');
  assert.equal(state, 'failed');
  assert.match(cause!, /multiline_start "\(" is not a valid RE2 expression/);
});
