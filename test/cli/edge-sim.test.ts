import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { startTestHost, type TestHost } from 'svc/testing';

import { startFleet } from '../../plugins/edge/cli/sim/fleet.ts';
import { hostOf } from '../../plugins/edge/cli/sim/host.ts';
import type { SimOptions } from '../../plugins/edge/cli/sim/options.ts';
import type { Figures } from '../../plugins/edge/cli/sim/tally.ts';
import { projectRoot, svc } from './launcher.ts';
import { simulator } from '../simulator.ts';

const plugins = [
  'device',
  'edge',
  'edge-hostmetrics',
  'iam',
  'ingest',
  'logs',
  'metricsdb',
  'session',
];
let house: TestHost;
let keys: string;
const undo: (() => unknown)[] = [];

before(async () => {
  keys = mkdtempSync(join(tmpdir(), 'svc-sim-'));
  house = await startTestHost(
    { after: (step: () => unknown) => void undo.push(step) },
    { plugins },
  );
});
after(async () => {
  for (const step of undo) {
    await step();
  }
  rmSync(keys, { recursive: true, force: true });
});

const enrolment = async (uses: number): Promise<{ id: number; token: string }> =>
  await house.json('/api/v1/edges/enrolments', {
    method: 'POST',
    body: JSON.stringify({ max_uses: uses }),
  });

/** Brings a fleet until `holds`, lets it leave, and returns what became of it. */
async function fleet(
  options: Partial<SimOptions>,
  holds: (figures: Figures) => boolean | Promise<boolean>,
) {
  const usual = {
    manager: new URL(house.url),
    token: undefined,
    count: 3,
    ramp: 0,
    seed: '1',
    failProb: 0,
    intervalMs: 200,
    logsPerSecond: 0,
    requestsPerMinute: 0,
    metrics: 'full' as const,
  };
  const simulated = startFleet({ ...usual, ...options }, keys, simulator);
  let refusal: string | undefined;
  let over = false;
  void simulated.ended.then((end) => {
    ({ refusal } = end);
    over = true;
  });
  for (
    const deadline = Date.now() + 60_000;
    !over && !(await holds(simulated.figures()));
    await pause(50)
  ) {
    assert.ok(Date.now() < deadline, JSON.stringify(simulated.figures()));
  }
  const figures = simulated.figures();
  simulated.stop();
  await simulated.ended;
  return { ...figures, refusal };
}

async function counted(query: string): Promise<number> {
  const { data } = await house.json<{ data: { result: { value: [number, string] }[] } }>(
    `/prometheus/api/v1/query?query=${encodeURIComponent(query)}`,
  );
  return Number(data.result[0]?.value[1] ?? 0);
}

test('a simulated fleet enrols, is there, answers and pushes; with its seed it comes again', async (t) => {
  const { id, token } = await enrolment(4);
  await t.test(
    'as many hosts as the token takes come, each with its device, its series and its answers',
    async () => {
      const figures = await fleet({ token, count: 4 }, async ({ connected, samples }) => {
        const isThere = connected === 4 && samples >= 3 * 4 * 40;
        return (
          isThere &&
          (await counted('count(count by (device_id) (node_load1{device_id!=""}))')) === 4 &&
          (await answersWell())
        );
      });
      assert.deepEqual(
        [figures.enrolled, figures.pushes.failed, figures.lines, figures.faults],
        [4, 0, 0, 0],
        JSON.stringify(figures),
      );
      assert.ok(figures.calls > 0);
      const { items } = await house.json<{
        items: { name: string; host_info: { cpu_count: number } }[];
      }>('/api/v1/edges');
      assert.deepEqual(
        items.map(({ name }) => name).sort(),
        [1, 2, 3, 4].map((number) => hostOf('1', number).hostname).sort(),
      );
      assert.equal(
        await counted('count(count by (__name__, cpu, mode, device) ({edge_id="1",job="node"}))'),
        40,
      );
      assert.ok(
        (await counted('count(changes(node_cpu_seconds_total{edge_id="1"}[1m]) > 0)')) > 0,
        'counters grow',
      );
    },
  );
  await t.test(
    'the same seed brings the same hosts without a token, and another seed other ones, which need one',
    async () => {
      const again = await fleet({ count: 4 }, ({ connected }) => connected === 4);
      assert.deepEqual([again.enrolled, again.connects], [0, 4]);
      const { items } = await house.json<{ items: { id: number; uses: number }[] }>(
        '/api/v1/edges/enrolments',
      );
      assert.equal(items.find((item) => item.id === id)!.uses, 4);
      const strangers = await fleet({ seed: '2' }, () => false);
      assert.equal(strangers.connects, 0);
      assert.match(strangers.refusal!, /--token/);
      assert.notEqual(hostOf('2', 1).uuid, hostOf('1', 1).uuid);
    },
  );
  await t.test(
    'hosts beyond the uses of the token are turned away, and those that have keys stay',
    async () => {
      const figures = await fleet({ token, count: 5 }, ({ connected }) => connected === 4);
      assert.equal(figures.connects, 4);
      assert.equal((await house.json<{ total: number }>('/api/v1/edges')).total, 4);
    },
  );
  await t.test('the ramp spreads when they come', async () => {
    const figures = await fleet({ count: 4, ramp: 3_600 }, ({ samples }) => samples >= 80);
    assert.equal(figures.connects, 1);
  });
  await t.test('a push may be no more than a snapshot', async () => {
    const { samples, pushes } = await fleet(
      { count: 1, metrics: 'snapshot' },
      ({ samples: sent }) => sent > 0,
    );
    assert.equal(samples, 13 * pushes.ok);
  });
  await t.test(
    'log lines come at their rate, and what was stopped by the manager is not measured',
    async () => {
      await house.json('/api/v1/edges/1/plugins/hostmetrics', {
        method: 'PUT',
        body: JSON.stringify({ enabled: false }),
      });
      const figures = await fleet({ count: 1, logsPerSecond: 50 }, ({ lines }) => lines >= 20);
      assert.ok(figures.pushes.ok > 0);
      const { plugins: shown } = await statusWhile({ count: 1 });
      assert.equal(shown.find(({ name }) => name === 'hostmetrics')!.health.state, 'stopped');
      await house.json('/api/v1/edges/1/plugins/hostmetrics', {
        method: 'PUT',
        body: JSON.stringify({ enabled: true }),
      });
    },
  );
  await t.test(
    'faults are made on purpose: tunnels are lost and come again, pushes break off',
    async () => {
      const figures = await fleet(
        { count: 4, failProb: 0.5 },
        ({ lost, connects, samples }) => lost > 2 && connects > 6 && samples > 0,
      );
      assert.ok(figures.faults > 2);
      assert.equal(figures.pushes.limited, 0);
    },
  );
  await t.test(
    'the command tells each second how it goes, and leaves in order when it is interrupted',
    async () => {
      const args = [
        'bin/svc',
        'edge-sim',
        '--json',
        '--data',
        keys,
        '--manager',
        house.url,
        '--count',
        '2',
        '--ramp',
        '0',
        '--interval',
        '0.5',
      ];
      const child = spawn(process.execPath, args, {
        cwd: projectRoot,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const ended = once(child, 'close');
      let out = '';
      child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
      child.stderr.on('data', (chunk: Buffer) => {
        if (/"connected":2,/.test(chunk.toString())) {
          child.kill('SIGINT');
        }
      });
      const [code] = (await ended) as [number];
      assert.equal(code, 0, out);
      const told = JSON.parse(out) as Figures;
      assert.deepEqual([told.edges, told.connected, told.connects, told.enrolled], [2, 0, 2, 0]);
    },
  );
});

test('what cannot be simulated is said before anything is tried', async () => {
  const said = async (...args: string[]) =>
    await svc(['edge-sim', ...args], { env: { SVC_DATA_DIR: keys } });
  assert.match((await said()).stderr, /--manager must be the address/);
  for (const [flag, bad] of [
    ['--count', '0'],
    ['--count', '1.5'],
    ['--fail-prob', '2'],
    ['--interval', 'often'],
    ['--ramp', '-1'],
    ['--metrics', 'all'],
  ] as const) {
    const { code, stderr } = await said('--manager', house.url, `${flag}=${bad}`);
    assert.equal(code, 2, stderr);
    assert.match(stderr, new RegExp(`${flag} must be `));
  }
  const refused = await said(
    '--manager',
    house.url,
    '--seed',
    'nobody',
    '--token',
    `svc_enrol_${'x'.repeat(43)}`,
    '--count',
    '2',
  );
  assert.equal(refused.code, 4, refused.stderr);
  assert.match(refused.stderr, /token is invalid/);
});

async function answersWell(): Promise<boolean> {
  const [one, all] = await Promise.all([
    house.fetch('/api/v1/edges/1/metrics'),
    house.fetch('/api/v1/edges/1/processes?top=3'),
  ]);
  if (!one.ok || !all.ok) {
    return false;
  }
  const { metrics } = (await one.json()) as { metrics: Record<string, number | null> };
  const { processes } = (await all.json()) as { processes: object[] };
  return (
    Object.values(metrics).every((value) => typeof value === 'number') && processes.length === 3
  );
}

interface Shown {
  readonly plugins: readonly {
    readonly name: string;
    readonly health: { readonly state: string };
  }[];
}

/** Returns what the manager shows of the plugins of edge 1 while it is connected. */
async function statusWhile(options: Partial<SimOptions>): Promise<Shown> {
  let shown: Shown['plugins'] = [];
  await fleet(options, async ({ connected }) => {
    shown =
      connected === 0
        ? []
        : (await house.json<{ items: Shown['plugins'] }>('/api/v1/edges/1/plugins')).items;
    return shown.some(({ name, health }) => name === 'hostmetrics' && health.state === 'stopped');
  });
  return { plugins: shown };
}
