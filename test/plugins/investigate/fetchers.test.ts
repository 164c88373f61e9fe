import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { EvidenceSource, Fetcher } from '../../../plugins/investigate/contract.ts';
import { compared } from '../../../plugins/investigate/asked-again.ts';
import { askWithPast } from '../../../plugins/investigate/fetch/earlier.ts';
import { digestOf, Gatherer } from '../../../plugins/investigate/fetch/gatherer.ts';
import { aggregatesOf } from '../../../plugins/investigate/fetch/span-aggregates.ts';
import { MetricsSource } from '../../../plugins/investigate/fetch/metrics-source.ts';
import { kindOf, metricOf, subjectOf, unitOf } from '../../../plugins/investigate/fetch/symptom.ts';
import { takeSnapshot } from '../../../plugins/investigate/fetch/take-snapshot.ts';
import type { IncidentMeasure, IncidentView } from '../../../plugins/alert/contract.ts';

const firedAt = Date.UTC(2026, 10, 20);
const incident = {
  ...{ id: 1, rule_key: 'slow', rule_name: 'Slow', severity: 'critical', status: 'open', scope_type: 'host', scope_id: '7', device_id: '7', summary: 'slow' },
  ...{ labels: { device_id: '7' }, annotations: {}, dedupe_key: 'slow:host:7', event_count: 1 },
  ...{ fired_at: new Date(firedAt).toISOString(), first_fired_at: new Date(firedAt).toISOString() },
} as IncidentView;

const fetcher = (more: Partial<Fetcher> = {}): Fetcher => ({
  plan: ({ device_ids: devices, window }) => [{ kind: 'check', query: `power of ${devices.join(',')}`, window }],
  ask: async ({ query }) => ({ value: { query, volts: 9 }, digest: { volts: 9 }, trust: 'trusted' }),
  read: (value, _question, evidence) => ({
    checks: [{ check: 'power', evidence, node: 'device:7', ok: false, interesting: true, message: `${(value as { volts: number }).volts} V`, details: {} }],
  }),
  ...more,
});

const snapshotWith = async (fetchers: ReadonlyMap<string, Fetcher>) => {
  const sources = new Map<string, EvidenceSource>(fetchers);
  const clock = { now: () => firedAt + 1_000, monotonic: () => 0 };
  const gatherer = new Gatherer({ sources, clock, until: 5_000, signal: new AbortController().signal });
  return await takeSnapshot(subjectOf(incident, undefined, []), {
    gatherer,
    checks: new Map(),
    fetchers,
    namesOf: async () => new Map([['7', 'db-7']]),
    now: firedAt + 1_000,
  });
};

test('what another room contributes is asked, kept as evidence and read; one that fails is not seen, and harms none', async () => {
  const snapshot = await snapshotWith(
    new Map([
      ['power', fetcher()],
      [
        'rude',
        fetcher({
          plan: () => {
            throw new Error('no');
          },
        }),
      ],
    ]),
  );
  assert.deepEqual(
    snapshot.checks.map(({ check, message }) => [check, message]),
    [['power', '9 V']],
  );
  const evidence = snapshot.evidence.find(({ source }) => source === 'power')!;
  assert.deepEqual([evidence.query, evidence.sha256], ['power of 7', digestOf({ volts: 9, query: 'power of 7' })]);
  assert.ok(snapshot.missing.some(({ source, reason }) => source === 'rude' && reason === 'refused'));
  assert.ok(snapshot.missing.some(({ source, reason }) => source === 'metrics' && reason === 'down'));
  assert.deepEqual(snapshot.nodes, [{ id: 'device:7', kind: 'host', name: 'db-7' }]);
});

test('an incident says what its symptom is', () => {
  const measure = (query: string, kind = 'metric_raw'): IncidentMeasure => ({ store: 'metrics', query, labels: {}, kind });
  const cases: readonly (readonly [query: string, kind: string, metric: string, sli: string, unit: string])[] = [
    ['node_cpu_usage_percent', 'metric_raw', 'node_cpu_usage_percent', 'cpu', 'percent'],
    ['avg_over_time(node_memory_used_percent[5m])', 'metric_raw', 'node_memory_used_percent', 'memory', 'percent'],
    ['100 * rate(node_netstat_Tcp_RetransSegs{device_id="7"}[5m])', 'metric_raw', 'node_netstat_Tcp_RetransSegs', 'network', 'percent'],
    [
      'histogram_quantile(0.95, sum by (le, service) (rate(traces_spanmetrics_latency_bucket[5m]))) * 1000',
      'trace_latency',
      'traces_spanmetrics_latency_bucket',
      'latency',
      'per_second',
    ],
    ['max by (device_id) (svc_edge_online)', 'metric_raw', 'svc_edge_online', 'other', 'other'],
  ];
  for (const [query, kind, metric, sli, unit] of cases) {
    const subject = subjectOf(incident, measure(query, kind), []);
    assert.deepEqual([metricOf(subject), kindOf(subject.measure, metric), unitOf(query, metric)], [metric, sli, unit], query);
    assert.equal(subject.node, 'device:7');
  }
  const { device_id: _device, ...global } = incident;
  assert.equal(subjectOf({ ...global, scope_type: 'global', labels: { service: 'shop' } }, undefined, []).node, 'service:shop');
  assert.equal(subjectOf({ ...global, scope_type: 'global', labels: {} }, undefined, []).node, undefined);
  const traced = measure('100 * sum (rate(traces_spanmetrics_calls_total{service="a \\"b", span_kind="x"}[5m]))', 'trace_error_rate');
  assert.equal(subjectOf({ ...global, scope_type: 'global', labels: {} }, traced, []).node, 'service:a "b');
});

test('spans become operations by minute: where failures begin, and the time of the operation itself', () => {
  const base = { device: '', trace: 't1' };
  const spans = [
    { ...base, span: 'a', parent: '', service: 'shop', name: 'buy', start: 60_000, ms: 100, failed: true },
    { ...base, span: 'b', parent: 'a', service: 'db', name: 'select', start: 60_010, ms: 60, failed: true },
    { ...base, span: 'c', parent: 'a', service: 'cache', name: 'get', start: 60_020, ms: 20, failed: false },
    { ...base, trace: 't2', span: 'd', parent: '', service: 'shop', name: 'buy', start: 125_000, ms: 10, failed: false },
  ];
  const found = aggregatesOf({ id: 'E1', value: { spans } });
  const of = (node: string) => found.find((one) => one.node === node)!;
  assert.deepEqual(
    [of('service:shop').spans, of('service:shop').errors, of('service:shop').origins, of('service:shop').self_ms],
    [
      [1, 1],
      [1, 0],
      [0, 0],
      [40, 10],
    ],
  );
  assert.deepEqual(
    [of('service:db').origins, of('service:db').failing_here, of('service:db').failing],
    [
      [1, 0],
      [1, 0],
      [1, 0],
    ],
  );
});

test('a range of metrics comes with the same hours of a day and a week ago, where the history has them', async () => {
  const day = 86_400_000;
  const asked: number[] = [];
  const metrics: EvidenceSource = {
    async ask({ window }) {
      const ago = firedAt - window.to;
      asked.push(ago / day);
      const series = ago > day ? [] : [{ labels: { service: 'shop' }, values: [ago === 0 ? 9 : 1, 2] }];
      return { value: { from: window.from, step_ms: 30_000, series }, digest: {}, trust: 'trusted' };
    },
  };
  const clock = { now: () => firedAt, monotonic: () => 0 };
  const gatherer = new Gatherer({ sources: new Map([['metrics', metrics]]), clock, until: 5_000, signal: new AbortController().signal });
  const { found, earlierOf } = await askWithPast(gatherer, { kind: 'metric', source: 'metrics', query: 'x', window: { from: firedAt - 60_000, to: firedAt } });
  assert.deepEqual(asked, [0, 1, 7]);
  assert.equal(found?.id, 'E1');
  assert.deepEqual(earlierOf({ service: 'shop' }), { earlier: [{ ago_ms: day, values: [1, 2] }] });
  assert.deepEqual(earlierOf({ service: 'other' }), {});
});

test('evidence that was asked while samples were on their way says up to where it is settled, and what came of it is told by name', async () => {
  const now = firedAt + 600_000;
  let values = [1, 2, 3, 4, 5];
  const range = async () => ({
    labels: [{ device_id: '7' }],
    times: [Float64Array.from(values.map((_, at) => now - 120_000 + at * 30_000))],
    values: [Float64Array.from(values)],
  });
  const metrics = new MetricsSource({ available: true, get: () => ({ range }) } as unknown as ConstructorParameters<typeof MetricsSource>[0]);
  const sources = new Map<string, EvidenceSource>([['metrics', metrics]]);
  const gatherer = new Gatherer({ sources, clock: { now: () => now, monotonic: () => 0 }, until: 5_000, signal: new AbortController().signal });
  const question = { kind: 'metric' as const, source: 'metrics', query: 'up' };
  await gatherer.ask({ ...question, window: { from: now - 120_000, to: now } });
  await gatherer.ask({ ...question, window: { from: now - 240_000, to: now - 120_000 } });
  const [young, old] = gatherer.evidence;
  assert.deepEqual([young!.settled?.to, old!.settled], [now - 60_000, undefined]);

  const again = async () => compared(young!, await metrics.ask(young!, new AbortController().signal), sources);
  const { same, settled_same: settled, difference } = await again();
  assert.deepEqual([same, settled, difference], [true, true, null]);
  const told = async (changed: number[]) => {
    values = changed;
    const found = await again();
    return [found.same, found.settled_same, found.difference, found.text];
  };
  assert.deepEqual(await told([1, 2, 3, 4, 7]), [
    ...[false, true, 'late_data'],
    'late data: 5 samples in the window now, 5 when it was asked; up to 2026-11-20T00:09:00.000Z it is the same',
  ]);
  assert.deepEqual(await told([1, 9, 3, 4, 5]), [false, false, 'changed', 'other values: 5 samples in the window now, 5 when it was asked']);
  assert.deepEqual(await told([1, 2]), [false, false, 'gone', 'data is gone: 2 samples in the window now, 5 when it was asked']);
});
