import assert from 'node:assert/strict';
import { test } from 'node:test';

import { budget, kindOf, labelsOf, labelsRecord, matcher } from 'svc/query';

import {
  type EngineOptions,
  instant,
  parse,
  print,
  range,
  type SeriesSource,
  selectorsOf,
  valueTypeOf,
} from '../../../plugins/metricsdb/promql/index.ts';
import { checkQuery } from '../../../plugins/metricsdb/service/answers.ts';
import { MemoryStore } from '../../golden/promql-test/runner/memory.ts';

const minute = 60_000;

function fleet(devices: number, samples = 60): MemoryStore {
  const store = new MemoryStore();
  for (let device = 0; device < devices; device++) {
    store.add(
      labelsOf([
        ['__name__', 'load'],
        ['device_id', String(device)],
      ]),
      minute,
      Array.from({ length: samples }, (_, index) => index + device),
    );
  }
  return store;
}

const allowance = (maxSamples = 1_000_000, signal?: AbortSignal) =>
  budget({
    timeoutMs: 30_000,
    maxSamples,
    now: () => performance.now(),
    ...(signal !== undefined && { signal }),
  });

async function devicesSeen(query: string, options: Partial<EngineOptions> = {}): Promise<string[]> {
  const answer = await instant(fleet(3), { query, time: 59 * minute, ...options }, allowance());
  assert.equal(answer.type, 'vector');
  return answer.type === 'vector'
    ? answer.samples.map(({ labels }) => labelsRecord(labels)['device_id'] ?? '')
    : [];
}

test('an asker who may see one device sees one device, whatever the query asks for', async () => {
  const enforce = [matcher('device_id', '=', '1')];
  for (const query of [
    'load',
    '{device_id=~".*", __name__="load"}',
    'load or load offset 5m',
    'max_over_time(load[5m:1m])',
    'info(load)',
    'rate(load[5m])',
    'timestamp(load)',
  ]) {
    assert.deepEqual(await devicesSeen(query, { enforce }), ['1'], query);
  }
  assert.deepEqual(await devicesSeen('load{device_id="2"}', { enforce }), []);
});

test('the same selector is read once, however often it stands in the query', async () => {
  const store = fleet(2);
  let reads = 0;
  const source: SeriesSource = {
    select(...args) {
      reads++;
      return store.select(...args);
    },
  };
  await range(
    source,
    {
      query: 'load / load + sum(load) - on () group_left () avg(load)',
      start: 0,
      end: 10 * minute,
      step: minute,
    },
    allowance(),
  ).catch(() => undefined);
  assert.equal(reads, 1);
});

test('a store is told what the samples are for, and gives what lies in the left-open window', async () => {
  const asked: unknown[] = [];
  const source: SeriesSource = {
    async select(matchers, mint, maxt, hints) {
      asked.push([matchers.map(({ name, op, value }) => name + op + value), mint, maxt, hints]);
      return [];
    },
  };
  await range(
    source,
    {
      query: 'rate(load{a="b"}[5m] offset 1m)',
      start: 10 * minute,
      end: 20 * minute,
      step: minute,
    },
    allowance(),
  );
  await instant(source, { query: 'load @ 600', time: 0, lookbackMs: 2 * minute }, allowance());
  assert.deepEqual(asked, [
    [
      ['a=b', '__name__=load'],
      4 * minute,
      19 * minute,
      {
        step: minute,
        range: 5 * minute,
        func: 'rate',
        windows: { end: 9 * minute, advance: minute, width: 5 * minute, falls: true },
      },
    ],
    [['__name__=load'], 8 * minute, 10 * minute, { newest: true }],
  ]);
});

test('what a query costs is counted before it is allocated: nested subqueries end at the budget', async () => {
  for (const query of [
    'count_over_time(vector(1)[1y:1ms])',
    'max_over_time(max_over_time(load[30d:1s])[30d:1s])',
    'sum_over_time(sum_over_time(time()[1d:1ms])[1y:1ms])'.replaceAll('time()', 'vector(1)'),
  ]) {
    await assert.rejects(
      instant(fleet(1), { query, time: 59 * minute }, allowance(100_000)),
      (error) => kindOf(error) === 'too_large',
      query,
    );
  }
});

test('samples and results are charged', async () => {
  const purse = allowance();
  await range(fleet(10), { query: 'load', start: 0, end: 59 * minute, step: minute }, purse);
  assert.ok(purse.spent.samples >= 10 * 60 + 10 * 60);
  await assert.rejects(
    range(fleet(10), { query: 'load', start: 0, end: 59 * minute, step: minute }, allowance(900)),
    (error) => kindOf(error) === 'too_large',
  );
});

test('a query whose asker goes away stops in the middle', async () => {
  const leaving = new AbortController();
  const store = fleet(50, 2_000);
  const query = 'sum(stddev_over_time(load[1d]))';
  const asked = range(
    store,
    { query, start: 0, end: 2_000 * minute, step: 1_000 },
    allowance(500_000_000, leaving.signal),
  );
  setImmediate(() => leaving.abort());
  await assert.rejects(asked, (error) => kindOf(error) === 'canceled');
});

test('range queries take what has a value at every step, and say so in words', async () => {
  const ask = (query: string) =>
    range(fleet(1), { query, start: 0, end: minute, step: minute }, allowance());
  await assert.rejects(ask('load[5m]'), {
    message:
      '1:1: parse error: invalid expression type "range vector" for range query, must be Scalar or instant Vector',
  });
  await assert.rejects(ask('"text"'), {
    message:
      '1:1: parse error: invalid expression type "string" for range query, must be Scalar or instant Vector',
  });
  await assert.rejects(
    range(fleet(1), { query: '1', start: minute, end: 0, step: minute }, allowance()),
    (error) => kindOf(error) === 'execution',
  );
});

test('what is no native histogram is not cut, and start timestamps are refused by name', () => {
  assert.throws(
    () => parse('1 </ 5'),
    /1:3: parse error: the operator <\/ cuts native histograms, not scalars/,
  );
  assert.throws(
    () => parse('start_timestamp(x)'),
    /the function "start_timestamp" works on start timestamps, which are not kept/,
  );
  assert.equal(print(parse('a >/ 5 or histogram_sum(b)')), 'a >/ 5 or histogram_sum(b)');
});

test('a query is known by its type and its selectors before it runs', () => {
  const expr = parse(
    'sum(rate(a{b="c"}[5m])) / on () group_left () max_over_time(d[5m:]) > bool scalar(e)',
  );
  assert.equal(valueTypeOf(expr), 'vector');
  assert.deepEqual(
    selectorsOf(expr).map(({ name }) => name),
    ['a', 'd', 'e'],
  );
});

test('a checked query names the metrics that it reads, and no function, label or keyword', () => {
  for (const [query, names] of [
    [
      'sum by (job) (rate(a_total{b="c", d=~"e"}[5m])) / on (x, y) group_left (z) b',
      ['a_total', 'b'],
    ],
    ['count without (i) (a) or b unless c offset 5m', ['a', 'b', 'c']],
    ['{__name__=~"a|b:c", x="y"} > bool 1e3 + Inf', ['a', 'b:c']],
    ['histogram_quantile(0.9, sum(rate(h_bucket[1m])) by (le)) / h_bucket', ['h_bucket']],
    ['step + {"by"} - sum_over_time(max[5m:])', ['step', 'by', 'max']],
    ['{__name__=~"a.*"}', []],
    ['{__name__!="a", job="b"}', []],
    ['time()', []],
  ] as const) {
    assert.deepEqual(checkQuery(query).metrics, names, query);
  }
});

test('a query says which labels its aggregations leave its series', () => {
  for (const [query, labels] of [
    ['up == 0', undefined],
    ['sum(up)', []],
    ['sum by (job, instance) (rate(x[5m])) > 5', ['job', 'instance']],
    ['5 < -sum by (job) (x)', ['job']],
    ['sum(x) by (a, b) / on (a) sum by (a) (y)', ['a']],
    ['sum(x) by (a, b) / on (a) group_left (c) y > 1', ['a', 'b', 'c']],
    ['x > on (a) y', ['a']],
    ['x / y', undefined],
    ['sum by (a, b) (x) / ignoring (b) y', ['a']],
    ['x and sum by (a) (y)', undefined],
    ['sum by (a) (x) unless y', ['a']],
    ['sum by (a) (x) or sum by (b) (y)', ['a', 'b']],
    ['histogram_quantile(0.9, sum by (le, job) (rate(x_bucket[5m]))) > 1', ['job']],
    ['topk(3, sum by (a) (x))', ['a']],
    ['sum without (a) (sum by (a, b) (x))', ['b']],
    ['sum without (a) (x)', undefined],
    ['max_over_time(sum by (a) (x)[5m:1m]) > scalar(y)', ['a']],
    ['x > scalar(sum(y))', undefined],
    ['label_replace(sum by (a) (x), "b", "$1", "a", "(.*)")', ['a', 'b']],
    ['absent(up{job="x"})', []],
    ['count_values by (a) ("v", x)', ['a', 'v']],
  ] as const) {
    assert.deepEqual(checkQuery(query).grouping, labels, query);
  }
});

test('a label called __proto__ or a metric called constructor is one like any other', async () => {
  const store = new MemoryStore();
  store.add(
    labelsOf([
      ['__name__', 'constructor'],
      ['__proto__', 'x'],
    ]),
    minute,
    [1],
  );
  const answer = await instant(
    store,
    { query: 'sum by (__proto__) (constructor)', time: 0 },
    allowance(),
  );
  assert.deepEqual(answer.type === 'vector' && answer.samples, [
    { labels: ['__proto__', 'x'], time: 0, value: 1 },
  ]);
});

test('series that are the same once names, types and units have gone are refused, and only those', async () => {
  const answerTo = async (all: Readonly<Record<string, string>>[]): Promise<number | string> => {
    const store = new MemoryStore();
    for (const labels of all) {
      store.add(labelsOf(Object.entries(labels)), minute, [0, 60, 120, 180, 240, 300]);
    }
    try {
      const answer = await instant(
        store,
        { query: 'rate({host=~".+"}[5m])', time: 5 * minute },
        allowance(),
      );
      return answer.type === 'vector' ? answer.samples.length : NaN;
    } catch (error) {
      return (error as Error).message;
    }
  };
  const same = 'vector cannot contain metrics with the same labelset';
  const named = (name: string, rest: object = {}): Record<string, string> => ({
    __name__: name,
    host: 'a',
    ...rest,
  });
  for (const [all, expected] of [
    [[named('a_total'), named('a_total', { zone: 'b' })], 2],
    [[named('a_total'), named('b_total', { zone: 'b' })], 2],
    [[named('a_total'), named('b_total')], same],
    [[named('a_total', { __type__: 'counter' }), named('a_total', { __type__: 'gauge' })], same],
    [[named('a_total'), named('a_total', { __unit__: 'seconds' })], same],
    [
      [
        { __type__: 'counter', host: 'a' },
        { __type__: 'gauge', host: 'a' },
      ],
      same,
    ],
    [[{ host: 'a' }, named('a_total')], same],
    [[named('a_total', { Upper: '1' }), named('b_total', { Upper: '1' })], same],
  ] as const) {
    assert.equal(await answerTo([...all]), expected, JSON.stringify(all));
  }
});
