import assert from 'node:assert/strict';
import { test } from 'node:test';

import { budget, matcher } from 'svc/query';

import {
  metrics,
  type MetricsOptions,
  type MetricsResult,
  parse,
} from '../../../../plugins/traces/traceql/index.ts';
import type { SpanSource, TraceBatch } from '../../../../plugins/traces/traceql/spans/source.ts';
import { epochMs, memorySource, traceOf } from '../spans.ts';

const id = (number: number): string => number.toString(16).padStart(16, '0');

/** Twelve spans, one each second from second 1 on; durations from 100 ms to 1.2 s; three services in turn. */
const source = memorySource(
  ...Array.from({ length: 12 }, (_, index) =>
    traceOf(id(index) + id(index), {
      id: id(index + 1),
      at: (index + 1) * 1000,
      ms: (index + 1) * 100,
      service: ['a', 'b', 'c'][index % 3]!,
      resource: { device_id: String(index % 2) },
      attributes: index === 0 ? {} : { size: index },
    }),
  ),
);

const ask = (query: string, options: Partial<MetricsOptions> = {}): Promise<MetricsResult> =>
  metrics(
    source,
    parse(query),
    { start: epochMs, end: epochMs + 12_000, step: 4_000, ...options },
    budget({ timeoutMs: 10_000, now: () => performance.now() }),
  );

/** Series by their labels, values in a row. */
async function told(
  query: string,
  options: Partial<MetricsOptions> = {},
): Promise<Record<string, string>> {
  const { series } = await ask(query, options);
  return Object.fromEntries(
    series.map(({ labels, values }) => [
      labels
        .map(({ key, value }) => `${key}=${'value' in value ? String(value.value) : ''}`)
        .join(),
      Array.from(values, (value) => String(Math.round(value * 1000) / 1000)).join(' '),
    ]),
  );
}

const expected: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '{ } | rate()': { '__name__=rate': '0 1 1 1' },
  '{ } | count_over_time()': { '__name__=count_over_time': '0 4 4 4' },
  '{ duration > 850ms } | count_over_time()': { '__name__=count_over_time': '0 0 0 4' },
  '{ } | count_over_time() by (resource.service.name)': {
    'resource.service.name=a': '0 2 1 1',
    'resource.service.name=b': '0 1 2 1',
    'resource.service.name=c': '0 1 1 2',
  },
  '{ } | min_over_time(duration)': { '__name__=min_over_time': 'NaN 0.1 0.5 0.9' },
  '{ } | max_over_time(duration)': { '__name__=max_over_time': 'NaN 0.4 0.8 1.2' },
  '{ } | avg_over_time(span.size)': { '__name__=avg_over_time': 'NaN 2 5.5 9.5' },
  '{ } | sum_over_time(span.size)': { '__name__=sum_over_time': 'NaN 6 22 38' },
  '{ } | count_over_time() by (span.nope)': { 'span.nope=nil': '0 4 4 4' },
  '{ } | sum_over_time(span.size) by (resource.service.name) | topk(1)': {
    'resource.service.name=a': 'NaN 3 NaN NaN',
    'resource.service.name=b': 'NaN NaN 11 NaN',
    'resource.service.name=c': 'NaN NaN NaN 19',
  },
  '{ } | count_over_time() by (resource.service.name) | bottomk(1)': {
    'resource.service.name=a': '0 NaN 1 1',
    'resource.service.name=b': 'NaN 1 NaN NaN',
  },
  '{ } | histogram_over_time(span.size)': {
    '__bucket=1': '0 1 0 0',
    '__bucket=2': '0 1 0 0',
    '__bucket=4': '0 1 1 0',
    '__bucket=8': '0 0 3 1',
    '__bucket=16': '0 0 0 3',
  },
};

for (const [query, series] of Object.entries(expected)) {
  test(query, async () => assert.deepEqual(await told(query), series));
}

test('buckets of durations double from a nanosecond on', async () => {
  const { series } = await ask('{ duration <= 200ms } | histogram_over_time(duration)');
  assert.deepEqual(
    series.map(({ labels }) => labels[0]!.value),
    [2 ** 27, 2 ** 28].map((ns) => ({ type: 'float', value: ns / 1e9 })),
  );
});

test('a window that is asked about as a whole holds its beginning', async () => {
  const whole = { start: epochMs + 9_000, end: epochMs + 9_000, step: 8_000 };
  const [open, closed] = await Promise.all([
    ask('{ } | count_over_time()', whole),
    ask('{ } | count_over_time()', { ...whole, closed: true }),
  ]);
  const count = (asked: typeof open): number => asked.series[0]!.values[0]!;
  assert.deepEqual([count(open), count(closed)], [8, 9]);
});

test('a quantile is right to a fiftieth', async () => {
  const { series } = await ask('{ } | quantile_over_time(duration, 0.5, 1)', {
    start: epochMs + 12_000,
    step: 12_000,
  });
  const [median, most] = series.map(({ labels, values }) => {
    assert.equal(labels[0]!.key, 'p');
    return values[0]!;
  });
  assert.ok(Math.abs(median! - 0.6) < 0.6 / 50, String(median));
  assert.ok(Math.abs(most! - 1.2) < 1.2 / 50, String(most));
});

test('a sample tells about the spans after the one before it, up to its own time', async () => {
  const { times } = await ask('{ } | count_over_time()');
  assert.deepEqual(
    [...times],
    [0, 4, 8, 12].map((seconds) => epochMs + seconds * 1000),
  );
});

test('what the asker may not see is not counted', async () => {
  assert.deepEqual(
    await told('{ } | count_over_time()', { enforce: [matcher('device_id', '=', '1')] }),
    { '__name__=count_over_time': '0 2 2 2' },
  );
});

/** A hundred batches of a hundred spans, and how many of them were read. */
function heavy(): SpanSource & { batches: number } {
  const one = {
    batches: 0,
    async *traces(): AsyncIterable<TraceBatch> {
      for (let batch = 0; batch < 100; batch++) {
        one.batches++;
        const traces = Array.from({ length: 100 }, (_, at) =>
          traceOf(id(1) + id(batch * 100 + at), {
            id: id(batch * 100 + at + 1),
            ms: 2 ** (at % 10),
          }),
        );
        yield { traces, newestLeft: -Infinity, share: (batch + 1) / 100 };
      }
    },
  };
  return one;
}

test('a question that comes to too much ends while it is counted, and says what to narrow', async () => {
  const window = { start: epochMs + 60_000, end: epochMs + 60_000, step: 120_000 };
  const long = { start: epochMs, end: epochMs + 1_099_900, step: 100 };
  const cases: [
    query: string,
    batches: number,
    refusal: RegExp,
    options?: Partial<MetricsOptions>,
    maxSamples?: number,
  ][] = [
    [
      '{ } | rate() by (span:id)',
      51,
      /more than 5000 series: group by an attribute with fewer values/,
    ],
    ['{ } | quantile_over_time(duration, .5, .9, .99) by (span:id)', 17, /more than 5000 series/],
    ['{ } | histogram_over_time(duration) by (span:id)', 51, /more than 5000 series/],
    [
      '{ } | min_over_time(duration) by (span:id)',
      19,
      /more than 20000000 numbers: ask for a longer step/,
      long,
    ],
    [
      '{ } | rate() by (span:id)',
      2,
      /the answer is larger than 67108864 bytes: ask for a longer step/,
      long,
    ],
    ['{ } | rate() by (span:id) | topk(1)', 19, /more than 20000000 numbers/, long],
    [
      '{ } | rate()',
      2,
      /would read about 10000 samples, more than 1500: ask for a shorter window, or for less with a filter/,
      {},
      1_500,
    ],
    ['{ } | rate()', 60, /reads more than 5999 samples/, {}, 5_999],
  ];
  for (const [query, batches, refusal, options, maxSamples] of cases) {
    const many = heavy();
    const allowance = budget({
      timeoutMs: 10_000,
      now: () => performance.now(),
      ...(maxSamples !== undefined && { maxSamples }),
    });
    const error = await metrics(many, parse(query), { ...window, ...options }, allowance).then(
      () => new Error('answered'),
      (thrown: Error) => thrown,
    );
    assert.match(error.message, refusal, query);
    assert.equal(many.batches, batches, query);
  }
  const enough = await metrics(
    heavy(),
    parse('{ } | rate()'),
    window,
    budget({ timeoutMs: 10_000, maxSamples: 10_000, now: () => performance.now() }),
  );
  assert.equal(enough.series.length, 1);
});

test('a query without a metrics function, a window without a length and too many points are refused', async () => {
  await assert.rejects(ask('{ }'), /not a metrics query/);
  await assert.rejects(ask('{ } | rate()', { step: 0 }), /the step must be longer/);
  await assert.rejects(ask('{ } | rate()', { end: epochMs - 1 }), /must not be before its start/);
  await assert.rejects(ask('{ } | rate()', { step: 1 }), /12001 points of a series are too many/);
});

test('spans are asked for one by one where that is enough, and by whole traces where it is not', async () => {
  for (const [query, partial] of [
    ['{ .a } | rate()', true],
    ['{ .a } | by(.b) | rate()', true],
    ['{ .a } | avg_over_time(duration) by (name)', true],
    ['{ rootName = "x" } | rate()', false],
    ['{ .a } | rate() by (rootServiceName)', false],
    ['{ .a } >> { .b } | rate()', false],
    ['{ .a } | count() > 1 | rate()', false],
    ['{ parent.a = 1 } | rate()', false],
  ] as const) {
    await ask(query);
    assert.equal(source.asked.at(-1)!.partial, partial, query);
  }
});

test('compare tells the values of the selected spans beside those of the others, with totals', async () => {
  const { series } = await ask('{ } | compare({ resource.service.name = "a" }, 2)', {
    start: epochMs + 12_000,
    step: 12_000,
  });
  const rows = series.map(
    ({ labels, values }) =>
      `${labels.map(({ key, value }) => `${key}=${'value' in value ? String(value.value) : ''}`).join()} ${[...values].join()}`,
  );
  const about = (text: string): string[] => rows.filter((row) => row.includes(text)).sort();
  assert.deepEqual(about('resource.service.name'), [
    '__meta_type=baseline,resource.service.name=b 4',
    '__meta_type=baseline,resource.service.name=c 4',
    '__meta_type=baseline_total,resource.service.name=nil 8',
    '__meta_type=selection,resource.service.name=a 4',
    '__meta_type=selection_total,resource.service.name=nil 4',
  ]);
  // Of eight sizes two are told, and that there are more.
  assert.deepEqual(about('span.size').length, 2 + 2 + 2 + 1);
  assert.ok(rows.includes('__meta_error=__too_many_values__,span.size=nil '));
});

test('compare selects only spans that start in its window', async () => {
  const window = [epochMs, epochMs + 3_000].map((ms) => `${ms}000000`).join(', ');
  const { series } = await ask(`{ } | compare({ }, 10, ${window})`, {
    start: epochMs + 12_000,
    step: 12_000,
  });
  const total = series.find(
    ({ labels }) =>
      labels[0]!.value.type === 'string' &&
      labels[0]!.value.value === 'selection_total' &&
      labels[1]!.key === 'name',
  );
  assert.deepEqual([...total!.values], [3]);
});

test('exemplars lead from numbers to traces: few at a time, one of a trace, none unless asked for', async () => {
  const of = async (query: string, exemplars?: number) =>
    (await ask(query, exemplars === undefined ? {} : { exemplars })).series.map((one) =>
      (one.exemplars ?? []).map(
        ({ labels, value }) =>
          `${labels[0]!.value.type === 'string' ? labels[0]!.value.value.slice(-2) : ''} ${value}`,
      ),
    );
  assert.deepEqual(await of('{ } | rate()'), [[]]);
  assert.deepEqual(await of('{ } | rate()', 100), [
    ['00 1', '01 1', '04 1', '05 1', '08 1', '09 1'],
  ]);
  assert.deepEqual(await of('{ } | max_over_time(duration) with(exemplars=2)', 100), [
    ['00 0.1', '01 0.2'],
  ]);
  assert.deepEqual(await of('{ } | rate() with(exemplars=false)', 100), [[]]);
  const buckets = await ask('{ } | histogram_over_time(duration)', { exemplars: 100 });
  for (const { labels, exemplars = [] } of buckets.series) {
    const bound = labels.at(-1)!.value;
    assert.ok(
      bound.type === 'float' &&
        exemplars.every(({ value }) => value! <= bound.value && value! > bound.value / 2),
    );
  }
});
