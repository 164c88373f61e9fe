import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { TraceIngest, TraceQueries } from 'svc/contracts/traces';
import { Board } from 'svc/sdk';
import { ProtoReader } from 'svc/store';
import type { TestHost } from 'svc/testing';

import { bodyOf, spanId, startMs, traceId } from './bodies.ts';
import { openHouse, push, text } from './house.ts';
import type { Loose } from './store-house.ts';

const id = traceId(0xabc);
const get = (
  house: TestHost,
  path: string,
  query: Readonly<Record<string, string>> = {},
): Promise<Loose> => house.json(`/tempo/api/${path}?${String(new URLSearchParams(query))}`);

async function fill(house: TestHost): Promise<void> {
  await push(
    house,
    { 'service.name': 'front' },
    { trace: id, id: spanId(1), name: 'GET /', ms: 100 },
  );
  await push(
    house,
    { 'service.name': 'cart' },
    {
      trace: id,
      id: spanId(2),
      parent: spanId(1),
      name: 'add',
      ms: 50,
      status: 2,
      attributes: { 'http.status_code': 500 },
    },
  );
}

test('traces that were pushed are found in the shape of Tempo, under the API and under the paths of Tempo', async (t) => {
  const house = await openHouse(t);
  await fill(house);
  const query = new URLSearchParams({ q: '{ span.http.status_code = 500 }', limit: '5' });
  for (const path of ['/api/v1/traces/search', '/tempo/api/search']) {
    const { traces, metrics } = await house.json(`${path}?${query.toString()}`);
    const spanSet = {
      spans: [
        {
          spanID: spanId(2),
          startTimeUnixNano: `${startMs}000000`,
          durationNanos: '50000000',
          attributes: [{ key: 'http.status_code', value: { intValue: '500' } }],
        },
      ],
      matched: 1,
    };
    assert.deepEqual(traces, [
      {
        traceID: 'abc',
        rootServiceName: 'front',
        rootTraceName: 'GET /',
        startTimeUnixNano: `${startMs}000000`,
        durationMs: 100,
        spanSet,
        spanSets: [spanSet],
        serviceStats: { front: { spanCount: 1 }, cart: { spanCount: 1, errorCount: 1 } },
      },
    ]);
    assert.equal(metrics.inspectedTraces, 1);
  }
  const plain = await get(house, 'search', {
    tags: 'service.name=cart',
    minDuration: '20ms',
    maxDuration: '60ms',
  });
  assert.deepEqual(
    [plain.traces.length, plain.traces[0].spanSets],
    [1, undefined],
    'a search by tags tells no spans',
  );
  assert.deepEqual(
    (await get(house, 'search', { tags: 'service.name=cart', minDuration: '60ms' })).traces,
    [],
  );
  const far = { start: `${startMs / 1_000 - 100}`, end: `${startMs / 1_000 - 50}` };
  assert.deepEqual((await get(house, 'search', { q: '{}', ...far })).traces, []);
});

test('one trace is told in JSON and in protobuf, in both versions, and under the API', async (t) => {
  const house = await openHouse(t);
  await fill(house);
  const names = (batches: Loose[]): string[] =>
    batches.map(({ scopeSpans }) => scopeSpans[0].spans[0].name);
  assert.deepEqual(names((await get(house, `traces/${id}`)).batches), ['GET /', 'add']);
  assert.deepEqual(
    names((await get(house, 'traces/abc')).batches),
    ['GET /', 'add'],
    'zeros at the front may be left out',
  );
  assert.deepEqual(names((await get(house, `v2/traces/${id}`)).trace.resourceSpans), [
    'GET /',
    'add',
  ]);
  assert.deepEqual(names((await house.json(`/api/v1/traces/${id}`)).batches), ['GET /', 'add']);

  const proto = async (
    path: string,
  ): Promise<{ status: number; type: string | null; bytes: Uint8Array }> => {
    const answer = await house.fetch(`/tempo/api/${path}`, {
      headers: { accept: 'application/protobuf' },
    });
    return {
      status: answer.status,
      type: answer.headers.get('content-type'),
      bytes: new Uint8Array(await answer.arrayBuffer()),
    };
  };
  const first = await proto(`traces/${id}`);
  assert.deepEqual([first.status, first.type], [200, 'application/protobuf']);
  assert.equal(
    (await house.service(TraceIngest).push('otlp-proto', first.bytes, {})).accepted,
    2,
    'its form is that of an export',
  );
  const second = await proto(`v2/traces/${id}`);
  const reader = new ProtoReader(second.bytes);
  assert.equal(reader.next(), 1);
  assert.deepEqual(
    Buffer.from(reader.bytes()),
    Buffer.from(first.bytes),
    'version 2 puts a message around it',
  );

  const nobody = traceId(0xdef);
  assert.deepEqual(await text(house, `/tempo/api/traces/${nobody}`), {
    status: 404,
    type: 'text/plain; charset=utf-8',
    body: '',
  });
  assert.deepEqual((await proto(`traces/${nobody}`)).status, 404);
  assert.deepEqual(await get(house, `v2/traces/${nobody}`), { trace: {}, metrics: {} });
  assert.deepEqual(
    [
      (await proto(`v2/traces/${nobody}`)).status,
      (await proto(`v2/traces/${nobody}`)).bytes.length,
    ],
    [200, 0],
  );
  const own = await text(house, `/api/v1/traces/${nobody}`);
  assert.deepEqual([own.status, JSON.parse(own.body).error], [404, 'not_found']);
});

test('tags and their values are told', async (t) => {
  const house = await openHouse(t);
  await fill(house);
  assert.deepEqual(await get(house, 'search/tags'), {
    tagNames: ['http.status_code', 'service.name'],
    metrics: {},
  });
  assert.deepEqual((await get(house, 'v2/search/tags', { scope: 'span' })).scopes, [
    { name: 'span', tags: ['http.status_code'] },
  ]);
  assert.deepEqual((await get(house, 'v2/search/tags', { scope: 'none' })).scopes.length, 3);
  assert.deepEqual(await get(house, 'search/tag/service.name/values'), {
    tagValues: ['cart', 'front'],
    metrics: {},
  });
  const typed = { tagValues: [{ type: 'string', value: 'cart' }], metrics: {} };
  assert.deepEqual(
    await get(house, 'v2/search/tag/resource.service.name/values', { q: '{ status = error }' }),
    typed,
  );
  assert.deepEqual(
    await house.json(
      `/api/v1/traces/tags/resource.service.name/values?${String(new URLSearchParams({ q: '{ status = error }' }))}`,
    ),
    typed,
  );
  assert.equal(
    (await get(house, 'v2/search/tag/resource.service.name/values', { limit: '1' })).tagValues
      .length,
    1,
  );
});

test('metrics are told over a window, and as one value', async (t) => {
  const house = await openHouse(t);
  await fill(house);
  const start = startMs / 1_000;
  const range = await get(house, 'metrics/query_range', {
    q: '{} | count_over_time() by (resource.service.name)',
    start: `${start}`,
    end: `${start + 60}`,
    step: '60s',
  });
  assert.deepEqual(
    range.series.map(({ labels, samples, promLabels }: Loose) => [
      labels[0].value.stringValue,
      samples.map(({ value }: Loose) => value),
      promLabels,
    ]),
    [
      ['cart', [1, 0], '{"resource.service.name"="cart"}'],
      ['front', [1, 0], '{"resource.service.name"="front"}'],
    ],
  );
  const [one] = (
    await get(house, 'metrics/query', {
      q: '{} | count_over_time()',
      start: `${start - 10}`,
      end: `${start + 60}`,
    })
  ).series;
  assert.deepEqual([one.value, one.samples], [2, undefined]);
  assert.equal(
    (
      await get(house, 'metrics/query', {
        q: '{} | rate()',
        start: `${start - 10}`,
        end: `${start + 10}`,
      })
    ).series[0].value,
    0.1,
  );
});

test('what clients probe is there', async (t) => {
  const house = await openHouse(t);
  assert.deepEqual(await text(house, '/tempo/api/echo'), {
    status: 200,
    type: 'text/plain; charset=utf-8',
    body: 'echo',
  });
  assert.deepEqual(await text(house, '/tempo/ready'), {
    status: 200,
    type: 'text/plain; charset=utf-8',
    body: 'ready',
  });
  assert.match((await get(house, 'status/buildinfo')).version, /^2\./);
  const { ok, detail } = await house.json('/api/v1/integrations/tracestore/test', {
    method: 'POST',
  });
  assert.deepEqual([ok, detail], [true, 'the embedded store answers']);
});

test('a metrics query that comes to too many series is refused as Tempo refuses, and says what to narrow', async (t) => {
  const house = await openHouse(t);
  const spans = Array.from({ length: 5_001 }, (_, at) => ({
    trace: id,
    id: spanId(at + 1),
    attributes: { user: at },
  }));
  await push(house, { 'service.name': 'front' }, ...spans);
  const query = {
    q: '{} | rate() by (span.user)',
    start: `${startMs / 1_000 - 60}`,
    end: `${startMs / 1_000 + 60}`,
  };
  assert.deepEqual(
    await text(house, `/tempo/api/metrics/query_range?${String(new URLSearchParams(query))}`),
    {
      status: 422,
      type: 'text/plain; charset=utf-8',
      body: 'the query makes more than 5000 series: group by an attribute with fewer values, or filter for fewer of them',
    },
  );
  const narrow = await get(house, 'metrics/query_range', {
    ...query,
    q: '{ span.user < 10 } | rate() by (span.user)',
  });
  assert.equal(narrow.series.length, 10);
});

test('mistakes are told in the plain texts of Tempo', async (t) => {
  const house = await openHouse(t);
  await fill(house);
  const cases: [string, Readonly<Record<string, string>>, string][] = [
    [
      'search',
      { q: '{foo' },
      'invalid TraceQL query: parse error at line 1, col 2: unknown identifier: foo',
    ],
    [
      'search',
      { q: '{}', start: '1790010000', end: '1789999000' },
      'http parameter start must be before end. received start=1790010000 end=1789999000',
    ],
    [
      'search',
      { q: '{}', start: '1700000000', end: '1790010000' },
      'range specified by start and end exceeds 168h0m0s. received start=1700000000 end=1790010000',
    ],
    ['search', { q: '{}', limit: 'x' }, 'invalid limit: strconv.Atoi: parsing "x": invalid syntax'],
    ['search', { q: '{}', limit: '0' }, 'invalid limit: must be a positive number'],
    ['search', { q: '{}', limit: '100000' }, 'limit must be from 1 to 1000.'],
    [
      'search',
      { q: '{}', spss: '1.5' },
      'invalid spss: strconv.Atoi: parsing "1.5": invalid syntax',
    ],
    [
      'search',
      { q: '{}', start: 'zzz' },
      'invalid start: strconv.ParseInt: parsing "zzz": invalid syntax',
    ],
    [
      'search',
      { q: '{}', tags: 'a=b' },
      "invalid tags: can't specify tags and q in the same query",
    ],
    [
      'search',
      { minDuration: '5 minutes' },
      'invalid minDuration: time: invalid duration "5 minutes"',
    ],
    ['v2/search/tags', { scope: 'nowhere' }, 'invalid scope: nowhere'],
    [
      'v2/search/tag/span.x/values',
      { q: '{ foo }' },
      'invalid TraceQL query: parse error at line 1, col 3: unknown identifier: foo',
    ],
    [
      'metrics/query_range',
      { q: '{} | rate()', step: 'often' },
      'invalid step: cannot parse "often" to a valid duration',
    ],
    [
      'metrics/query_range',
      { q: '{} | rate()', step: '1ms' },
      '3600001 points of a series are too many, 11000 are the limit: ask for a longer step',
    ],
    ['metrics/query_range', { q: '{}' }, 'not a metrics query: add a stage such as | rate()'],
    [
      'traces/zzz',
      {},
      "trace IDs can only contain hex characters: invalid character 'z' at position 1",
    ],
    [`traces/${'1'.repeat(33)}`, {}, "trace IDs can't be larger than 128 bits"],
  ];
  for (const [path, query, message] of cases) {
    const answer = await text(house, `/tempo/api/${path}?${String(new URLSearchParams(query))}`);
    assert.deepEqual(answer, { status: 400, type: 'text/plain; charset=utf-8', body: message });
  }
  const own = await text(
    house,
    `/api/v1/traces/search?${String(new URLSearchParams({ q: '{foo' }))}`,
  );
  assert.deepEqual(
    [own.status, JSON.parse(own.body).error],
    [400, 'invalid_argument'],
    'under the API in the words of the API',
  );
  assert.equal(
    (await text(house, '/tempo/api/search', { headers: { authorization: 'Bearer nobody' } }))
      .status,
    401,
  );
});

describe('other plugins', () => {
  test('find traces, values and metrics, and see only what they may', async (t) => {
    const house = await openHouse(t);
    const ingest = house.service(TraceIngest);
    const sent = (number: number): Uint8Array =>
      bodyOf(
        { 'service.name': `s${number}`, device_id: 'a lie' },
        {
          trace: id,
          id: spanId(number),
          ...(number === 8 && { parent: spanId(7) }),
          name: `op${number}`,
          attributes: { device_id: '8' },
        },
      );
    await ingest.push('otlp-proto', sent(7), { stamp: { device_id: '7' } });
    await ingest.push('otlp-proto', sent(8), { stamp: { device_id: '8' } });
    const queries = house.service(TraceQueries);
    const window = { start: startMs - 1_000, end: startMs + 5_000 };
    const enforce = [{ name: 'device_id', op: '=', value: '8' }] as const;

    const { traces } = await queries.search('{ }', window, { enforce });
    assert.deepEqual(
      traces.map(({ traceId: found, rootName, services, matched, spans }) => [
        found,
        rootName,
        Object.keys(services),
        matched,
        spans.map(({ spanId: one }) => one),
      ]),
      [[id, '<root span not yet received>', ['s8'], 1, [spanId(8)]]],
    );
    assert.deepEqual(
      (await queries.search('{ resource.service.name = "s7" }', window, { enforce })).traces,
      [],
    );
    const trace = (await queries.trace(id, { enforce })) as Loose;
    assert.deepEqual(
      trace.resourceSpans.map(({ scopeSpans }: Loose) => scopeSpans[0].spans[0].name),
      ['op8'],
    );
    assert.equal(
      await queries.trace(id, { enforce: [{ name: 'device_id', op: '=', value: '9' }] }),
      undefined,
    );
    for (const written of ['{ .device_id = "8" }', '{ resource.device_id = "8" }']) {
      const named = (await queries.search(written, window)).traces.flatMap(({ spans }) =>
        spans.map(({ spanId: one }) => one),
      );
      assert.deepEqual(
        named,
        [spanId(8)],
        `${written}: what a span says of its device does not count`,
      );
    }
    assert.equal((await queries.tagValues('device_id', window)).length, 2);
    assert.deepEqual(await queries.tagValues('resource.device_id', window), [
      { type: 'string', value: '7' },
      { type: 'string', value: '8' },
    ]);
    assert.deepEqual(await queries.tagValues('resource.device_id', window, { enforce }), [
      { type: 'string', value: '8' },
    ]);
    const { labels, values } = await queries.metrics(
      '{} | count_over_time() by (resource.service.name)',
      { ...window, step: 6_000 },
      { enforce },
    );
    assert.deepEqual(
      [labels.map((one) => ({ ...one })), values.map((one) => [...one])],
      [[{ 'resource.service.name': 's8' }], [[0, 1]]],
    );
    assert.deepEqual(await queries.check('{ .a=1 }  |  count()>2'), {
      printed: '{ .a = 1 } | count() > 2',
    });
    await assert.rejects(queries.check('{ foo }'), {
      code: 'invalid_argument',
      message: /unknown identifier: foo/,
    });
    await assert.rejects(
      queries.metrics('{} | rate()', { ...window, step: 1_000 }, { maxSamples: 1 }),
      { code: 'budget_exceeded' },
    );
    assert.deepEqual(
      [(await queries.status()).driver, (await queries.status()).ok],
      ['embedded', true],
    );
  });
});

test('spans survive a reload of the plugin, and a changed setting holds at once', async (t) => {
  const house = await openHouse(t);
  await fill(house);
  await house.reload('traces');
  assert.equal((await get(house, 'search', { q: '{}' })).traces.length, 1);

  const board = house.service(Board);
  const big = { 'service.name': 'big', text: 'x'.repeat(2_000) };
  board.override('traces.max_span_bytes', 1_024);
  board.override('traces.max_trace_spans', 2);
  board.override('traces.max_search_range', '1h');
  await house.settled();
  const { rejected, reasons } = await push(
    house,
    {},
    { trace: traceId(9), id: spanId(9), attributes: big },
  );
  assert.deepEqual([rejected, reasons], [1, ['a span has more than 1024 bytes (1 refused)']]);
  const more = await push(house, {}, { trace: id, id: spanId(3) });
  assert.deepEqual(more.reasons, ['a trace has more than 2 spans (1 refused)']);
  const answer = await text(
    house,
    `/tempo/api/search?${String(new URLSearchParams({ q: '{}', start: '1790000000', end: '1790004000' }))}`,
  );
  assert.match(answer.body, /exceeds 1h0m0s/);
  board.override('traces.max_query_spans', 1_000);
  board.override('traces.query_timeout', '1s');
  await house.settled();
  assert.equal((await get(house, 'search', { q: '{}' })).traces.length, 1);
});
