import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';

import { LogIngest, LogQueries } from 'svc/contracts/logs';
import { Board } from 'svc/sdk';
import { startTestHost, type TestHost, useNoLeaks } from 'svc/testing';
import WebSocket from 'ws';

import { body, present, stream } from './fixture.ts';

async function openHouse(
  t: TestContext,
  environment: Readonly<Record<string, string>> = {},
  dataDir?: string,
): Promise<TestHost> {
  const clock = { now: () => present + 10_000, monotonic: () => performance.now() };
  const house = await startTestHost(t, {
    plugins: ['logs'],
    clock,
    environment,
    ...(dataDir !== undefined && { dataDir }),
  });
  useNoLeaks(t, house);
  return house;
}

const give = (house: TestHost, ...pushed: Parameters<typeof body>): Promise<unknown> =>
  house.service(LogIngest).push('loki-json', body(...pushed), {});

async function text(
  house: TestHost,
  path: string,
  init?: RequestInit,
): Promise<{ status: number; type: string | null; body: string }> {
  const answer = await house.fetch(path, init);
  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    body: await answer.text(),
  };
}

const at = (ms: number): string => `${present + ms}000000`;

test('lines that were pushed come back in the shape of Loki, under the API and under the paths of Loki', async (t) => {
  const house = await openHouse(t);
  await give(house, { app: 't', host: 'h1' }, [
    [1, 'hello world'],
    [2, 'lvl=error boom', { trace_id: 'abc' }],
  ]);
  for (const path of ['/api/v1/logs/query_range', '/loki/api/v1/query_range']) {
    const { status, data } = await house.json(`${path}?query=${encodeURIComponent('{app="t"}')}`);
    assert.equal(status, 'success');
    assert.deepEqual(data.result, [
      {
        stream: {
          app: 't',
          detected_level: 'error',
          host: 'h1',
          service_name: 't',
          trace_id: 'abc',
        },
        values: [[at(2), 'lvl=error boom']],
      },
      {
        stream: { app: 't', detected_level: 'unknown', host: 'h1', service_name: 't' },
        values: [[at(1), 'hello world']],
      },
    ]);
    assert.deepEqual(
      [
        data.resultType,
        data.stats.summary.totalEntriesReturned,
        data.stats.summary.totalLinesProcessed,
      ],
      ['streams', 2, 2],
    );
    const first = await house.json(
      `${path}?query=${encodeURIComponent('{app="t"} |= "o"')}&limit=1&direction=forward`,
    );
    assert.deepEqual(
      first.data.result.map(({ values }: { values: unknown }) => values),
      [[[at(1), 'hello world']]],
    );
  }
  assert.deepEqual(await house.json('/api/v1/logs/labels'), {
    status: 'success',
    data: ['app', 'host', 'service_name'],
  });
  assert.deepEqual(await house.json('/api/v1/logs/labels/app/values'), {
    status: 'success',
    data: ['t'],
  });
});

test('a query of 64 KiB is answered when it stands in the address, also where each of its characters is written as three', async (t) => {
  const house = await openHouse(t);
  await give(house, { app: 'web' }, [[1, 'one']]);
  const list = (bytes: number): string =>
    `{app=~"${`${'ä|'.repeat(bytes)}`.slice(0, Math.floor((bytes - 20) / 3) * 2)}web"}`;
  const longest = list(64 * 1024);
  assert.ok(
    Buffer.byteLength(longest) > 65_500 && Buffer.byteLength(longest) <= 65_536,
    `${Buffer.byteLength(longest)}`,
  );
  const ask = (query: string) =>
    text(house, `/loki/api/v1/query_range?query=${encodeURIComponent(query)}`);
  const { status, body: answered } = await ask(longest);
  assert.equal(status, 200, answered);
  assert.equal(JSON.parse(answered).data.result.length, 1);
  const refused = await ask(list(65 * 1024));
  assert.equal(refused.status, 400);
  assert.match(refused.body, /query too long: \d+ bytes, limit: 65536/);
});

test('the endpoints of Loki answer as Loki does', async (t) => {
  const house = await openHouse(t);
  const streams = [
    stream({ app: 't', host: 'h1' }, [
      [1, 'one'],
      [2, 'two'],
    ]),
    stream({ app: 'u' }, [[3, 'three']]),
  ];
  await house.service(LogIngest).push('loki-json', Buffer.from(JSON.stringify({ streams })), {});
  // oxlint-disable-next-line typescript/no-explicit-any -- the assertions say what it is
  const get = (path: string, query: Readonly<Record<string, string>> = {}): Promise<any> =>
    house.json(`/loki/api/v1/${path}?${String(new URLSearchParams(query))}`);

  assert.deepEqual(await get('labels'), {
    status: 'success',
    data: ['app', 'host', 'service_name'],
  });
  assert.deepEqual(await get('labels', { query: '{app="u"}' }), {
    status: 'success',
    data: ['app', 'service_name'],
  });
  assert.deepEqual(await get('label/app/values'), { status: 'success', data: ['t', 'u'] });
  assert.deepEqual(
    await get('label/nope/values'),
    { status: 'success' },
    'no data at all where there are no values',
  );
  assert.deepEqual(await get('series', { 'match[]': '{app="t"}' }), {
    status: 'success',
    data: [{ app: 't', host: 'h1', service_name: 't' }],
  });
  assert.deepEqual(await get('index/stats', { query: '{app="t"}' }), {
    streams: 1,
    chunks: 1,
    bytes: 6,
    entries: 2,
  });
  assert.deepEqual(
    (await get('index/volume', { query: '{app=~".+"}', end: `${present / 1_000 + 10}` })).data
      .result,
    [
      { metric: { app: 't' }, value: [present / 1_000 + 10, '6'] },
      { metric: { app: 'u' }, value: [present / 1_000 + 10, '5'] },
    ],
  );
  assert.deepEqual((await get('detected_labels')).detectedLabels[0], {
    label: 'app',
    cardinality: 2,
  });
  assert.deepEqual(await get('format_query', { query: '{app= "t"}   |= "x"' }), {
    status: 'success',
    data: '{app="t"} |= "x"',
  });
  assert.equal(typeof (await get('status/buildinfo')).version, 'string');
  assert.deepEqual(
    (
      await get('query', {
        query: 'sum(count_over_time({app="t"}[5m]))',
        time: `${present / 1_000 + 10}`,
      })
    ).data.result,
    [{ metric: {}, value: [present / 1_000 + 10, '2'] }],
  );
  assert.deepEqual(
    (await get('query', { query: '1+1', time: `${present / 1_000 + 10}` })).data.result,
    [present / 1_000 + 10, '2'],
  );
  const matrix = await get('query_range', {
    query: 'sum by (app) (count_over_time({app=~".+"}[1m]))',
    start: `${present / 1_000 - 60}`,
    end: `${present / 1_000 + 60}`,
    step: '60',
  });
  assert.equal(matrix.data.resultType, 'matrix');
  assert.deepEqual(
    matrix.data.result.map(({ metric }: { metric: unknown }) => metric),
    [{ app: 't' }, { app: 'u' }],
  );

  const form = new URLSearchParams({ query: '{app="u"}', limit: '5' });
  const posted = await house.json('/loki/api/v1/query_range', {
    method: 'POST',
    body: form,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  assert.deepEqual(posted.data.result[0].values, [[at(3), 'three']]);
});

test('metadata without a value is there to be asked for', async (t) => {
  const house = await openHouse(t);
  await give(house, { app: 't' }, [
    [1, 'empty', { user: '' }],
    [2, 'full', { user: 'u' }],
    [3, 'none'],
  ]);
  const ask = async (
    query: string,
    path = 'query_range',
  ): Promise<{ values: [string, string][]; [name: string]: unknown }[]> =>
    (
      await house.json(
        `/loki/api/v1/${path}?${String(new URLSearchParams({ query, time: `${present / 1_000 + 10}` }))}`,
      )
    ).data.result;
  const lines = async (query: string): Promise<string[]> =>
    (await ask(query)).flatMap(({ values }) => values.map(([, line]) => line)).sort();
  assert.deepEqual(await lines('{app="t"} | user=""'), ['empty', 'none']);
  assert.deepEqual(await lines('{app="t"} | user!=""'), ['full']);
  assert.deepEqual(await lines('{app="t"} | keep user | line_format "<{{.user}}>"'), [
    '<>',
    '<>',
    '<u>',
  ]);
  const counted = await ask('sum by (user) (count_over_time({app="t"}[1m]))', 'query');
  assert.deepEqual(
    new Set(counted.map(({ metric }) => (metric as { user?: string }).user)),
    new Set(['', 'u', undefined]),
  );
  assert.deepEqual(
    (await ask('{app="t"} |= "empty"')).map(({ stream: labels }) => labels),
    [{ app: 't', detected_level: 'unknown', service_name: 't', user: '' }],
  );
});

test('mistakes are told in the plain texts of Loki', async (t) => {
  const house = await openHouse(t);
  await give(house, { app: 't' }, [[1, 'x']]);
  const cases: [string, Readonly<Record<string, string>>, string][] = [
    [
      'query_range',
      { query: '{app="t"' },
      'parse error at line 1, col 9: syntax error: unexpected $end, expecting } or ,',
    ],
    [
      'query_range',
      { query: '{app=~".*"}' },
      'parse error : queries require at least one regexp or equality matcher that does not have an empty-compatible value. For instance, app=~".*" does not meet this requirement, but app=~".+" will',
    ],
    [
      'query_range',
      { query: '{app="t"}', limit: '100000' },
      'max entries limit per query exceeded, limit > max_entries_limit_per_query (100000 > 5000)',
    ],
    [
      'query_range',
      { query: '{app="t"}', start: 'zzz' },
      `could not parse 'start' parameter: strconv.ParseInt: parsing "zzz": invalid syntax`,
    ],
    [
      'query_range',
      { query: '{app="t"}', start: '20', end: '10' },
      'end timestamp must not be before or equal to start time',
    ],
    [
      'query_range',
      { query: 'rate({app="t"}[1m])', step: '1ms' },
      'exceeded maximum resolution of 11,000 points per time series. Try increasing the value of the step parameter',
    ],
    ['query_range', {}, 'parse error : syntax error: unexpected $end'],
    [
      'query',
      { query: '{app="t"}' },
      'log queries are not supported as an instant query type, please change your query to a range query type',
    ],
  ];
  for (const [path, query, message] of cases) {
    const answer = await text(house, `/loki/api/v1/${path}?${String(new URLSearchParams(query))}`);
    assert.deepEqual(answer, { status: 400, type: 'text/plain; charset=utf-8', body: message });
  }
  const own = await house.fetch(
    `/api/v1/logs/query_range?${String(new URLSearchParams({ query: '{app="t"' }))}`,
  );
  assert.deepEqual(
    [own.status, ((await own.json()) as { error: string }).error],
    [400, 'invalid_argument'],
    'under the API in the words of the API',
  );
  assert.equal(
    (await text(house, '/loki/api/v1/labels', { headers: { authorization: 'Bearer nobody' } }))
      .status,
    401,
  );
});

describe('other plugins', () => {
  test('ask for lines, series, names and checks, and see only what they may', async (t) => {
    const house = await openHouse(t);
    await give(house, { app: 't', device_id: '7' }, [
      [1, 'one'],
      [2, 'two'],
    ]);
    await give(house, { app: 't', device_id: '8' }, [[3, 'three']]);
    const queries = house.service(LogQueries);
    const window = { start: present, end: present + 5_000 };
    const enforce = [{ name: 'device_id', op: '=', value: '7' }] as const;
    const found = await queries.lines('{app="t"}', window, {
      enforce,
      direction: 'forward',
      limit: 10,
    });
    assert.deepEqual(
      found.lines.map(({ line, at: time, labels }) => [line, time, labels.device_id]),
      [
        ['one', { ms: present + 1, ns: 0 }, '7'],
        ['two', { ms: present + 2, ns: 0 }, '7'],
      ],
    );
    const instant = await queries.instant('sum(count_over_time({app="t"}[1m]))', present + 5_000, {
      enforce,
    });
    assert.deepEqual(instant.type === 'vector' && [...instant.values], [2]);
    const matrix = await queries.range(
      'sum(count_over_time({app="t"}[1m]))',
      { ...window, step: 5_000 },
      { enforce },
    );
    assert.equal(matrix.values[0]!.at(-1), 2);
    assert.deepEqual(await queries.labels(window), ['app', 'device_id', 'service_name']);
    assert.deepEqual(await queries.labelValues('device_id', window, { enforce }), ['7']);
    assert.deepEqual(await queries.check('sum  (rate({app = "t"}[1m]))'), {
      type: 'vector',
      printed: (await queries.check('sum(rate({app="t"}[1m]))')).printed,
    });
    await assert.rejects(queries.check('{'), { code: 'invalid_argument', message: /parse error/ });
    assert.deepEqual(
      [(await queries.status()).driver, (await queries.status()).ok],
      ['embedded', true],
    );
  });
});

test('lines survive a reload of the plugin, and a changed setting holds at once', async (t) => {
  const house = await openHouse(t);
  await give(house, { app: 't' }, [[1, 'before']]);
  await house.reload('logs');
  await give(house, { app: 't' }, [[2, 'after']]);
  const query = `query=${encodeURIComponent('{app="t"}')}&direction=forward`;
  const { data } = await house.json(`/api/v1/logs/query_range?${query}`);
  assert.deepEqual(
    data.result[0].values.map(([, line]: [string, string]) => line),
    ['before', 'after'],
  );

  const board = house.service(Board);
  const refusals: [string, unknown, Parameters<typeof body>, RegExp][] = [
    [
      'logs.max_line_bytes',
      5,
      [{ app: 't' }, [[3, 'longer']]],
      /max entry size '5' bytes exceeded/,
    ],
    ['logs.max_label_names', 1, [{ app: 't', a: 'b' }, [[3, 'x']]], /has 2 label names; limit 1/],
    ['logs.reject_older_than', '1h', [{ app: 't' }, [[-3_600_000, 'x']]], /has timestamp too old/],
  ];
  for (const [key, value, pushed, reason] of refusals) {
    board.override(key, value);
    await house.settled();
    const { reasons } = await house.service(LogIngest).push('loki-json', body(...pushed), {});
    assert.match(reasons[0]!, reason);
  }
  board.override('logs.max_streams', 1);
  await house.settled();
  await assert.rejects(give(house, { app: 'another' }, [[3, 'x']]), { code: 'rate_limited' });
});

test('a live tail shows what was there and then every new line that matches', async (t) => {
  const house = await openHouse(t);
  await give(house, { app: 't' }, [
    [1, 'there before'],
    [2, 'other'],
  ]);
  const socket = new WebSocket(
    `${house.url.replace('http', 'ws')}/loki/api/v1/tail?query=${encodeURIComponent('{app="t"} |= "there"')}&limit=5`,
    {
      headers: { authorization: `Bearer ${house.token}` },
    },
  );
  const frames: { streams: { stream: Record<string, string>; values: [string, string][] }[] }[] =
    [];
  const lines = (): string[] =>
    frames.flatMap(({ streams }) =>
      streams.flatMap(({ values }) => values.map(([, line]) => line)),
    );
  const came = (count: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (lines().length >= count) {
          socket.off('message', look);
          resolve();
        }
      };
      socket.on('message', look);
      socket.once('close', (code, reason) =>
        reject(new Error(`closed ${code} ${reason.toString()}`)),
      );
      look();
    });
  socket.on('message', (data: Buffer) => void frames.push(JSON.parse(data.toString())));
  await came(1);
  await give(house, { app: 't' }, [
    [5, 'there now'],
    [6, 'not this'],
  ]);
  await give(house, { app: 'u' }, [[7, 'there elsewhere']]);
  await give(house, { app: 't' }, [[8, 'there again']]);
  await came(3);
  assert.deepEqual(lines(), ['there before', 'there now', 'there again']);
  assert.deepEqual(frames[1]!.streams[0]!.stream, {
    app: 't',
    detected_level: 'unknown',
    service_name: 't',
  });
  socket.close();
  await new Promise((closed) => socket.once('close', closed));
});

test('volume over time, fields and patterns are answered as Loki answers them', async (t) => {
  const house = await openHouse(t);
  const base = Math.floor(present / 60_000) * 60_000 - present;
  const streams = [
    stream({ app: 'j' }, [
      [base, '{"level":"info","took":"12ms","code":200,"ok":true}', { trace_id: 'abc' }],
      [base + 1_000, '{"level":"info","took":"3s","code":404,"ok":false}', { trace_id: 'def' }],
    ]),
    stream({ app: 'k' }, [[base - 60_000, 'size=10KB user=ann ratio=0.5']]),
  ];
  await house.service(LogIngest).push('loki-json', Buffer.from(JSON.stringify({ streams })), {});
  const window = {
    start: `${(present + base) / 1_000 - 120}`,
    end: `${(present + base) / 1_000 + 60}`,
    step: '60',
  };
  // oxlint-disable-next-line typescript/no-explicit-any -- the assertions say what it is
  const get = (path: string, query: Readonly<Record<string, string>> = {}): Promise<any> =>
    house.json(`/loki/api/v1/${path}?${String(new URLSearchParams({ ...window, ...query }))}`);

  const volume = (await get('index/volume_range', { query: '{app=~".+"}' })).data;
  const minute = (present + base) / 1_000;
  assert.deepEqual(volume, {
    resultType: 'matrix',
    result: [
      { metric: { app: 'j' }, values: [[minute, '101']] },
      { metric: { app: 'k' }, values: [[minute - 60, '28']] },
    ],
  });
  assert.equal(
    (
      await text(
        house,
        `/loki/api/v1/index/volume_range?query={app="j"}&start=1&end=1000000000&step=1`,
      )
    ).status,
    400,
  );

  const { fields, limit } = await get('detected_fields', { query: '{app=~".+"}' });
  const types = Object.fromEntries(
    fields.map(({ label, type, cardinality, parsers }: Record<string, unknown>) => [
      label,
      [type, cardinality, parsers],
    ]),
  );
  assert.equal(limit, 1_000);
  assert.deepEqual(
    [types.took, types.code, types.ok],
    [
      ['duration', 2, ['json']],
      ['int', 2, ['json']],
      ['boolean', 2, ['json']],
    ],
  );
  assert.deepEqual(
    [types.size, types.ratio, types.trace_id],
    [
      ['bytes', 1, ['logfmt']],
      ['float', 1, ['logfmt']],
      ['string', 2, null],
    ],
  );
  assert.deepEqual(
    (await get('detected_field/code/values', { query: '{app="j"}' })).values.toSorted(),
    ['200', '404'],
  );

  const { data } = await get('patterns', { query: '{app="j"}' });
  assert.deepEqual(data, [
    { pattern: '{"level":"info","took":"<_>","code":<_>,"ok":<_>}', samples: [[minute, 2]] },
  ]);
  const found = await house
    .service(LogQueries)
    .patterns('{app="j"}', { start: present + base - 1_000, end: present + base + 2_000 });
  assert.deepEqual(
    [found.lines, found.partial, found.patterns[0]?.count, found.patterns[0]?.pattern],
    [2, false, 2, data[0]!.pattern],
  );
  const stepped = await house
    .service(LogQueries)
    .patterns(
      '{app="j"}',
      { start: present + base - 1_000, end: present + base + 2_000 },
      { step: 500 },
    );
  assert.equal(
    stepped.patterns[0]!.steps!.reduce((sum, [, count]) => sum + count, 0),
    2,
  );
  assert.ok(stepped.patterns[0]!.steps!.every(([at]) => at % 500 === 0));
  assert.deepEqual(await text(house, '/loki/ready'), {
    status: 200,
    type: 'text/plain; charset=utf-8',
    body: 'ready\n',
  });
  assert.deepEqual(await text(house, '/loki/api/v1/nope'), {
    status: 404,
    type: 'text/plain; charset=utf-8',
    body: 'This route does not exist.',
  });
});

test('labels are told apart by where they are from when the client asks for it, and lines may lie apart by an interval', async (t) => {
  const house = await openHouse(t);
  await give(
    house,
    { app: 't' },
    Array.from({ length: 10 }, (_, index) => [
      index * 1_000,
      `level=info n=${index}`,
      { trace_id: `t${index}` },
    ]),
  );
  const query = `/loki/api/v1/query_range?query=${encodeURIComponent('{app="t"} | logfmt | drop detected_level,level')}`;
  const flags = { headers: { 'x-loki-response-encoding-flags': 'categorize-labels' } };
  const { data } = await house.json(`${query}&limit=2`, flags);
  assert.deepEqual(data.encodingFlags, ['categorize-labels']);
  assert.deepEqual(data.result, [
    {
      stream: { app: 't', service_name: 't' },
      values: [
        [
          at(9_000),
          'level=info n=9',
          { structuredMetadata: { trace_id: 't9' }, parsed: { n: '9' } },
        ],
        [
          at(8_000),
          'level=info n=8',
          { structuredMetadata: { trace_id: 't8' }, parsed: { n: '8' } },
        ],
      ],
    },
  ]);
  const spaced = async (more: string): Promise<string[]> =>
    (await house.json(`${query}${more}`, flags)).data.result.flatMap(
      ({ values }: { values: [string, string][] }) => values.map(([, line]) => line.slice(-1)),
    );
  assert.deepEqual(await spaced('&interval=3s'), ['9', '6', '3', '0']);
  assert.deepEqual(await spaced('&interval=4&direction=forward'), ['0', '4', '8']);
  assert.deepEqual(await spaced('&interval=1s&limit=3'), ['9', '8', '7']);
});
