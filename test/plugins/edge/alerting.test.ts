import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { AlertEvaluator } from 'svc/contracts/alert';
import { EdgeFleet } from 'svc/contracts/edge';
import { MetricsQueries } from 'svc/contracts/metricsdb';
import { sweepMs, type TunnelSession } from 'svc/tunnel';

import { HandClock } from '../alert/engine-house.ts';
import { edgeHouse, freshMachine, type Keys, until } from './house.ts';

const stepMs = 10_000;

/**
 * Starts a manager with stores and rules, in which time stands still until moved; its edges live in
 * the same time.
 */
async function watching(t: TestContext, dataDir: string, clock: HandClock) {
  const services = {
    'notify.dispatcher': {
      accept: async () => undefined,
      preview: async () => [],
      unknown: async () => [],
      refusing: async () => [],
    },
  };
  const around = await edgeHouse(t, {
    plugins: ['edge', 'device', 'metricsdb', 'alert'],
    services,
    clock,
    dataDir,
  });
  const { house, ask } = around;
  return {
    ...around,
    async pass(ms: number) {
      for (let passed = 0; passed < ms; passed += stepMs) {
        clock.advance(stepMs);
        // Time for pings to cross, and for whoever is late to be noticed.
        await pause(3 * sweepMs);
        await house.service(AlertEvaluator).tick();
      }
    },
    /**
     * Disconnects machines, a moment after their last report: the series has one value per moment.
     * From then on their absence lasts.
     */
    async lose(
      machines: readonly {
        readonly keys: { readonly id: number };
        readonly session: TunnelSession;
      }[],
    ) {
      clock.advance(1);
      await Promise.all(machines.map(({ session }) => session.close()));
      await until('no tunnel of theirs is open', () =>
        machines.every(({ keys }) => house.service(EdgeFleet).capabilities(keys.id) === undefined),
      );
    },
    /** Edges that are up, and those that are down, by the newest samples. */
    async series(value: 0 | 1): Promise<number> {
      const answer = await house
        .service(MetricsQueries)
        .instant(`svc_edge_online == ${value}`, clock.now());
      return answer.type === 'vector' ? answer.labels.length : 0;
    },
    async incidents(): Promise<readonly { dedupe_key: string; status: string }[]> {
      return (await ask('GET', '/alerts/incidents?rule=device_offline')).body.items;
    },
  };
}

test('a device that goes away is one incident, which ends when it is back; a restart of the manager is none', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-edge-alerting-'));
  const clock = new HandClock();
  const first = await watching(t, dataDir, clock);
  const count = 20;
  const machines: {
    keys: Keys & { id: number };
    uuid: string;
    device: number;
    session: TunnelSession;
  }[] = [];
  for (let n = 0; n < count; n += 1) {
    const [keys, uuid] = [await first.create(`host-${n}`), freshMachine()];
    const { session } = await first.simulate(keys, { machine: uuid });
    session.emit('host_info', { hostname: `host-${n}` });
    machines.push({ keys, uuid, device: 0, session });
  }
  await until('each watches a device', () =>
    first.house
      .service(EdgeFleet)
      .list()
      .every(({ device_id: id }) => id !== null),
  );
  for (const machine of machines) {
    machine.device = first.house.service(EdgeFleet).get(machine.keys.id)!.device_id!;
  }

  // What is still to be told of their coming would be told of the moment in which they go: at the latest the look at all of them has.
  await until(
    'all are told to be up at first',
    async () => (await first.series(1)) === count,
    60_000,
  );

  // Away for longer than a blink, and for less than the rule allows.
  await first.lose(machines);
  await first.pass(20_000);
  await until('all are told to be down', async () => (await first.series(0)) === count);
  await first.pass(20_000);
  for (const machine of machines) {
    machine.session = (await first.simulate(machine.keys, { machine: machine.uuid })).session;
  }
  await until('all are told to be up', async () => (await first.series(1)) === count);
  await first.pass(90_000);
  assert.deepEqual(await first.incidents(), []);

  const [lost] = machines;
  await first.lose([lost!]);
  await first.pass(20_000);
  await until('it is told to be down', async () => (await first.series(0)) === 1);
  await first.pass(120_000);
  const fired = await first.incidents();
  assert.deepEqual(
    fired.map(({ dedupe_key: key, status }) => [key, status]),
    [[`device_offline:host:${lost!.device}`, 'open']],
  );
  lost!.session = (await first.simulate(lost!.keys, { machine: lost!.uuid })).session;
  await until('it is told to be up', async () => (await first.series(1)) === count);
  // Two looks in a row see it, the first of which may have begun before it was back.
  await first.pass(90_000);
  assert.deepEqual(
    (await first.incidents()).map(({ status }) => status),
    ['resolved'],
  );

  await first.house.stop();
  const second = await watching(t, dataDir, clock);
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  await second.pass(30_000);
  const [never, ...rest] = machines;
  for (const machine of rest) {
    await second.simulate(machine.keys, { machine: machine.uuid });
  }
  await second.pass(20_000);
  const online = () =>
    Promise.all(
      ['/edges?status=online', '/devices?online=true'].map(
        async (path) => ((await second.ask('GET', path)).body as { total: number }).total,
      ),
    );
  assert.deepEqual(await online(), [count, count], 'the one that is awaited is not gone yet');
  await until('the one that did not come back is told to be down', async () => {
    await second.pass(stepMs);
    return (await second.series(0)) === 1;
  });
  assert.deepEqual(await online(), [count - 1, count - 1]);
  assert.deepEqual(
    (await second.incidents()).map(({ status }) => status),
    ['resolved'],
    'nobody else, and it not yet',
  );
  await second.pass(120_000);
  assert.deepEqual(
    (await second.incidents()).map(({ dedupe_key: key, status }) => [key, status]),
    [[`device_offline:host:${never!.device}`, 'open']],
  );
});
