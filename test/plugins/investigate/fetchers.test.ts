import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { IncidentMeasure, IncidentView } from 'svc/contracts/alert';
import type { EvidenceSource, Fetcher } from 'svc/contracts/investigate';

import { compared } from '../../../plugins/investigate/asked-again.ts';
import { changesNear } from '../../../plugins/investigate/fetch/changes.ts';
import { askWithPast } from '../../../plugins/investigate/fetch/earlier.ts';
import { digestOf, Gatherer } from '../../../plugins/investigate/fetch/gatherer.ts';
import { lineSource } from '../../../plugins/investigate/fetch/log-sources.ts';
import { loggedChanges } from '../../../plugins/investigate/fetch/logged-changes.ts';
import { MetricsSource } from '../../../plugins/investigate/fetch/metrics-source.ts';
import { aggregatesOf } from '../../../plugins/investigate/fetch/span-aggregates.ts';
import { kindOf, metricOf, subjectOf, unitOf } from '../../../plugins/investigate/fetch/symptom.ts';
import { cutOf, unlistedChanges } from '../../../plugins/investigate/report/left-out.ts';
import { takeSnapshot } from '../../../plugins/investigate/snapshot/take-snapshot.ts';

const firedAt = Date.UTC(2026, 10, 20);
const incident = {
  id: 1,
  rule_key: 'slow',
  rule_name: 'Slow',
  severity: 'critical',
  status: 'open',
  scope_type: 'host',
  scope_id: '7',
  device_id: '7',
  summary: 'slow',
  labels: { device_id: '7' },
  annotations: {},
  dedupe_key: 'slow:host:7',
  event_count: 1,
  fired_at: new Date(firedAt).toISOString(),
  first_fired_at: new Date(firedAt).toISOString(),
} as IncidentView;

const fetcher = (more: Partial<Fetcher> = {}): Fetcher => ({
  plan: ({ device_ids: devices, window }) => [
    { kind: 'check', query: `power of ${devices.join(',')}`, window },
  ],
  ask: async ({ query }) => ({
    value: { query, volts: 9 },
    digest: { volts: 9 },
    trust: 'trusted',
  }),
  read: (value, _question, evidence) => ({
    checks: [
      {
        check: 'power',
        evidence,
        node: 'device:7',
        ok: false,
        interesting: true,
        message: `${(value as { volts: number }).volts} V`,
        details: {},
      },
    ],
  }),
  ...more,
});

const snapshotWith = async (fetchers: ReadonlyMap<string, Fetcher>) => {
  const sources = new Map<string, EvidenceSource>(fetchers);
  const clock = { now: () => firedAt + 1_000, monotonic: () => 0 };
  const gatherer = new Gatherer({
    sources,
    clock,
    until: 5_000,
    signal: new AbortController().signal,
  });
  return await takeSnapshot(subjectOf(incident, undefined, []), {
    gatherer,
    checks: new Map(),
    conventions: [],
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
  assert.deepEqual(
    [evidence.query, evidence.sha256],
    ['power of 7', digestOf({ volts: 9, query: 'power of 7' })],
  );
  assert.ok(
    snapshot.missing.some(({ source, reason }) => source === 'rude' && reason === 'refused'),
  );
  assert.ok(
    snapshot.missing.some(({ source, reason }) => source === 'metrics' && reason === 'down'),
  );
  assert.deepEqual(snapshot.nodes, [{ id: 'device:7', kind: 'host', name: 'db-7' }]);
});

test('an incident says what its symptom is', () => {
  const measure = (query: string, kind = 'metric_raw'): IncidentMeasure => ({
    store: 'metrics',
    query,
    labels: {},
    kind,
  });
  const cases: readonly (readonly [
    query: string,
    kind: string,
    metric: string,
    sli: string,
    unit: string,
  ])[] = [
    ['node_cpu_usage_percent', 'metric_raw', 'node_cpu_usage_percent', 'cpu', 'percent'],
    [
      'avg_over_time(node_memory_used_percent[5m])',
      'metric_raw',
      'node_memory_used_percent',
      'memory',
      'percent',
    ],
    [
      '100 * rate(node_netstat_Tcp_RetransSegs{device_id="7"}[5m])',
      'metric_raw',
      'node_netstat_Tcp_RetransSegs',
      'network',
      'percent',
    ],
    [
      'histogram_quantile(0.95, sum by (le, service) (rate(traces_spanmetrics_latency_bucket[5m]))) * 1000',
      'trace_latency',
      'traces_spanmetrics_latency_bucket',
      'latency',
      'seconds',
    ],
    ['max by (device_id) (svc_edge_online)', 'metric_raw', 'svc_edge_online', 'other', 'other'],
  ];
  for (const [query, kind, metric, sli, unit] of cases) {
    const subject = subjectOf(incident, measure(query, kind), []);
    assert.deepEqual(
      [metricOf(subject), kindOf(subject.measure, metric), unitOf(query, metric)],
      [metric, sli, unit],
      query,
    );
    assert.equal(subject.node, 'device:7');
  }
  const { device_id: _device, ...global } = incident;
  assert.equal(
    subjectOf({ ...global, scope_type: 'global', labels: { service: 'shop' } }, undefined, []).node,
    'service:shop',
  );
  assert.equal(
    subjectOf({ ...global, scope_type: 'global', labels: {} }, undefined, []).node,
    undefined,
  );
  const traced = measure(
    '100 * sum (rate(traces_spanmetrics_calls_total{service="a \\"b", span_kind="x"}[5m]))',
    'trace_error_rate',
  );
  assert.equal(
    subjectOf({ ...global, scope_type: 'global', labels: {} }, traced, []).node,
    'service:a "b',
  );
});

test('spans become operations by minute: where failures begin, and the time of the operation itself', () => {
  const base = { device: '', trace: 't1' };
  const spans = [
    {
      ...base,
      span: 'a',
      parent: '',
      service: 'shop',
      name: 'buy',
      start: 60_000,
      ms: 100,
      failed: true,
    },
    {
      ...base,
      span: 'b',
      parent: 'a',
      service: 'db',
      name: 'select',
      start: 60_010,
      ms: 60,
      failed: true,
    },
    {
      ...base,
      span: 'c',
      parent: 'a',
      service: 'cache',
      name: 'get',
      start: 60_020,
      ms: 20,
      failed: false,
    },
    {
      ...base,
      trace: 't2',
      span: 'd',
      parent: '',
      service: 'shop',
      name: 'buy',
      start: 125_000,
      ms: 10,
      failed: false,
    },
  ];
  const found = aggregatesOf({ id: 'E1', value: { spans } });
  const of = (node: string) => found.find((one) => one.node === node)!;
  assert.deepEqual(
    [
      of('service:shop').spans,
      of('service:shop').errors,
      of('service:shop').origins,
      of('service:shop').self_ms,
    ],
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
      const series =
        ago > day ? [] : [{ labels: { service: 'shop' }, values: [ago === 0 ? 9 : 1, 2] }];
      return {
        value: { from: window.from, step_ms: 30_000, series },
        digest: {},
        trust: 'trusted',
      };
    },
  };
  const clock = { now: () => firedAt, monotonic: () => 0 };
  const gatherer = new Gatherer({
    sources: new Map([['metrics', metrics]]),
    clock,
    until: 5_000,
    signal: new AbortController().signal,
  });
  const { found, earlierOf } = await askWithPast(gatherer, {
    kind: 'metric',
    source: 'metrics',
    query: 'x',
    window: { from: firedAt - 60_000, to: firedAt },
  });
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
  const metrics = new MetricsSource(
    { available: true, get: () => ({ range }) } as unknown as ConstructorParameters<
      typeof MetricsSource
    >[0],
    undefined,
  );
  const sources = new Map<string, EvidenceSource>([['metrics', metrics]]);
  const gatherer = new Gatherer({
    sources,
    clock: { now: () => now, monotonic: () => 0 },
    until: 5_000,
    signal: new AbortController().signal,
  });
  const question = { kind: 'metric' as const, source: 'metrics', query: 'up' };
  await gatherer.ask({ ...question, window: { from: now - 120_000, to: now } });
  await gatherer.ask({ ...question, window: { from: now - 240_000, to: now - 120_000 } });
  const [young, old] = gatherer.evidence;
  assert.deepEqual([young!.settled?.to, old!.settled], [now - 60_000, undefined]);

  const again = async () =>
    compared(young!, await metrics.ask(young!, new AbortController().signal), sources);
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
  assert.deepEqual(await told([1, 9, 3, 4, 5]), [
    false,
    false,
    'changed',
    'other values: 5 samples in the window now, 5 when it was asked',
  ]);
  assert.deepEqual(await told([1, 2]), [
    false,
    false,
    'gone',
    'data is gone: 2 samples in the window now, 5 when it was asked',
  ]);
});

test('jobs that run every few minutes are no change; one that runs once, one that has just begun, and every package are', () => {
  const minute = 60_000;
  const line = (ago: number, text: string) => ({
    at: firedAt - ago * minute,
    line: text,
    labels: { device_id: '7' },
  });
  const cron = (ago: number, command: string) =>
    line(ago, `2026-11-20T00:00:00Z CRON[${4_000 + ago}]: (root) CMD (${command})`);
  const lines = [
    ...[2, 7, 12, 17, 22, 27].map((ago) => cron(ago, 'run-parts /etc/cron.hourly')),
    ...[4, 8, 12].map((ago) =>
      line(ago, `Nov 20 00:00:00 db-7 systemd[1]: Started Session ${ago} of User root.`),
    ),
    ...[1, 3, 5].map((ago) => cron(ago, 'backup --fast')),
    ...[10, 11, 12, 13].map((ago) =>
      line(ago, '2026-11-20 00:00:00 upgrade libc6:amd64 2.36-9 2.36-10'),
    ),
    cron(50, 'certbot renew'),
  ];
  const told = (truncated: boolean) =>
    loggedChanges({ id: 'E1', value: { lines }, truncated }, firedAt).map(
      ({ kind, title }) => `${kind}: ${title}`,
    );
  const others = [
    ...Array<string>(4).fill('package: upgrade libc6:amd64 2.36-9 2.36-10'),
    'cron: (root) CMD (certbot renew)',
  ];
  assert.deepEqual(told(false), ['cron: (root) CMD (backup --fast) (3 times since)', ...others]);
  assert.deepEqual(told(true), others);
});

test('a log of which the newest lines alone were read says so, and does not claim other values when it is asked again', async () => {
  let texts = Array.from({ length: 300 }, (_, at) => `line ${at}`);
  const logs = {
    available: true,
    get: () => ({
      lines: async () => ({
        lines: texts.map((line, at) => ({ at: { ms: firedAt - at }, line, labels: {} })),
        partial: false,
      }),
    }),
  } as unknown as Parameters<typeof lineSource>[0];
  const sources = new Map<string, EvidenceSource>([['logs', lineSource(logs, undefined)]]);
  const clock = { now: () => firedAt, monotonic: () => 0 };
  const gatherer = new Gatherer({
    sources,
    clock,
    until: 5_000,
    signal: new AbortController().signal,
  });
  await gatherer.ask({
    kind: 'change',
    source: 'logs',
    query: '{job="x"}',
    window: { from: firedAt - 60_000, to: firedAt },
  });
  assert.deepEqual(
    cutOf(gatherer).map(({ kind, reason, text }) => [kind, reason, text]),
    [['change', 'too_much', 'Only the newest 300 of more lines were read [E1].']],
  );
  texts = texts.map((line) => `${line}!`);
  const [stored] = gatherer.evidence;
  const { difference, text } = compared(
    stored!,
    await sources.get('logs')!.ask(stored!, new AbortController().signal),
    sources,
  );
  assert.deepEqual(
    [difference, text],
    [
      'changed',
      'other data: the newest 300 of more lines were read then and now, and they are not the same',
    ],
  );
});

test('changes that a report does not list are counted, with why', () => {
  const change = (id: number, at: number) => ({
    id: `E1:${id}`,
    evidence: 'E1',
    at,
    kind: 'deploy' as const,
    title: `deploy ${id}`,
  });
  const changes = Array.from({ length: 250 }, (_, at) => change(at, firedAt - 100 + at));
  const listed = changes.slice(0, 12).map((one) => ({ ...one, score: 1, before_ms: 0 }));
  assert.deepEqual(
    unlistedChanges({ changes }, { changes: listed, onset_at: firedAt }).map(({ text }) => text),
    [
      '238 more changes are not listed: 89 of the day before, elsewhere or too long ago to matter, 149 after the onset. All are at /api/v1/changes.',
    ],
  );
  assert.deepEqual(unlistedChanges({ changes: [] }, { changes: [], onset_at: firedAt }), []);
});

test('a note is no change: who writes one has changed nothing, and neither has who draws the topology', async () => {
  const feed = (['note', 'deploy', 'topology'] as const).map((kind, id) => ({
    id,
    at: firedAt - 1_000,
    kind,
    summary: `${kind} of shop`,
    device_id: '7',
  }));
  const gatherer: Pick<Gatherer, 'ask'> = {
    ask: async ({ source }) =>
      source === 'changes' ? { id: 'E1', value: { changes: feed } } : undefined,
  };
  const changes = await changesNear(gatherer as Gatherer, {
    devices: ['7'],
    services: [],
    firedAt,
    until: firedAt,
  });
  assert.deepEqual(
    changes.map(({ kind, title }) => [kind, title]),
    [['deploy', 'deploy of shop']],
  );
});
