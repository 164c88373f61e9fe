import assert from 'node:assert/strict';
import { test } from 'node:test';

import { investigate, type Series, type Snapshot } from 'svc/rca';

const minute = 60_000;
const from = 1_700_000_000_000;
const length = 120;
const firedAt = from + 110 * minute;

const series = (node: string, kind: Series['kind'], values: (at: number) => number): Series => ({
  id: `${node}/${kind}`,
  evidence: 'E1',
  node,
  metric: 'http_requests_total',
  kind,
  unit: 'per_second',
  from,
  step_ms: minute,
  values: Array.from({ length }, (_, at) => values(at)),
});

/** A symptom that leaves what is usual, among so many nodes of which only so many are measured. */
function snapshotOf(kind: Series['kind'], nodes: number, measured: number): Snapshot {
  const window = { from, to: from + length * minute };
  const all = Array.from({ length: nodes }, (_, at) => `service:${at}`);
  const jump = (at: number): number => (at >= 105 ? 9 : 1) + (at % 3) / 100;
  return {
    version: 1,
    taken_at: window.to,
    window,
    symptom: {
      node: 'service:0',
      series: `service:0/${kind}`,
      metric: 'http_requests_total',
      kind,
      direction: 'up',
      labels: {},
      fired_at: firedAt,
    },
    nodes: all.map((id) => ({ id, kind: 'service', name: id.slice(8) })),
    edges: all
      .slice(1)
      .map((to) => ({ from: 'service:0', to, relation: 'calls', origin: 'trace' })),
    series: [
      series('service:0', kind, jump),
      ...all.slice(1, measured).map((id) => series(id, 'rate', (at) => 1 + (at % 3) / 100)),
    ],
    logs: [],
    spans: [],
    changes: [],
    checks: [],
    missing: [],
    evidence: [
      {
        id: 'E1',
        kind: 'metric',
        source: 'metrics',
        query: 'q',
        window,
        fetched_at: window.to,
        digest: {},
        sha256: '0',
        trust: 'trusted',
      },
    ],
  };
}

test('no verdict says that nothing is wrong while the symptom deviates', () => {
  for (const kind of ['errors', 'other', 'queue', 'latency', 'rate'] as const) {
    for (const measured of [1, 6, 12]) {
      const { verdict, summary, claims } = investigate(snapshotOf(kind, 12, measured));
      assert.ok(claims.some(({ status, text }) => status === 'verified' && text.includes('left')));
      // More requests than usual explain themselves, in words that say so.
      assert.ok(
        verdict !== 'no_anomaly' || /times its usual rate/.test(summary),
        `${kind}: ${summary}`,
      );
      assert.doesNotMatch(summary, /Nothing that was looked at/);
    }
  }
});

test('of what is hardly measured nothing is named, and nothing is sure', () => {
  const { verdict, root_cause: cause, confidence } = investigate(snapshotOf('errors', 12, 2));
  assert.deepEqual([verdict, cause, confidence.level], ['insufficient_data', null, 'low']);
  assert.ok(confidence.value < 0.45, String(confidence.value));
  assert.equal(confidence.parts.coverage.toFixed(2), (2 / 12).toFixed(2));
});

/** A symptom that depends on two services; each of those named fails on a resource of its own. */
function forked(broken: readonly string[]): Snapshot {
  const snapshot = snapshotOf('error_ratio', 3, 3);
  const shape = (low: number, high: number) => (at: number) =>
    (at >= 105 ? high : low) + (at % 3) / 1_000;
  const share = (node: string, high: number): Series => ({
    ...series(node, 'error_ratio', shape(0.01, high)),
    unit: 'ratio',
  });
  const used = (node: string, high: number): Series => ({
    ...series(node, 'saturation', shape(0.3, high)),
    metric: 'pool_used_ratio',
    unit: 'ratio',
  });
  return {
    ...snapshot,
    series: [
      share('service:0', 0.4),
      ...['service:1', 'service:2'].flatMap((node) => [
        share(node, broken.includes(node) ? 0.4 : 0.01),
        used(node, broken.includes(node) ? 0.99 : 0.3),
      ]),
    ],
  };
}

test('of two independent causes the second is named as such; of one there is no other', () => {
  const both = investigate(forked(['service:1', 'service:2'])).summary;
  assert.match(
    both,
    /^(?:Cause|Suspected): ([12]): .+ There may be another, independent cause: (?!\1)[12]: /,
  );
  assert.doesNotMatch(investigate(forked(['service:1'])).summary, /another, independent cause/);
});
