import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';
import {
  calibrate,
  enoughLabels,
  fetchWindow,
  investigate,
  pearson,
  type Series,
  type Snapshot,
  usualOf,
  windowsOf,
} from 'svc/rca';

import { calibrated } from '../../../../plugins/lib/rca/causes/calibration.ts';
import { folded } from '../../../../plugins/lib/rca/causes/changes.ts';
import { deviationOf, floorOf } from '../../../../plugins/lib/rca/signals/deviation.ts';
import type { RelatedChange } from '../../../../plugins/lib/rca/signals/findings.ts';
import { resampled } from '../../../../plugins/lib/rca/signals/grid.ts';
import { rankedTemplates } from '../../../../plugins/lib/rca/signals/logs.ts';

const values = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), {
  minLength: 5,
  maxLength: 60,
});
const minute = 60_000;

const series = (numbers: readonly (number | null)[], more: Partial<Series> = {}): Series => ({
  id: 'S',
  evidence: 'E1',
  node: 'n',
  metric: 'm',
  kind: 'latency',
  unit: 'seconds',
  from: 0,
  step_ms: minute,
  values: numbers,
  ...more,
});

test('changes that differ in numbers alone are told as one, the likeliest of them; what differs in place, kind or words is not', () => {
  const change = (id: string, title: string, more: Partial<RelatedChange> = {}): RelatedChange => ({
    id,
    at: 0,
    kind: 'other',
    title,
    evidence: id,
    score: 0.5,
    before_ms: 1,
    ...more,
  });
  const many = [
    change('1', 'relation 14 created'),
    change('2', 'relation 2 created'),
    change('3', 'relation 3 deleted'),
  ];
  const told = folded([
    ...many,
    change('4', 'relation 7 created'),
    change('5', 'relation 8 created', { node: 'n' }),
    change('6', 'relation 9 created', { kind: 'rule' }),
  ]);
  assert.deepEqual(
    told.map(({ id, title }) => [id, title]),
    [
      ['1', 'relation 14 created, and 2 more like it'],
      ['3', 'relation 3 deleted'],
      ['5', 'relation 8 created'],
      ['6', 'relation 9 created'],
    ],
  );
});

describe('what is usual', () => {
  test('moves with the values and grows with their scale, and a few wild ones do not move it', () => {
    fc.assert(
      fc.property(
        values,
        fc.integer({ min: -1_000, max: 1_000 }),
        fc.integer({ min: 1, max: 50 }),
        (numbers, offset, factor) => {
          const plain = usualOf(numbers);
          const other = usualOf(numbers.map((value) => value * factor + offset));
          const close = (a: number, b: number): boolean =>
            Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(a), Math.abs(b));
          return (
            close(other.median, plain.median * factor + offset) &&
            close(other.mad, plain.mad * factor) &&
            plain.mad >= 0
          );
        },
      ),
    );
    assert.equal(usualOf([...Array<number>(40).fill(7), 1e9, -1e9, 1e12]).median, 7);
  });

  test('correlation lies between -1 and 1, is the same both ways, and nothing where one stands still', () => {
    fc.assert(
      fc.property(
        values,
        values,
        (a, b) => Math.abs(pearson(a, b)) <= 1 && Math.abs(pearson(a, b) - pearson(b, a)) < 1e-9,
      ),
    );
    assert.equal(pearson([1, 1, 1, 1], [1, 2, 3, 4]), 0);
    assert.ok(pearson([1, null, 2, 3, null, 4], [2, 9, 4, 6, 9, 8]) > 0.999_999);
  });
});

describe('a deviation', () => {
  const baseline = { from: 0, to: 59 * minute };
  const incident = { from: 60 * minute, to: 69 * minute };
  const quiet = Array.from({ length: 60 }, (_, at) => 0.1 + 0.001 * (at % 5));

  test('has floors by what is counted: absolute for shares of failures, relative for the rest', () => {
    assert.equal(floorOf({ kind: 'error_ratio', unit: 'ratio' }, 0.5), 0.001);
    assert.equal(floorOf({ kind: 'error_ratio', unit: 'percent' }, 50), 0.1);
    assert.equal(floorOf({ kind: 'latency', unit: 'seconds' }, 2), 0.1);
  });

  test('is seen from its first sample, by its size, and on its bad side only', () => {
    const risen = deviationOf(
      series([...quiet, ...quiet.slice(0, 4), ...Array<number>(6).fill(0.5)]),
      baseline,
      incident,
    )!;
    assert.ok(risen.peak > 20);
    assert.equal(risen.onset_at, 64 * minute);
    const fallen = deviationOf(
      series([...quiet, ...Array<number>(10).fill(0.01)]),
      baseline,
      incident,
    )!;
    assert.equal(fallen.peak, 0);
    assert.ok(
      deviationOf(
        series([...quiet, ...Array<number>(10).fill(0.01)], { worse: 'down' }),
        baseline,
        incident,
      )!.peak > 5,
    );
  });

  test('is none where nothing was measured before or during', () => {
    assert.equal(deviationOf(series(quiet), baseline, incident), undefined);
    assert.equal(
      deviationOf(
        series([...Array<null>(60).fill(null), ...quiet.slice(0, 10)]),
        baseline,
        incident,
      ),
      undefined,
    );
  });

  test('is measured against the same hours of yesterday where those stray less', () => {
    const uneasy = Array.from({ length: 70 }, (_, at) => (at < 60 ? 1 + (at % 10) * 0.3 : 4));
    const calm = Array.from({ length: 70 }, (_, at) => 1 + (at % 2) * 0.02);
    const alone = deviationOf(series(uneasy), baseline, incident)!;
    const beside = deviationOf(
      series(uneasy, { earlier: [{ ago_ms: 86_400_000, values: calm }] }),
      baseline,
      incident,
    )!;
    assert.ok(alone.peak < 5 && beside.peak > 20, `${alone.peak} and ${beside.peak}`);
  });
});

test('a series that is laid on the grid of another keeps its last sample, wherever the period begins', () => {
  const one = series([0, 0, 0, 0, 0, 9]);
  assert.deepEqual(resampled(one, { from: 2 * minute + 1, to: 5 * minute }, minute), [0, 0, 9]);
  assert.deepEqual(resampled(one, { from: minute, to: 5 * minute }, 2 * minute), [0, 0, 4.5]);
});

/** Five hours of minutes, and a symptom of the front that has just fired. */
const last = 300;
const step = (usual: number, then: number) =>
  Array.from({ length: last + 1 }, (_, at) =>
    at < last - 3 ? usual * (1 + 0.02 * (at % 3)) : then,
  );
const of = (
  node: string,
  metric: string,
  numbers: readonly (number | null)[],
  more: Partial<Series> = {},
): Series => series(numbers, { id: `${node}/${metric}`, node, metric, ...more });
const seen = (parts: Pick<Snapshot, 'nodes' | 'edges' | 'series'>): Snapshot => ({
  version: 1,
  taken_at: last * minute,
  window: { from: 0, to: last * minute },
  logs: [],
  spans: [],
  changes: [],
  checks: [],
  missing: [],
  symptom: {
    node: 'service:front',
    series: 'service:front/latency',
    metric: 'latency',
    kind: 'latency',
    direction: 'up',
    labels: {},
    fired_at: last * minute,
  },
  ...parts,
  evidence: [
    {
      id: 'E1',
      kind: 'metric',
      source: 'metrics',
      query: 'm',
      window: { from: 0, to: last * minute },
      fetched_at: 0,
      digest: {},
      trust: 'trusted',
      sha256: '',
    },
  ],
});

test('a processor that is used up is what is told of a host, and not the connections that pile up there and go further', () => {
  const snapshot = seen({
    nodes: [
      { id: 'service:front', kind: 'service', name: 'front' },
      { id: 'device:1', kind: 'host', name: 'web-1' },
    ],
    edges: [
      {
        from: 'service:front',
        to: 'device:1',
        relation: 'runs_on',
        origin: 'trace',
        evidence: 'E1',
      },
    ],
    series: [
      of('service:front', 'latency', step(0.2, 1.5)),
      of('device:1', 'node_cpu_usage_percent', step(20, 98), { kind: 'cpu', unit: 'percent' }),
      of('device:1', 'node_open_fds_percent', step(0.9, 45), { kind: 'other', unit: 'percent' }),
      of('device:1', 'node_load1', step(0.8, 12), { kind: 'load', unit: 'count' }),
    ],
  });
  const { root_cause: cause, hypotheses } = investigate(snapshot);
  assert.deepEqual(
    [cause?.node ?? hypotheses[0]!.node, hypotheses[0]!.indicator?.name],
    ['device:1', 'node_cpu_usage_percent'],
  );
});

test('what is known only from its callers comes after a service whose trouble is for the most part its own', () => {
  const calls = (from: string, to: string) => ({
    from,
    to,
    relation: 'calls',
    origin: 'trace' as const,
    evidence: 'E1',
  });
  const late = step(0.1, 0.1).map((value, at) =>
    at < last - 1 ? value : at === last - 1 ? 1.1 : 1.2,
  );
  const snapshot = seen({
    nodes: [
      ...['front', 'search', 'store'].map((name) => ({
        id: `service:${name}`,
        kind: 'service',
        name,
      })),
      { id: 'balancer', kind: 'remote', name: 'balancer' },
    ],
    edges: [
      calls('service:front', 'balancer'),
      calls('service:front', 'service:search'),
      calls('service:search', 'service:store'),
    ],
    series: [
      of('service:front', 'latency', step(0.2, 1.5)),
      of('service:search', 'latency', step(0.2, 1.4)),
      of('service:store', 'latency', late),
      of('balancer', 'latency', step(0.2, 1.4)),
    ],
  });
  const { hypotheses } = investigate(snapshot);
  assert.deepEqual(
    hypotheses.map(({ node }) => node).filter((node) => node !== 'service:front'),
    ['service:search', 'balancer', 'service:store'],
    JSON.stringify(hypotheses.map(({ node, score, correlation }) => [node, score, correlation])),
  );
});

const service = (name: string) => ({ id: `service:${name}`, kind: 'service', name });
const call = (from: string, to: string) => ({
  from: `service:${from}`,
  to: `service:${to}`,
  relation: 'calls',
  origin: 'trace' as const,
  evidence: 'E1',
});

test('a millisecond explains no second, however unusual it is, and a second does', () => {
  const causeBy = (usual: number, then: number) =>
    investigate(
      seen({
        nodes: ['front', 'tax'].map(service),
        edges: [call('front', 'tax')],
        series: [
          of('service:front', 'latency', step(0.2, 1.5)),
          of('service:tax', 'latency', step(usual, then)),
        ],
      }),
    ).hypotheses[0]!.node;
  assert.equal(causeBy(0.001, 0.002), 'service:front');
  assert.equal(causeBy(0.1, 1.3), 'service:tax');
});

test('what gets better while the symptom gets worse is not like it', () => {
  const { hypotheses } = investigate(
    seen({
      nodes: ['front', 'mail'].map(service),
      edges: [call('front', 'mail')],
      series: [
        of('service:front', 'latency', step(0.2, 1.5)),
        of(
          'service:mail',
          'latency',
          step(0.1, 0.1).map((value, at) => (at >= last - 14 && at < last - 3 ? 2 : value)),
        ),
      ],
    }),
  );
  assert.deepEqual(
    hypotheses.map(({ node }) => node),
    ['service:front'],
  );
});

test('failures that were never measured before began when they did, and not with what was there earlier', () => {
  const ratio = { kind: 'error_ratio', unit: 'ratio' } as const;
  const none = step(0, 0);
  const at = (from: number, value: (since: number) => number) =>
    none.map((usual, index) => (index < from ? usual : value(index - from)));
  const snapshot = seen({
    nodes: ['front', 'orders', 'cache'].map(service),
    edges: [call('front', 'orders'), call('front', 'cache')],
    series: [
      of(
        'service:front',
        'latency',
        none.map((_, index) => (index < last - 1 ? null : 0.7)),
        ratio,
      ),
      of(
        'service:orders',
        'failing',
        at(last - 5, (since) => 0.6 - 0.1 * since),
        ratio,
      ),
      of(
        'service:cache',
        'memory_of_limit',
        at(last - 1, () => 1),
        {
          kind: 'saturation',
          unit: 'ratio',
        },
      ),
    ],
  });
  const { hypotheses } = investigate({
    ...snapshot,
    symptom: { ...snapshot.symptom, kind: 'error_ratio' },
  });
  assert.equal(hypotheses[0]!.node, 'service:cache', JSON.stringify(hypotheses));
});

test('of two that answer equally badly, the one with a reason within itself is named, and the reason is told', () => {
  const pool = { kind: 'saturation', unit: 'ratio' } as const;
  const { hypotheses } = investigate(
    seen({
      nodes: ['front', 'cart', 'stock'].map(service),
      edges: [call('front', 'cart'), call('front', 'stock')],
      series: [
        of('service:front', 'latency', step(0.2, 1.5)),
        of('service:cart', 'latency', step(0.1, 1.3)),
        of('service:stock', 'latency', step(0.1, 1.3)),
        of('service:stock', 'pool_active', step(0.2, 1), pool),
      ],
    }),
  );
  assert.equal(hypotheses[0]!.node, 'service:stock');
  assert.match(
    hypotheses[0]!.text,
    /latency went from .+; pool_active went from 20\.\d % to 100 %/,
  );
});

test('the onset is where the shift begins, long before the alert fires', () => {
  const slow = Array.from(
    { length: 600 },
    (_, at) => 0.2 + 0.002 * (at % 3) + (at < 520 ? 0 : (at - 520) * 0.01),
  );
  const one = series(slow, { id: 'S' });
  const snapshot = {
    symptom: { node: 'n', series: 'S', fired_at: 570 * minute },
    series: [one],
    window: { from: 0, to: 580 * minute },
    taken_at: 580 * minute,
  } as unknown as Snapshot;
  const { onset } = windowsOf(snapshot, one);
  assert.ok(onset >= 519 * minute && onset <= 526 * minute, `${onset / minute}`);
});

test('the onset is not moved to something that came all the way back before', () => {
  const hump = [0.34, 0.36, 0.37, 0.31, 0.31, 0.34, 0.38, 0.34];
  const uneasy = Array.from({ length: 600 }, (_, at) =>
    at === 599 ? 0.64 : at >= 580 && at < 588 ? hump[at - 580]! : 0.25 + 0.001 * (at % 4),
  );
  const one = series(uneasy, { id: 'S' });
  const snapshot = {
    symptom: { node: 'n', series: 'S', fired_at: 599 * minute },
    series: [one],
    window: { from: 0, to: 599 * minute },
    taken_at: 599 * minute,
  };
  assert.equal(windowsOf(snapshot as unknown as Snapshot, one).onset, 599 * minute);
});

test('what is fetched for an alert lies on the same minutes whenever it is asked, and what fired it is among it', () => {
  const firedAt = 1_000_123_456;
  for (const later of [0, 900, 59_999, 60_000, 754_321, 9_999_999]) {
    const { from, to } = fetchWindow(firedAt, firedAt + later);
    assert.deepEqual(
      [(to - from) % minute, (firedAt - from) % minute, to >= firedAt],
      [0, 0, true],
    );
  }
});

describe('a share of failures that was never measured before', () => {
  const periods = [
    { from: 0, to: 59 * minute },
    { from: 60 * minute, to: 69 * minute },
  ] as const;
  const young = Array.from({ length: 70 }, (_, at) => (at < 65 ? null : 0.3));
  const share = { kind: 'error_ratio', unit: 'ratio' } as const;

  test('deviates where anything fails: of all that is well nothing does', () => {
    const found = deviationOf(series(young, share), ...periods)!;
    assert.deepEqual([found.usual.count, found.onset_at, found.peak], [0, 65 * minute, 30]);
    assert.equal(
      deviationOf(
        series(
          young.map((value, at) => value && (at < 67 ? 0.02 : 0.3)),
          share,
        ),
        ...periods,
      )!.onset_at,
      67 * minute,
      'single failures are none',
    );
    assert.equal(
      deviationOf(
        series(
          young.map((value) => value && 0),
          share,
        ),
        ...periods,
      )!.peak,
      0,
    );
  });

  test('is no such thing where it is good, counted, or of another kind', () => {
    for (const more of [
      { ...share, worse: 'down' },
      { ...share, unit: 'count' },
      { kind: 'latency', unit: 'seconds' },
    ] as const) {
      assert.equal(deviationOf(series(young, more), ...periods), undefined);
    }
  });
});

describe('kinds of lines', () => {
  const baseline = { from: 0, to: 59 * minute };
  const incident = { from: 60 * minute, to: 69 * minute };
  const log = (id: string, counts: readonly number[], more: object = {}) => ({
    id,
    evidence: 'E1',
    node: 'n',
    template: id,
    severity: 'error' as const,
    from: 0,
    bucket_ms: minute,
    counts,
    samples: [],
    ...more,
  });

  test('rank by novelty, then by rate, then by how bad they are', () => {
    const steady = (usual: number, now: number): number[] => [
      ...Array<number>(60).fill(usual),
      ...Array<number>(10).fill(now),
    ];
    const ranked = rankedTemplates(
      [
        log('steady', steady(5, 5)),
        log('more', steady(5, 60)),
        log('new', steady(0, 2)),
        log('new and mild', steady(0, 9), { severity: 'info' }),
      ],
      baseline,
      incident,
    );
    assert.deepEqual(
      ranked.map(({ log: { id } }) => id),
      ['new', 'more', 'new and mild'],
    );
  });

  test('that began while the symptom did are not said to have come before it', () => {
    const coarse = log('coarse', [...Array<number>(11).fill(0), 0, 40, 40], {
      bucket_ms: 5 * minute,
    });
    const [found] = rankedTemplates([coarse], baseline, { from: 62 * minute, to: 69 * minute });
    assert.equal(found!.first_at, 62 * minute);
  });

  test('gain by words no more than a warning would, and only where nobody said how severe they are', () => {
    const counts = [...Array<number>(60).fill(0), ...Array<number>(10).fill(9)];
    const score = (template: string, severity: string): number =>
      rankedTemplates([log('x', counts, { template, severity })], baseline, incident)[0]!.score;
    assert.equal(
      score('fatal error: panic, exception, failed', 'unknown'),
      score('all is well', 'warn'),
    );
    assert.equal(
      score('fatal error: panic, exception, failed', 'info'),
      score('all is well', 'info'),
    );
  });
});

describe('calibration', () => {
  const label = fc.record({
    value: fc.double({ min: 0, max: 1, noNaN: true }),
    right: fc.constantFrom(0, 0.5, 1),
  });

  test('needs thirty answers, and never says less for more', () => {
    fc.assert(
      fc.property(
        fc.array(label, { maxLength: 80 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (labels, a, b) => {
          const curve = calibrate(labels);
          if (curve === undefined) {
            return labels.length < enoughLabels;
          }
          const [low, high] = [
            calibrated(Math.min(a, b), curve),
            calibrated(Math.max(a, b), curve),
          ];
          return labels.length >= enoughLabels && low <= high + 1e-12 && low >= 0 && high <= 1;
        },
      ),
    );
  });

  test('says how often reports of that confidence were right', () => {
    const labels = Array.from({ length: 200 }, (_, at) => ({
      value: at / 200,
      right: (at * 7) % 10 < (at < 100 ? 2 : 8) ? 1 : 0,
    }));
    const curve = calibrate(labels)!;
    assert.ok(Math.abs(calibrated(0.2, curve) - 0.2) < 0.12);
    assert.ok(Math.abs(calibrated(0.8, curve) - 0.8) < 0.12);
  });
});
