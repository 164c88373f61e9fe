import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { ProtoWriter, snappyEncode } from 'svc/store';

import { free, matchers, noon, pointsOf, remoteWrite, storeHouse } from './house.ts';

const text = (lines: readonly string[]): Uint8Array => Buffer.from(`${lines.join('\n')}\n`);

test('what an exporter shows is read, comments, escapes, odd numbers and times of its own included', async (t) => {
  const house = await storeHouse(t);
  const body = text([
    '# HELP http_requests_total Requests\\nby path.',
    '# TYPE http_requests_total counter',
    'http_requests_total{path="/a\\"b\\\\c\\nd",code="200",} 1027 ' + (noon - 1_000),
    'http_requests_total { path = "/" } 3',
    '',
    '# only a remark',
    'up 1',
    'odd{kind="inf"} +Inf',
    'odd{kind="nan"}\tNaN',
    'tiny 1.5e-07\r',
  ]);
  const answer = await house.store.push('exposition', gzipSync(body), {
    encoding: 'gzip',
    stamp: { device_id: '7' },
  });
  assert.deepEqual(answer, { accepted: 6, rejected: 0, reasons: [] });
  house.now += 15_000;
  await house.store.push('exposition', text(['up 0', 'tiny 2']), { stamp: { device_id: '7' } });
  assert.deepEqual(await pointsOf(house.store, []), {
    '__name__=http_requests_total,code=200,device_id=7,path=/a"b\\c\nd': [[noon - 1_000, 1027]],
    '__name__=http_requests_total,device_id=7,path=/': [[noon, 3]],
    '__name__=odd,device_id=7,kind=inf': [[noon, Infinity]],
    '__name__=odd,device_id=7,kind=nan': [[noon, NaN]],
    '__name__=tiny,device_id=7': [
      [noon, 1.5e-7],
      [noon + 15_000, 2],
    ],
    '__name__=up,device_id=7': [
      [noon, 1],
      [noon + 15_000, 0],
    ],
  });
  assert.deepEqual(house.store.metadata(), [
    { metric: 'http_requests_total', type: 'counter', help: 'Requests\nby path.', unit: '' },
  ]);
});

test('an exposition that cannot be read is refused as a whole, with the line', async (t) => {
  const house = await storeHouse(t);
  for (const [line, what] of [
    ['up{a="b" 1', 'the labels do not end'],
    ['up{a=b} 1', '"a=b" is not a label'],
    ['up one', '"one" is not a value'],
    ['up 1 2 3', '"1 2 3" is not a value'],
    ['up 1 soon', '"soon" is not a time in milliseconds'],
  ]) {
    await assert.rejects(house.store.push('exposition', text(['fine 1', line!])), {
      code: 'invalid_argument',
      message: `The exposition is invalid: line 2: ${what}`,
    });
  }
  assert.deepEqual(await pointsOf(house.store, []), {});
});

test('remote write of the second version refers to texts by number', async (t) => {
  const house = await storeHouse(t);
  const symbols = ['', '__name__', 'up', 'job', 'node', 'Whether it is up.'];
  const request = new ProtoWriter();
  symbols.forEach((symbol) => request.string(4, symbol));
  request.message(5, (series) => {
    [1, 2, 3, 4].forEach((ref) => series.uint(1, ref));
    series.message(2, (sample) => sample.double(1, 1).int64(2, noon));
    series.message(2, (sample) => sample.fixed64(1, 0x7ff0000000000002n).int64(2, noon + 1));
    series.message(5, (metadata) => metadata.uint(1, 2).uint(3, 5));
  });
  assert.deepEqual(
    await house.store.push('remote-write-2', snappyEncode(request.finish()), {
      encoding: 'snappy',
    }),
    { accepted: 2, rejected: 0, reasons: [] },
  );
  assert.deepEqual(await pointsOf(house.store, matchers('up')), {
    '__name__=up,job=node': [
      [noon, 1],
      [noon + 1, 'stale'],
    ],
  });
  assert.deepEqual(house.store.metadata({ metric: 'up' }), [
    { metric: 'up', type: 'gauge', help: 'Whether it is up.', unit: '' },
  ]);
  const torn = new ProtoWriter().string(4, '').message(5, (series) => series.uint(1, 9).uint(1, 9));
  assert.deepEqual(await house.store.push('remote-write-2', torn.finish()), {
    accepted: 0,
    rejected: 1,
    reasons: ['a series refers to symbol 9 of 1'],
  });
});

test('good series of a request are taken, and each bad one is refused with its reason', async (t) => {
  const house = await storeHouse(t);
  const points = [[noon, 1]] as const;
  const body = remoteWrite([
    {
      labels: [
        ['__name__', 'good'],
        ['b', '2'],
        ['a', '1'],
      ],
      points,
    },
    { labels: [['a', '1']], points },
    {
      labels: [
        ['__name__', 'dup'],
        ['a', '1'],
        ['a', '2'],
      ],
      points,
    },
    {
      labels: [
        ['__name__', 'odd'],
        ['a-b', '1'],
      ],
      points,
    },
    { labels: [['__name__', '1st']], points },
    {
      labels: [
        ['__name__', 'empty'],
        ['', '1'],
      ],
      points,
    },
    {
      labels: [
        ['__name__', 'long'],
        ['a', 'x'.repeat(2_049)],
      ],
      points,
    },
    {
      labels: [
        ['__name__', 'blank'],
        ['a', ''],
      ],
      points,
    },
    {
      labels: [
        ['__name__', 'many'],
        ...Array.from({ length: 64 }, (_, i) => [`l${String(i).padStart(2, '0')}`, 'x'] as const),
      ],
      points,
    },
  ]);
  const answer = await house.store.push('remote-write', body, { encoding: 'snappy' });
  assert.equal(answer.accepted, 4);
  assert.equal(answer.rejected, 5);
  assert.deepEqual(answer.reasons, [
    'a series has no metric name',
    'label "a" is repeated',
    'a label has an empty name',
    'the value of label "a" is longer than 2048 bytes',
    'a series has 65 labels; at most 64 are taken',
  ]);
  assert.deepEqual(Object.keys(await pointsOf(house.store, [])), [
    '__name__=1st',
    '__name__=blank',
    '__name__=good,a=1,b=2',
    '__name__=odd,a-b=1',
  ]);
  await assert.rejects(
    house.store.push('remote-write', Buffer.from('rubbish'), { encoding: 'snappy' }),
    {
      code: 'invalid_argument',
      message: 'snappy: corrupt input',
    },
  );
  await assert.rejects(house.store.push('remote-write', Buffer.from([0x0a, 0x7f])), {
    code: 'invalid_argument',
  });
  await assert.rejects(house.store.push('remote-write', Buffer.from('x'), { encoding: 'br' }), {
    status: 415,
  });
});

const nanos = (ms: number): string => `${ms}000000`;
const attribute = (key: string, stringValue: string): object => ({ key, value: { stringValue } });

test('OpenTelemetry metrics get the names that Prometheus would give them', async (t) => {
  const house = await storeHouse(t);
  const point = (value: object): object => ({
    attributes: [attribute('http.method', 'GET')],
    timeUnixNano: nanos(noon),
    ...value,
  });
  const metrics = [
    {
      name: 'system.memory.usage',
      unit: 'By',
      description: 'Used.',
      gauge: { dataPoints: [point({ asInt: '42' })] },
    },
    {
      name: 'http.requests',
      unit: '{request}',
      sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints: [point({ asDouble: 7 })] },
    },
    {
      name: 'queue',
      unit: '1',
      sum: { aggregationTemporality: 2, dataPoints: [point({ asDouble: 3, flags: 1 })] },
    },
    { name: 'load', unit: '1', gauge: { dataPoints: [point({ asDouble: 0.5 })] } },
    { name: 'speed', unit: 'm/s', gauge: { dataPoints: [point({ asDouble: 2 })] } },
    {
      name: 'http.duration',
      unit: 'ms',
      histogram: {
        aggregationTemporality: 'AGGREGATION_TEMPORALITY_CUMULATIVE',
        dataPoints: [
          point({ count: '6', sum: 12.5, explicitBounds: [1, 5], bucketCounts: ['1', '2', '3'] }),
        ],
      },
    },
    {
      name: 'gc',
      unit: 's',
      summary: {
        dataPoints: [point({ count: 2, sum: 4, quantileValues: [{ quantile: 0.5, value: 1 }] })],
      },
    },
    {
      name: 'growth',
      sum: { aggregationTemporality: 1, isMonotonic: true, dataPoints: [point({ asDouble: 7 })] },
    },
    {
      name: 'native',
      exponentialHistogram: { aggregationTemporality: 2, dataPoints: [point({})] },
    },
  ];
  const resource = {
    attributes: [
      attribute('service.name', 'shop'),
      attribute('service.namespace', 'eu'),
      attribute('service.instance.id', 'i-1'),
    ],
  };
  const body = Buffer.from(
    JSON.stringify({ resourceMetrics: [{ resource, scopeMetrics: [{ metrics }] }] }),
  );
  const answer = await house.store.push('otlp-json', body, { stamp: { edge_id: '3' } });
  assert.deepEqual(answer, {
    accepted: 14,
    rejected: 1,
    reasons: ['exponential histograms are not stored; send explicit buckets'],
  });
  const rest = 'edge_id=3,http_method=GET,instance=i-1,job=eu/shop';
  assert.deepEqual(await pointsOf(house.store, []), {
    [`__name__=gc_seconds,${rest},quantile=0.5`]: [[noon, 1]],
    [`__name__=gc_seconds_count,${rest}`]: [[noon, 2]],
    [`__name__=gc_seconds_sum,${rest}`]: [[noon, 4]],
    [`__name__=growth_total,${rest}`]: [[noon, 7]],
    [`__name__=http_duration_milliseconds_bucket,${rest},le=+Inf`]: [[noon, 6]],
    [`__name__=http_duration_milliseconds_bucket,${rest},le=1`]: [[noon, 1]],
    [`__name__=http_duration_milliseconds_bucket,${rest},le=5`]: [[noon, 3]],
    [`__name__=http_duration_milliseconds_count,${rest}`]: [[noon, 6]],
    [`__name__=http_duration_milliseconds_sum,${rest}`]: [[noon, 12.5]],
    [`__name__=http_requests_total,${rest}`]: [[noon, 7]],
    [`__name__=load_ratio,${rest}`]: [[noon, 0.5]],
    [`__name__=queue,${rest}`]: [[noon, 'stale']],
    [`__name__=speed_meters_per_second,${rest}`]: [[noon, 2]],
    [`__name__=system_memory_usage_bytes,${rest}`]: [[noon, 42]],
  });
});

test('OpenTelemetry metrics in protobuf mean the same', async (t) => {
  const house = await storeHouse(t);
  const text = (writer: ProtoWriter, field: number, key: string, value: string): ProtoWriter =>
    writer.message(field, (pair) => pair.string(1, key).message(2, (any) => any.string(1, value)));
  const time = BigInt(noon) * 1_000_000n;
  const request = new ProtoWriter().message(1, (entry) => {
    entry.message(1, (resource) => text(resource, 1, 'service.name', 'shop'));
    entry.message(2, (scope) => {
      scope.message(2, (metric) =>
        metric.string(1, 'jobs.done').message(7, (sum) =>
          sum
            .message(1, (point) => text(point.fixed64(3, time).fixed64(6, 5n), 7, 'queue', 'a'))
            .uint(2, 2)
            .bool(3, true),
        ),
      );
      scope.message(2, (metric) =>
        metric
          .string(1, 'lag')
          .string(3, 's')
          .message(9, (histogram) =>
            histogram
              .message(1, (point) =>
                point
                  .fixed64(3, time)
                  .fixed64(4, 3n)
                  .double(5, 1.5)
                  .packedDoubles(7, [0.5])
                  .fixed64(6, 1n)
                  .fixed64(6, 2n),
              )
              .uint(2, 2),
          ),
      );
      scope.message(2, (metric) =>
        metric
          .string(1, 'temp')
          .message(5, (gauge) =>
            gauge.message(1, (point) => point.fixed64(3, time).double(4, -1.25)),
          ),
      );
    });
  });
  assert.deepEqual(await house.store.push('otlp-proto', request.finish()), {
    accepted: 6,
    rejected: 0,
    reasons: [],
  });
  assert.deepEqual(await pointsOf(house.store, []), {
    '__name__=jobs_done_total,job=shop,queue=a': [[noon, 5]],
    '__name__=lag_seconds_bucket,job=shop,le=+Inf': [[noon, 3]],
    '__name__=lag_seconds_bucket,job=shop,le=0.5': [[noon, 1]],
    '__name__=lag_seconds_count,job=shop': [[noon, 3]],
    '__name__=lag_seconds_sum,job=shop': [[noon, 1.5]],
    '__name__=temp,job=shop': [[noon, -1.25]],
  });
});

test('OpenMetrics: times in seconds, exemplars, units, an end that is said', async (t) => {
  const house = await storeHouse(t);
  const at = noon / 1_000;
  const body = text([
    '# TYPE http_requests counter',
    '# UNIT http_request_seconds seconds',
    `http_requests_total{path="/"} 17 ${at - 1}.5 # {trace_id="abc",span_id="7"} 0.67 ${at - 2}.25`,
    `latency_bucket{le="+Inf"} 3 ${at} # {trace_id="#1 }"} 9`,
    '# EOF',
  ]);
  const answer = await house.store.push('openmetrics', body);
  assert.deepEqual(answer, { accepted: 2, rejected: 0, reasons: [], exemplars: 2 });
  assert.deepEqual(await pointsOf(house.store, []), {
    '__name__=http_requests_total,path=/': [[noon - 500, 17]],
    '__name__=latency_bucket,le=+Inf': [[noon, 3]],
  });
  const [counter] = await house.store.exemplars(
    [matchers('http_requests_total')],
    { mint: 0, maxt: noon },
    free(),
  );
  assert.deepEqual(counter!.exemplars, [
    { labels: ['span_id', '7', 'trace_id', 'abc'], time: noon - 1_750, value: 0.67 },
  ]);
  assert.deepEqual(house.store.metadata(), [
    { metric: 'http_request_seconds', type: 'unknown', help: '', unit: 'seconds' },
    { metric: 'http_requests', type: 'counter', help: '', unit: '' },
  ]);
  for (const [lines, what] of [
    [['up 1'], 'line 1: the text does not end with # EOF'],
    [['up 1', '', '# EOF'], 'line 2: the line is empty'],
    [['up 1', '# EOF', 'up 2'], 'line 3: there is more behind # EOF'],
    [['up 1 soon', '# EOF'], 'line 1: "soon" is not a value'],
    [['up 1 NaN', '# EOF'], 'line 1: "NaN" is not a time in seconds'],
    [
      ['up 1 # {a="b"}', '# EOF'],
      'line 1: " 1 # {a="b"}" is not a value with a time and an exemplar, each behind one blank',
    ],
    [['{job="a"} 1', '# EOF'], 'line 1: the metric has no name'],
    [['# TYPE up untyped', '# EOF'], 'line 1: "untyped" is not a type of a metric'],
    [['# UNIT lag seconds', '# EOF'], 'line 1: the unit "seconds" is not the end of the name'],
  ] as const) {
    await assert.rejects(house.store.push('openmetrics', text(lines)), {
      message: `The exposition is invalid: ${what}`,
    });
  }
  const malformed = [
    ' up 1',
    'up\t1',
    'up 1\t2',
    'up  1',
    'up 1 2 ',
    'up 1 2 3',
    'up 0x1',
    'up 1_0',
    'up{ a="b"} 1',
    'up{a ="b"} 1',
    'up{a="b",,} 1',
    "up{a='b'} 1",
  ];
  malformed.push(
    'up{a="b"c="d"} 1',
    'up 1 # {a=b} 1',
    'up 1 # {a="b"} 1_0',
    'up 1 # {a="b"} 1 Inf',
    '#  TYPE up gauge',
    '# TYPE up  gauge',
    '# HELP up',
    '# a word',
  );
  for (const line of malformed) {
    await assert.rejects(
      house.store.push('openmetrics', text([line, '# EOF'])),
      { code: 'invalid_argument' },
      line,
    );
  }
  const allowed = [
    '# HELP up ',
    '# UNIT up ',
    'up{a="b",} 1',
    '{"u.p", "größe"="ü"} 1',
    'up Inf',
    'up{a="# {}"} 2 # {b="# } \\" "} 3',
  ];
  assert.equal((await house.store.push('openmetrics', text([...allowed, '# EOF']))).accepted, 4);
  // The other format knows neither: there a # behind a value is a mistake.
  await assert.rejects(house.store.push('exposition', text(['up 1 # {a="b"} 1'])), {
    code: 'invalid_argument',
  });
});

test('any text names metrics and labels, in every format; bytes that are no text name nothing', async (t) => {
  const house = await storeHouse(t);
  await house.store.push(
    'exposition',
    text(['# TYPE "http.requests" counter', '{"http.requests","http.method"="GET","größe"="ü"} 1']),
  );
  const labels = [
    ['__name__', 'http.requests'],
    ['größe', 'ü'],
    ['http.method', 'GET'],
    ['n', '1'],
  ] as const;
  await house.store.push('remote-write', remoteWrite([{ labels, points: [[noon, 2]] }]), {
    encoding: 'snappy',
  });
  assert.deepEqual(await pointsOf(house.store, []), {
    '__name__=http.requests,größe=ü,http.method=GET': [[noon, 1]],
    '__name__=http.requests,größe=ü,http.method=GET,n=1': [[noon, 2]],
  });
  assert.deepEqual(house.store.metadata(), [
    { metric: 'http.requests', type: 'counter', help: '', unit: '' },
  ]);
  await assert.rejects(house.store.push('exposition', text(['http.requests 1'])), {
    message: /"http.requests" is not a plain name; put other names in quotes/,
  });
  await assert.rejects(
    house.store.push(
      'exposition',
      Buffer.from([0x75, 0x70, 0x7b, 0x61, 0x3d, 0x22, 0xff, 0x22, 0x7d, 0x20, 0x31]),
    ),
    {
      message: /not valid UTF-8/,
    },
  );

  const broken = new ProtoWriter();
  for (const byte of [0xff, 0xfe]) {
    broken.message(1, (series) => {
      series.message(1, (label) => label.string(1, '__name__').string(2, 'broken'));
      series.message(1, (label) => label.string(1, 'u').bytes(2, Uint8Array.of(byte)));
      series.message(2, (sample) => sample.double(1, 1).int64(2, noon));
    });
  }
  const answer = await house.store.push('remote-write', snappyEncode(broken.finish()), {
    encoding: 'snappy',
  });
  assert.deepEqual(
    [answer.accepted, answer.rejected, answer.reasons],
    [0, 2, ['label "u" is not valid UTF-8 (2 times)']],
  );
});

test('remote write 2: what is wrong with one series costs that series, and exemplars are kept', async (t) => {
  const house = await storeHouse(t);
  const body = (first = ''): Uint8Array => {
    const request = new ProtoWriter();
    [first, '__name__', 'up', 'trace_id', 'abc'].forEach((symbol) => request.string(4, symbol));
    const series = (refs: readonly number[]) => (message: ProtoWriter) => {
      refs.forEach((ref) => message.uint(1, ref));
      message.message(2, (sample) => sample.double(1, 5).int64(2, noon));
      message.message(4, (exemplar) =>
        exemplar
          .uint(1, 3)
          .uint(1, 4)
          .double(2, 0.5)
          .int64(3, noon - 1),
      );
    };
    return snappyEncode(
      request
        .message(5, series([1, 2]))
        .message(5, series([1, 99]))
        .message(5, series([1]))
        .finish(),
    );
  };
  const answer = await house.store.push('remote-write-2', body(), { encoding: 'snappy' });
  assert.deepEqual(answer, {
    accepted: 1,
    rejected: 2,
    reasons: ['a series refers to symbol 99 of 5', 'a series has a label name without a value'],
    exemplars: 1,
  });
  await assert.rejects(house.store.push('remote-write-2', body('x'), { encoding: 'snappy' }), {
    message: /its first symbol is not empty/,
  });
});

test('OTLP: deltas are added up, what was added before is not, and the attributes of a resource are in target_info', async (t) => {
  const house = await storeHouse(t);
  const push = (ms: number, value: number): ReturnType<typeof house.store.push> => {
    const at = { timeUnixNano: `${ms}000000`, attributes: [] };
    const exemplars = [
      {
        timeUnixNano: `${ms}000000`,
        asDouble: 0.7,
        traceId: 'ABCDEF',
        spanId: '01',
        filteredAttributes: [],
      },
    ];
    const metrics = [
      {
        name: 'jobs',
        sum: {
          aggregationTemporality: 1,
          isMonotonic: true,
          dataPoints: [{ ...at, asInt: String(value), exemplars }],
        },
      },
      {
        name: 'took',
        histogram: {
          aggregationTemporality: 'AGGREGATION_TEMPORALITY_DELTA',
          dataPoints: [
            { ...at, count: '3', sum: 6, explicitBounds: [1], bucketCounts: ['2', '1'] },
          ],
        },
      },
      { name: 'odd', sum: { isMonotonic: true, dataPoints: [{ ...at, asInt: '1' }] } },
    ];
    const attributes = [
      { key: 'service.name', value: { stringValue: 'shop' } },
      { key: 'host.name', value: { stringValue: 'h1' } },
    ];
    return house.store.push(
      'otlp-json',
      Buffer.from(
        JSON.stringify({
          resourceMetrics: [{ resource: { attributes }, scopeMetrics: [{ metrics }] }],
        }),
      ),
    );
  };
  const first = await push(noon, 5);
  assert.deepEqual(
    [first.rejected, first.reasons],
    [1, ['a sum or histogram does not say whether it is a delta or cumulative']],
  );
  house.now += 10_000;
  await push(noon + 10_000, 7);
  const again = await push(noon + 10_000, 7);
  assert.match(again.reasons.join(), /a delta that was added before/);
  const points = await pointsOf(house.store, []);
  assert.deepEqual(points['__name__=jobs_total,job=shop'], [[noon, 5], [noon + 10_000, 12]]); // prettier-ignore
  assert.deepEqual(points['__name__=took_bucket,job=shop,le=1']?.at(-1), [noon + 10_000, 4]);
  assert.deepEqual(points['__name__=took_sum,job=shop']?.at(-1), [noon + 10_000, 12]);
  assert.deepEqual(points['__name__=target_info,host_name=h1,job=shop']?.[0], [noon, 1]);
  const [jobs] = await house.store.exemplars(
    [matchers('jobs_total')],
    { mint: 0, maxt: Infinity },
    free(),
  );
  assert.deepEqual(jobs!.exemplars[0], {
    labels: ['span_id', '01', 'trace_id', 'abcdef'],
    time: noon,
    value: 0.7,
  });

  // What the store has is gone on from, also after a restart; exemplars are there again.
  await house.restart();
  house.now += 10_000;
  await push(noon + 20_000, 1);
  assert.deepEqual((await pointsOf(house.store, []))['__name__=jobs_total,job=shop']?.at(-1), [
    noon + 20_000,
    13,
  ]);
  const [kept] = await house.store.exemplars(
    [matchers('jobs_total')],
    { mint: 0, maxt: Infinity },
    free(),
  );
  assert.equal(kept!.exemplars.length, 3);
});
