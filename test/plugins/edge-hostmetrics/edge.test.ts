import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { type EdgeMethod, EdgeMethods, type Parcel } from 'svc/contracts/edge-uplink';
import { canonicalMetrics } from 'svc/contracts/edge';
import type { PluginContext, PluginDefinition } from 'svc/sdk';
import { startTestEdge } from 'svc/testing';

import { Ajv as EdgeAjv } from '../../../bin/agent/small-ajv.ts';
import hostmetrics from '../../../plugins/edge-hostmetrics/index.ts';
import procmetrics from '../../../plugins/edge-procmetrics/index.ts';
import { decoded, logbook, specOf } from './box.ts';

const ids = ['edge-hostmetrics', 'edge-procmetrics'] as const;

test('an edge measures its machine, its processes and a target as soon as it starts, and answers for them on demand', async (t) => {
  const target = createServer((_request, reply) => reply.end('app_jobs 3\n')).listen(
    0,
    '127.0.0.1',
  );
  await once(target, 'listening');
  t.after(() => void target.close());
  const url = `http://127.0.0.1:${(target.address() as { port: number }).port}/metrics`;
  const wishes: Record<string, object> = {
    'edge-hostmetrics': {
      targets: [
        { job: 'app', url },
        { job: 'far', url: 'http://10.1.2.3/metrics' },
      ],
    },
  };
  const parcels: Parcel[] = [];
  const edge = await startTestEdge(t, {
    plugins: ids,
    services: {
      'uplink.shipping': { ship: (parcel: Parcel) => Promise.resolve(void parcels.push(parcel)) },
      'uplink.specs': { of: (id: string) => specOf(id, wishes[id] ?? {}) },
      'uplink.policy': { current: () => ({ tcp: ['127.0.0.1:22'] }) },
    },
  });
  const all = (): Map<string, { value: number }> =>
    new Map(parcels.flatMap(({ body, items: samples }) => [...decoded([{ body, samples }])]));
  const value = (start: string, part = ''): number | undefined =>
    [...all()].find(([key]) => key.startsWith(`${start}{`) && key.includes(part))?.[1].value;
  for (
    const deadline = Date.now() + 20_000;
    value('app_jobs') === undefined ||
    value('namedprocess_namegroup_num_procs') === undefined ||
    value('up', 'far') === undefined;
  ) {
    assert.ok(
      Date.now() < deadline,
      `measured so far: ${[...all().keys()].slice(0, 5).join(' ')} ${edge.lines.join('\n')}`,
    );
    await pause(20);
  }
  assert.equal(value('app_jobs', 'job="app"'), 3);
  assert.deepEqual([value('up', 'app'), value('up', 'far')], [1, 0]);
  assert.ok(value('node_memory_MemTotal_bytes')! > 0);
  assert.deepEqual(
    new Set(parcels.map(({ from, path, contentEncoding }) => `${from} ${path} ${contentEncoding}`)),
    new Set(ids.map((id) => `${id} /api/v1/write snappy`)),
  );

  const methods = new Map(
    edge.contributions<EdgeMethod>(EdgeMethods).map((method) => [method.name, method]),
  );
  const call = { signal: new AbortController().signal };
  const { sampled_at: at, metrics } = (await methods.get('host_snapshot')!.run({}, call)) as {
    sampled_at: string;
    metrics: Record<string, number | null>;
  };
  assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000);
  assert.deepEqual(Object.keys(metrics).sort(), [...canonicalMetrics].sort());
  assert.ok(
    metrics['node_memory_used_percent']! > 0 &&
      metrics['node_filesystem_used_percent']! > 0 &&
      metrics['node_uptime_seconds']! > 0,
  );
  const { processes } = (await methods.get('processes')!.run({ top: 3, sort_by: 'cpu' }, call)) as {
    processes: { cpu_percent: number | null }[];
  };
  assert.equal(processes.length, 3);
  assert.deepEqual(await methods.get('process_history')!.run({ from: 0, to: Date.now() }, call), {
    processes: [],
  });
  await assert.rejects(methods.get('process_history')!.run({ from: 1, to: 0 }, call), {
    code: 'invalid_argument',
  });
  await assert.rejects(methods.get('processes')!.run({ top: 'x' }, call), {
    code: 'invalid_argument',
  });
  assert.deepEqual(
    [...methods.values()].map(({ mutating }) => mutating),
    [false, false, false],
  );
  for (const id of ids) {
    assert.equal(edge.host.explain(id).state, 'active');
    assert.equal(edge.host.explain(id).strikes.length, 0);
  }
});

describe('the spec of a plugin', () => {
  for (const id of ids) {
    test(`${id}: its defaults fit it, and an edge fills them in as the manager does`, () => {
      const { spec } = JSON.parse(
        readFileSync(new URL(`../../../plugins/${id}/edge.json`, import.meta.url), 'utf8'),
      ) as { spec: Record<string, unknown> };
      for (const wish of [
        {},
        id === 'edge-hostmetrics'
          ? { targets: [{ job: 'a', url: 'http://localhost/' }], collectors: { cpu: false } }
          : { groups: [{ name: 'a', comm: 'b' }] },
      ]) {
        const filled = structuredClone(wish);
        assert.ok(new EdgeAjv({ useDefaults: true }).compile(spec)(filled));
        assert.deepEqual(filled, specOf(id, wish));
      }
      for (const wrong of [{ interval: '1s' }, { interval: 15 }, { nonsense: true }, { job: '' }]) {
        assert.throws(() => specOf(id, wrong));
      }
    });
  }

  test('says how often is measured, how often each target is scraped and how long a file system may take', async () => {
    const timers = await timersOf(hostmetrics, 'edge-hostmetrics', {
      interval: '2m',
      filesystem: { timeout: '9s', mount_exclude: '^/[^$]', fstype_exclude: '' },
      targets: [{ job: 'a', url: 'http://localhost/', interval: '30s' }],
    });
    assert.deepEqual(timers.get('measure'), 120_000);
    assert.deepEqual(timers.get('scrape a'), 30_000);
    assert.deepEqual(timers.get('deadline of a file system'), 9_000);
    assert.equal((await timersOf(hostmetrics, 'edge-hostmetrics')).get('measure'), 15_000);
    assert.equal((await timersOf(procmetrics, 'edge-procmetrics')).get('measure'), 60_000);
    assert.equal(
      (await timersOf(procmetrics, 'edge-procmetrics', { interval: '5m' })).get('measure'),
      300_000,
    );
  });
});

/** Every timer that a plugin with this spec sets, by its label, after one look at the machine. */
async function timersOf<Made>(
  plugin: PluginDefinition<Made>,
  id: string,
  wish: object = {},
): Promise<ReadonlyMap<string, number>> {
  const timers = new Map<string, number>();
  const methods: EdgeMethod[] = [];
  const set = (label: string, ms: number, tick?: () => void): (() => void) => {
    timers.set(label, ms);
    if (label.startsWith('pause')) {
      setImmediate(tick!);
    }
    return () => undefined;
  };
  const services: Record<string, object> = {
    'uplink.specs': { of: () => specOf(id, wish) },
    'uplink.policy': { current: () => ({ tcp: [] }) },
    'uplink.shipping': {},
  };
  const ctx = {
    id,
    log: logbook(),
    clock: { now: Date.now, monotonic: () => performance.now() },
    scope: { timeout: set, interval: set },
    health: { check: () => undefined },
    services: { use: (token: { id: string }) => services[token.id] },
    extend: {
      contribute: (_point: unknown, _id: string, method: EdgeMethod) => void methods.push(method),
    },
  } as unknown as PluginContext;
  const made = await plugin.activate(ctx);
  await plugin.start!(ctx, made);
  if (id === 'edge-hostmetrics') {
    await methods[0]!.run({}, { signal: new AbortController().signal });
  }
  return timers;
}
