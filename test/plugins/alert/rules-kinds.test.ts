import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { LabelRecord } from 'svc/contracts/metricsdb';
import { budget } from 'svc/query';

import { builtInRules } from '../../../plugins/alert/authoring/built-in-rules.ts';
import { bodyOf, type Draft } from '../../../plugins/alert/authoring/rule-draft.ts';
import { answerRows } from '../../../plugins/alert/instance/answer-rows.ts';
import { factorOf } from '../../../plugins/alert/kinds/metric-burn-rate.ts';
import { planOf } from '../../../plugins/alert/kinds/rule-plan.ts';
import {
  comparisonOf,
  compares,
  directionIn,
  isSelector,
} from '../../../plugins/alert/rule/expression.ts';
import type { Leg, Rule } from '../../../plugins/alert/rule/rule.ts';
import { RuleTexts } from '../../../plugins/alert/template/template.ts';
import { instant, parse } from '../../../plugins/metricsdb/promql/index.ts';
import { ScratchStore } from '../../../plugins/metricsdb/service/scratch-store.ts';
import { draft } from './rules-house.ts';

const minute = 60_000;
const hour = 60 * minute;
const now = 100 * 24 * hour;

/** Series sampled every half minute until now; `of` is given how many milliseconds ago. */
class World {
  readonly store = new ScratchStore();

  add(
    name: string,
    labels: Readonly<Record<string, string>>,
    of: (agoMs: number) => number | undefined,
    backMs = 6 * hour,
    step = 30_000,
  ): this {
    const samples = Array.from(
      { length: Math.floor(backMs / step) + 1 },
      (_, index) => backMs - index * step,
    ).flatMap((ago) => {
      const value = of(ago);
      return value === undefined ? [] : [[now - ago, value] as const];
    });
    this.store.add([
      {
        labels: { ...labels, __name__: name },
        times: Float64Array.from(samples, ([time]) => time),
        values: Float64Array.from(samples, ([, value]) => value),
      },
    ]);
    return this;
  }

  async values(
    query: string,
  ): Promise<{ readonly labels: Record<string, string>; readonly value: number }[]> {
    const answer = await instant(
      this.store,
      { query, time: now },
      budget({ timeoutMs: 10_000, now: () => 0 }),
    );
    assert.equal(answer.type, 'vector');
    return answer.type === 'vector'
      ? answer.samples.map(({ labels, value }) => ({
          labels: Object.fromEntries(pairs(labels)),
          value,
        }))
      : [];
  }

  /** Dedupe keys that a condition makes breach now. */
  async keys(more: Readonly<Record<string, unknown>>): Promise<string[]> {
    const rule = ruleOf(more);
    const plan = planOf(rule);
    const [leg] = plan.legs;
    const found = await this.values(leg!.query);
    const labels = found.map((one) => one.labels);
    const values = Float64Array.from(found, ({ value }) => value);
    const frame = {
      rule,
      plan,
      labelsOf: (of: Rule, series: LabelRecord, value: number) =>
        new RuleTexts().labels(of, series, value),
    };
    const { rows } = answerRows(
      { type: 'vector', labels, values, times: values, warnings: [] },
      frame,
      leg!.threshold,
    );
    return [...new Set([...rows.values()].map(({ group }) => group))];
  }
}

function* pairs(labels: readonly string[]): Generator<[string, string]> {
  for (let i = 0; i < labels.length; i += 2) {
    yield [labels[i]!, labels[i + 1]!];
  }
}

const ruleOf = (more: Readonly<Record<string, unknown>>): Rule => ({
  ...bodyOf(draft({ rule_key: 'r', ...more }) as unknown as Draft),
  id: 1,
  created_by: '',
  created_at: '',
  updated_at: '',
});
const legOf = (more: Readonly<Record<string, unknown>>): Leg => planOf(ruleOf(more)).legs[0]!;
const refusalOf = (kind: string, condition: object, more: object = {}): string => {
  try {
    ruleOf({ kind, conditions: [condition], ...more });
  } catch (error) {
    return (error as Error).message;
  }
  return 'taken';
};

test('metric_threshold: each field is part of the expression', () => {
  const condition = { metric: 'node_load1', operator: '>', threshold: 4 };
  const expr = (more: object, rule: object = {}): string =>
    legOf({ kind: 'metric_threshold', conditions: [{ ...condition, ...more }], ...rule }).query;
  assert.equal(expr({}), 'node_load1 > 4');
  assert.equal(
    expr({ metric: 'node_swap_used_percent', threshold: -1.5, operator: '<=' }),
    'node_swap_used_percent <= -1.5',
  );
  assert.equal(expr({ operator: '==' }), 'node_load1 == 4');
  assert.equal(expr({ window: '5m' }), 'avg_over_time(node_load1[5m]) > 4');
  assert.equal(
    expr({ window: '1h30m', aggregator: 'max' }),
    'max_over_time(node_load1[1h30m]) > 4',
  );
  assert.equal(expr({ window: '5m', aggregator: 'min' }), 'min_over_time(node_load1[5m]) > 4');
  assert.equal(
    expr({ aggregator: 'max' }),
    'max by (device_id) (node_load1) > 4',
    'without a window: over the series of a host',
  );
  assert.equal(expr({ aggregator: 'avg' }, { scope_type: 'global' }), 'avg (node_load1) > 4');
  const leg = legOf({
    kind: 'metric_threshold',
    conditions: [{ ...condition, window: '5m', for: '2m' }],
  });
  assert.deepEqual(
    [leg.forMs, leg.threshold, leg.measure],
    [2 * minute, 4, 'avg_over_time(node_load1[5m])'],
  );
  assert.match(
    refusalOf('metric_threshold', { ...condition, operator: '!=' }),
    /operator: must be one of >, >=, <, <=, ==/,
  );
  assert.match(
    refusalOf('metric_threshold', { ...condition, threshold: '4' }),
    /threshold: must be a number/,
  );
  assert.match(
    refusalOf('metric_threshold', { ...condition, aggregator: 'sum' }),
    /aggregator: must be one of avg, max, min/,
  );
});

test('metric_threshold: window and aggregator decide what fires', async () => {
  const world = new World()
    .add('node_load1', { device_id: '7' }, (ago) => (ago === 0 ? 10 : 1))
    .add('node_load1', { device_id: '8' }, () => 5);
  const fires = (more: object): Promise<string[]> =>
    world.keys({
      kind: 'metric_threshold',
      conditions: [{ metric: 'node_load1', operator: '>', threshold: 4, ...more }],
    });
  assert.deepEqual(await fires({}), ['r:host:7', 'r:host:8']);
  assert.deepEqual(await fires({ window: '10m' }), ['r:host:8'], 'one peak is no average');
  assert.deepEqual(await fires({ window: '10m', aggregator: 'max' }), ['r:host:7', 'r:host:8']);
  assert.deepEqual(await fires({ window: '10m', aggregator: 'min' }), ['r:host:8']);
});

test('metric_anomaly: metric, window and z_threshold; the point itself is no part of its baseline', async () => {
  const noise = (ago: number): number => 100 + 5 * Math.sin(ago / 70_000);
  const world = new World()
    .add('requests', { device_id: '1' }, noise)
    .add('requests', { device_id: '2' }, (ago) => (ago === 0 ? 140 : noise(ago)))
    .add('requests', { device_id: '3' }, (ago) => (ago === 0 ? 109 : noise(ago)))
    .add('requests', { device_id: '4' }, (ago) =>
      ago === 0 ? 140 : ago < 10 * minute ? noise(ago) : undefined,
    )
    .add('requests', { device_id: '5' }, (ago) => (ago === 0 ? 100.5 : 100 + 0.01 * Math.sin(ago)));
  const fires = (more: object): Promise<string[]> =>
    world.keys({
      kind: 'metric_anomaly',
      conditions: [{ metric: 'requests', window: '1h', z_threshold: 4, ...more }],
    });
  assert.deepEqual(
    await fires({}),
    ['r:host:2'],
    'not 4: fewer than 30 samples; not 5: within 1 % of the mean',
  );
  assert.deepEqual(await fires({ z_threshold: 2 }), ['r:host:2', 'r:host:3']);
  assert.deepEqual(await fires({ metric: 'requests{device_id="1"}' }), []);
  assert.deepEqual(
    await fires({ metric: 'requests * 2' }),
    ['r:host:2'],
    'an expression that is no selector',
  );
  assert.deepEqual(
    await fires({ window: '5m' }),
    [],
    'too short for a baseline of 30 at this pace',
  );
  assert.match(
    refusalOf('metric_anomaly', { metric: 'x', window: '2m', z_threshold: 3 }),
    /window: must be at least 5m/,
  );
  assert.match(
    refusalOf('metric_anomaly', { metric: 'x', window: '1h', z_threshold: 0 }),
    /z_threshold: must be above 0/,
  );
  assert.equal(
    legOf({
      kind: 'metric_anomaly',
      conditions: [{ metric: 'x', window: '1h', z_threshold: 3, for: '5m' }],
    }).forMs,
    5 * minute,
  );
  const slow = legOf({
    kind: 'metric_anomaly',
    interval_seconds: 300,
    conditions: [{ metric: 'x', window: '1h', z_threshold: 3 }],
  });
  assert.match(slow.query, /offset 5m/, 'the baseline ends where the last evaluation was');
});

test('metric_forecast: a line through the window that will cross below, or above', async () => {
  const world = new World()
    .add('free', { device_id: '1' }, (ago) => 100 + ago / minute)
    .add('free', { device_id: '2' }, () => 500)
    .add('free', { device_id: '3' }, (ago) => 100 + (ago < 10 * minute ? 0 : ago / minute))
    .add('free', { device_id: '4' }, (ago) => (ago < 3 * minute ? 10 + ago / 1_000 : undefined))
    .add('free', { device_id: '5' }, (ago) => -5 + ago / minute);
  const fires = (more: object): Promise<string[]> =>
    world.keys({
      kind: 'metric_forecast',
      conditions: [{ metric: 'free', window: '1h', forecast_for: '2h', below: 0, ...more }],
    });
  assert.deepEqual(
    await fires({}),
    ['r:host:1', 'r:host:3'],
    'not 4: too few samples; not 5: below already',
  );
  assert.deepEqual(await fires({ window: '9m', forecast_for: '30m' }), []);
  assert.deepEqual(await fires({ forecast_for: '90m' }), []);
  assert.deepEqual(await fires({ below: 400 }), [], 'all that fall are below already');
  assert.deepEqual(
    await world.keys({
      kind: 'metric_forecast',
      conditions: [{ metric: '0 - free', window: '1h', forecast_for: '2h', above: 0 }],
    }),
    ['r:host:1', 'r:host:3'],
  );
  const eta = async (
    metric: string,
    bound: object,
  ): Promise<(readonly [string | undefined, number])[]> => {
    const leg = legOf({
      kind: 'metric_forecast',
      conditions: [{ metric, window: '1h', forecast_for: '2h', ...bound }],
    });
    return (await world.values(leg.eta!)).map(
      ({ labels, value }) => [labels['device_id'], Math.round(value / 60)] as const,
    );
  };
  assert.deepEqual(
    (await eta('free', { below: 0 })).filter(([device]) => device === '1'),
    [['1', 100]],
    'minutes until it is at the bound',
  );
  assert.deepEqual(await eta('(0 - free{device_id="1"})', { above: -50 }), [['1', 50]]);
  assert.deepEqual(
    await eta('free{device_id="2"}', { below: 0 }),
    [],
    'what does not get there has none',
  );
  assert.match(
    refusalOf('metric_forecast', { metric: 'x', window: '1h', forecast_for: '1h' }),
    /below: is required, or above instead/,
  );
  assert.match(
    refusalOf('metric_forecast', {
      metric: 'x',
      window: '1h',
      forecast_for: '1h',
      below: 1,
      above: 2,
    }),
    /one of the two, not both/,
  );
  assert.match(
    refusalOf('metric_forecast', { metric: 'x', window: '1h', forecast_for: '5h', below: 1 }),
    /window: must be at least a quarter of forecast_for \(1h15m\)/,
  );
});

test('metric_forecast: quiet on too short a span of data, and far from the bound', async () => {
  const world = new World()
    .add('used', { device_id: '1' }, (ago) => 80 - (2 * ago) / hour)
    .add('used', { device_id: '2' }, (ago) =>
      ago < 34 * minute ? 80 - (2 * ago) / hour : undefined,
    )
    .add('used', { device_id: '3' }, (ago) => 33 - (4 * ago) / hour);
  const forecast = { metric: 'used', window: '6h', forecast_for: '1d', above: 100 };
  const fires = (more: object): Promise<string[]> =>
    world.keys({ kind: 'metric_forecast', conditions: [{ ...forecast, ...more }] });
  assert.deepEqual(
    await fires({}),
    ['r:host:1'],
    'not 2: 34 minutes of 6 hours; not 3: at a third of the bound',
  );
  assert.deepEqual(
    await fires({ metric: 'used * 1' }),
    ['r:host:1'],
    'an expression that is no selector',
  );
  assert.deepEqual(await fires({ min_span: '30m' }), ['r:host:1', 'r:host:2']);
  assert.deepEqual(await fires({ from_value: 0 }), ['r:host:1', 'r:host:3']);
  assert.deepEqual(await fires({ from_value: 90 }), []);
  const free = { metric: '100 - used', above: undefined, below: 0 };
  assert.deepEqual(
    await fires(free),
    ['r:host:1', 'r:host:3'],
    'above nothing there is no half of the way',
  );
  assert.deepEqual(await fires({ ...free, from_value: 40 }), ['r:host:1']);
  const { eta } = legOf({ kind: 'metric_forecast', conditions: [forecast] });
  assert.deepEqual(
    (await world.values(eta!)).map(({ labels }) => labels['device_id']),
    ['1'],
    'what is held back has no time',
  );
  const refused = (more: object): string => refusalOf('metric_forecast', { ...forecast, ...more });
  assert.match(refused({ min_span: '5h' }), /min_span: must be between 1s and 4h30m/);
  assert.match(refused({ min_span: 7 }), /min_span: must be a text/);
  assert.match(refused({ from_value: 100 }), /from_value: must be below 100/);
  assert.match(refused({ ...free, from_value: -1 }), /from_value: must be above 0/);
});

test('metric_burn_rate: factors of the workbook, and both windows must burn', async () => {
  assert.deepEqual(
    [1, 6, 24, 72].map((hours) => Number(factorOf(hours * hour).toFixed(6))),
    [14.4, 6, 3, 1],
  );
  const counter = (rate: (ago: number) => number): ((ago: number) => number) => {
    const sums = new Map<number, number>();
    let sum = 0;
    for (let ago = 6 * hour; ago >= 0; ago -= 30_000) {
      sum += 30 * rate(ago);
      sums.set(ago, sum);
    }
    return (ago) => sums.get(ago)!;
  };
  const service = (name: string, good: (ago: number) => number, total = 10): World => {
    world.add(
      'all',
      { device_id: name },
      counter(() => total),
    );
    return world.add(
      'good',
      { device_id: name },
      counter((ago) => total * good(ago)),
    );
  };
  const world = new World();
  service('fine', () => 1);
  service('burning', () => 0.97);
  service('burnt', (ago) => (ago > 10 * minute ? 0.9 : 1));
  service('rare', () => 0.5, 0.001);
  world.add(
    'all',
    { device_id: 'dead' },
    counter(() => 10),
  );
  const burn = { good: 'good', total: 'all', slo: 0.999, long: '1h', short: '5m' };
  const fires = (more: object, rule: object = {}): Promise<string[]> =>
    world.keys({ kind: 'metric_burn_rate', conditions: [{ ...burn, ...more }], ...rule });
  assert.deepEqual(
    (await fires({})).sort(),
    ['r:host:burning', 'r:host:dead'],
    'burnt has stopped; rare has too few events; of dead nothing was good',
  );
  assert.deepEqual(await fires({ slo: 0.98 }), ['r:host:dead']);
  assert.deepEqual(await fires({ factor: 40 }), ['r:host:dead']);
  assert.ok((await fires({ min_events: 1 })).includes('r:host:rare'));
  assert.ok((await fires({ short: '30m' })).includes('r:host:burnt'));
  assert.ok(!(await fires({ long: '5m', short: '1m', factor: 14.4 })).includes('r:host:burnt'));
  assert.deepEqual(await fires({}, { scope_type: 'global' }), ['r:global:global']);
  const written = {
    good: 'sum by (device_id) (increase(good[$window]))',
    total: 'sum by (device_id) (increase(all[$window]))',
  };
  assert.ok((await fires(written)).includes('r:host:burning'));
  const rates = await fires({ good: 'rate(good[2m])', total: 'rate(all[2m])' });
  assert.deepEqual(
    rates.sort(),
    ['r:host:burning', 'r:host:dead', 'r:host:rare'],
    'averages over the windows; events that are not counted are not too few',
  );
  assert.match(
    refusalOf('metric_burn_rate', { ...burn, slo: 0.9 }),
    /slo: can never be reached: .* burns 10 times .* factor is 14\.4/,
  );
  assert.match(refusalOf('metric_burn_rate', { ...burn, slo: 1 }), /slo: must be below 1/);
  assert.match(
    refusalOf('metric_burn_rate', { ...burn, short: '1h' }),
    /short: must be shorter than long/,
  );
});

test('log_match: one query for all devices; log_volume needs its comparison', () => {
  const query = (expr: string, more: object = {}): string =>
    legOf({ kind: 'log_match', conditions: [{ expr }], ...more }).query;
  assert.equal(
    query('{job="a"} |= "error"'),
    'sum by (device_id) (count_over_time({job="a"} |= "error" [40s])) > 0',
  );
  for (const placeholder of ['{{device_id}}', '{{ .device_id }}', '$device_id', '${device_id}']) {
    assert.equal(
      query(`{job="a", device_id="${placeholder}"}`),
      'sum by (device_id) (count_over_time({job="a", device_id=~".+"} [40s])) > 0',
    );
  }
  assert.equal(
    query('{job="a"}', { scope_type: 'global', interval_seconds: 60 }),
    'sum (count_over_time({job="a"} [1m10s])) > 0',
  );
  assert.equal(
    query('{job="a"}', { scope_type: 'global', dimensions: ['job'] }),
    'sum by (job) (count_over_time({job="a"} [40s])) > 0',
  );
  assert.match(
    refusalOf('log_match', { expr: '{job="a"} |= "host {{device_id}}"' }),
    /outside of a matcher/,
  );
  const volume = legOf({
    kind: 'log_volume',
    conditions: [{ expr: 'sum by (device_id) (rate({job="a"} |= ">" [5m])) > 100', for: '1m' }],
  });
  assert.deepEqual(volume, {
    store: 'logs',
    query: 'sum by (device_id) (rate({job="a"} |= ">" [5m])) > 100',
    measure: 'sum by (device_id) (rate({job="a"} |= ">" [5m]))',
    threshold: 100,
    forMs: minute,
  });
  assert.match(
    refusalOf('log_volume', { expr: 'sum(rate({job="a"} |= "a > b" != "c" [5m]))' }),
    /has no comparison/,
  );
});

test('trace_latency and trace_error_rate: service, percentile, bound and window', async () => {
  const bounds = [0.1, 0.5, 1, 5, Infinity];
  const world = new World();
  const count =
    (perMinute: number): ((ago: number) => number) =>
    (ago) =>
      ((6 * hour - ago) / minute) * perMinute;
  const spans = (
    service: string,
    device: string,
    perBucket: readonly number[],
    kind = 'SPAN_KIND_SERVER',
  ): void => {
    let sum = 0;
    bounds.forEach((bound, index) => {
      sum += perBucket[index]!;
      const le = bound === Infinity ? '+Inf' : String(bound);
      world.add(
        'traces_spanmetrics_latency_bucket',
        { service, device_id: device, span_kind: kind, le },
        count(sum),
      );
    });
  };
  spans('shop', '1', [90, 6, 2, 2, 0]);
  spans('shop', '2', [100, 0, 0, 0, 0]);
  spans('shop', '2', [0, 0, 0, 100, 0], 'SPAN_KIND_INTERNAL');
  const latency = (more: object, rule: object = {}): Promise<string[]> =>
    world.keys({
      kind: 'trace_latency',
      conditions: [{ service: 'shop', percentile: 95, above_ms: 300, window: '5m', ...more }],
      ...rule,
    });
  assert.deepEqual(await latency({}), ['r:host:1']);
  assert.deepEqual(await latency({ percentile: 0.95 }), ['r:host:1'], 'written as a part of one');
  assert.deepEqual(await latency({ percentile: 90 }), []);
  assert.deepEqual(await latency({ percentile: 99, above_ms: 2_000 }), ['r:host:1']);
  assert.deepEqual(await latency({ above_ms: 600 }), []);
  assert.deepEqual(await latency({ service: 'bank' }), []);
  assert.deepEqual(await latency({ percentile: 99, above_ms: 700 }, { scope_type: 'global' }), [
    'r:global:global',
  ]);

  const calls = (device: string, ok: number, failed: number): void => {
    world.add(
      'traces_spanmetrics_calls_total',
      {
        service: 'shop',
        device_id: device,
        span_kind: 'SPAN_KIND_SERVER',
        status_code: 'STATUS_CODE_UNSET',
      },
      count(ok),
    );
    world.add(
      'traces_spanmetrics_calls_total',
      {
        service: 'shop',
        device_id: device,
        span_kind: 'SPAN_KIND_SERVER',
        status_code: 'STATUS_CODE_ERROR',
      },
      count(failed),
    );
  };
  calls('1', 95, 5);
  calls('2', 100, 0.5);
  calls('3', 1, 1);
  const errors = (more: object): Promise<string[]> =>
    world.keys({
      kind: 'trace_error_rate',
      conditions: [{ service: 'shop', above_percent: 2, window: '5m', ...more }],
    });
  assert.deepEqual(await errors({}), ['r:host:1'], 'not 3: fewer than 20 calls');
  assert.deepEqual((await errors({ window: '30m' })).sort(), ['r:host:1', 'r:host:3']);
  assert.deepEqual(await errors({ above_percent: 6 }), []);
  assert.deepEqual(await errors({ above_percent: 0.1 }), ['r:host:1', 'r:host:2']);
  assert.match(
    refusalOf('trace_error_rate', { service: 'shop', above_percent: 100, window: '5m' }),
    /above_percent: must be below 100/,
  );
  assert.match(
    legOf({
      kind: 'trace_error_rate',
      conditions: [{ service: 'a"} or up{x="', above_percent: 1, window: '5m' }],
    }).query,
    /service="a\\"\} or up\{x=\\""/,
  );
});

test('join_mode, dimensions and scope say what becomes one incident', async () => {
  const world = new World()
    .add('disk', { device_id: '1', mount: '/' }, () => 95)
    .add('disk', { device_id: '1', mount: '/var' }, () => 99)
    .add('disk', { pipeline: 'logs' }, () => 91);
  const conditions = [{ expr: 'disk > 90' }];
  assert.deepEqual(await world.keys({ conditions }), ['r:host:1']);
  assert.deepEqual(await world.keys({ conditions, dimensions: ['mount'] }), [
    'r:host:1:mount=/',
    'r:host:1:mount=/var',
  ]);
  assert.deepEqual(await world.keys({ conditions, scope_type: 'global' }), ['r:global:global']);
  assert.deepEqual((await world.keys({ conditions, scope_type: 'monitoring_pipeline' })).sort(), [
    'r:monitoring_pipeline:logs',
    'r:monitoring_pipeline:pipeline',
  ]);
  assert.equal(
    planOf(ruleOf({ join_mode: 'any', conditions: [...conditions, ...conditions] })).join,
    'any',
  );
  assert.equal(planOf(ruleOf({ conditions: [...conditions, ...conditions] })).legs.length, 2);
});

test('a comparison with a number is told from what it compares', () => {
  const of = (query: string): string => {
    const found = comparisonOf(query);
    return found === undefined
      ? 'none'
      : `${found.measure} | ${found.operator} | ${found.threshold}`;
  };
  assert.equal(of('up == 0'), 'up | == | 0');
  assert.equal(
    of('sum by (a) (rate(x{b!="c > d"}[5m])) / 2 >= -1.5e3'),
    'sum by (a) (rate(x{b!="c > d"}[5m])) / 2 | >= | -1500',
  );
  assert.equal(of('5 < x'), 'x | > | 5');
  assert.equal(of('(x > 10 * 1024 * (2 - 1))'), 'x | > | 10240');
  assert.equal(of('x > 3 # not > 4'), 'x | > | 3');
  for (const query of [
    'x',
    'x > y',
    'x > bool 1',
    'x > 1 and y > 2',
    'x > 1 unless y',
    'x > 1 < 2',
    'x > on (a) y',
    'vector(1) or x > 5',
    'x > 5m',
    '1 > 2',
  ]) {
    assert.equal(of(query), 'none', query);
  }
  for (const { conditions, ...rule } of builtInRules) {
    const { measure, query } = planOf(ruleOf({ ...rule, conditions })).legs[0]!;
    parse(query);
    parse(measure ?? query);
  }
  assert.ok(['up', 'up{a="}"}', '{__name__="x"}', ' a:b '].every(isSelector));
  assert.ok(
    !['rate(up[5m])', 'up + up', 'up{a="b"} offset 5m', 'up[5m]', '-up', '1', ''].some(isSelector),
  );
  assert.ok(
    compares('x>1') &&
      compares('sum(count_over_time({a!="b"}[1m])) == 5') &&
      !compares('rate({a=~"b"} |~ "c" [1m])'),
  );
});

test('a comparison says which way its measure went wrong', () => {
  for (const [operator, threshold, direction] of [
    ['>', 90, 'up'],
    ['>=', 90, 'up'],
    ['<', 10, 'down'],
    ['<=', 10, 'down'],
    ['==', 0, 'down'],
    ['==', 3, 'up'],
    ['!=', 1, 'down'],
    ['!=', 0, 'up'],
    ['and other', 0, undefined],
  ] as const) {
    const query = `up ${operator} ${threshold}`;
    assert.equal(directionIn(query, 'up', threshold), direction, query);
  }
});
