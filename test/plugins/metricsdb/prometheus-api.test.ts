import assert from 'node:assert/strict';
import { test } from 'node:test';

import { metricsHouse, rows } from './house.ts';

const up = { __name__: 'up', instance: '127.0.0.1:9100', job: 'node' };
const refused = (errorType: string, error: string): object => ({
  status: 'error',
  errorType,
  error,
});

test('queries answer in the shapes of Prometheus, by GET and by form', async (t) => {
  const { ingest, get, post } = await metricsHouse(t);
  const end = Math.floor(Date.now() / 1000) * 1000;
  const at = end / 1000;
  await ingest.write(rows(up, [1, 2, 3, 4], end));

  const instant = await get('query', { query: 'up', time: at });
  assert.equal(instant.status, 200);
  assert.equal(instant.headers.get('content-type'), 'application/json');
  assert.equal(
    instant.text,
    `{"status":"success","data":{"resultType":"vector","result":[{"metric":${JSON.stringify(up)},"value":[${at},"4"]}]}}`,
  );
  assert.equal((await post('query', { query: 'up', time: at })).text, instant.text);
  assert.equal(
    (await get('query', { query: 'up', time: new Date(end).toISOString() })).text,
    instant.text,
  );
  assert.deepEqual(
    (await get('query', { query: 'up' })).body.data.result[0].metric,
    up,
    'without a time: now',
  );

  const fraction = await get('query', { query: 'up', time: at + 0.5 });
  assert.match(
    fraction.text,
    new RegExp(`"value":\\[${at}\\.500,"4"\\]`),
    'milliseconds have three digits',
  );
  assert.deepEqual((await get('query', { query: '1/0', time: at })).body.data, {
    resultType: 'scalar',
    result: [at, '+Inf'],
  });
  assert.deepEqual((await get('query', { query: '"abc"', time: at })).body.data, {
    resultType: 'string',
    result: [at, 'abc'],
  });
  assert.deepEqual((await get('query', { query: 'up[2s]', time: at })).body.data, {
    resultType: 'matrix',
    result: [
      {
        metric: up,
        values: [
          [at - 1, '3'],
          [at, '4'],
        ],
      },
    ],
  });

  const range = { query: 'up', start: at - 2, end: at };
  const values = [
    [at - 2, '2'],
    [at, '4'],
  ];
  assert.deepEqual((await get('query_range', { ...range, step: 2 })).body.data, {
    resultType: 'matrix',
    result: [{ metric: up, values }],
  });
  assert.deepEqual(
    (await post('query_range', { ...range, step: '2s' })).body.data.result[0].values,
    values,
  );
  assert.deepEqual((await get('query_range', { ...range, query: '1', step: 2 })).body.data.result, [
    {
      metric: {},
      values: [
        [at - 2, '1'],
        [at, '1'],
      ],
    },
  ]);
});

test('what is wrong with a question is said in the words of Prometheus', async (t) => {
  const { get, post, ingest } = await metricsHouse(t);
  await ingest.write([
    ...rows({ ...up, a: '1' }, [1], Date.now()),
    ...rows({ ...up, a: '2' }, [1], Date.now()),
  ]);
  const range = { query: 'up', start: 1_795_200_758, end: 1_795_200_788, step: 15 };
  const cases: readonly (readonly [
    path: string,
    parameters: Record<string, string | number>,
    status: number,
    type: string,
    error: string,
  ])[] = [
    [
      'query',
      { query: 'foo{' },
      400,
      'bad_data',
      'invalid parameter "query": 1:5: parse error: unexpected end of input inside braces',
    ],
    [
      'query',
      { query: 'sum(up) by (a) + rate(up)' },
      400,
      'bad_data',
      'invalid parameter "query": 1:23: parse error: expected type range vector in call to function "rate", got instant vector',
    ],
    [
      'query',
      {},
      400,
      'bad_data',
      'invalid parameter "query": 1:1: parse error: no expression found in input',
    ],
    [
      'query',
      { query: 'up', time: 'abc' },
      400,
      'bad_data',
      `invalid parameter "time": Invalid time value for 'time': cannot parse "abc" to a valid timestamp`,
    ],
    [
      'query',
      { query: 'up', timeout: 'abc' },
      400,
      'bad_data',
      'invalid parameter "timeout": cannot parse "abc" to a valid duration',
    ],
    [
      'query_range',
      { ...range, step: 0 },
      400,
      'bad_data',
      'invalid parameter "step": zero or negative query resolution step widths are not accepted. Try a positive integer',
    ],
    [
      'query_range',
      { ...range, start: range.end, end: range.start },
      400,
      'bad_data',
      'invalid parameter "end": end timestamp must not be before start time',
    ],
    [
      'query_range',
      { ...range, start: range.start - 300_000, step: 1 },
      400,
      'bad_data',
      'exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution (?step=XX)',
    ],
    [
      'query_range',
      { ...range, query: 'up[5m]' },
      400,
      'bad_data',
      'invalid expression type "range vector" for range query, must be Scalar or instant Vector',
    ],
    [
      'query_range',
      { query: 'up', end: range.end, step: 1 },
      400,
      'bad_data',
      'invalid parameter "start": cannot parse "" to a valid timestamp',
    ],
    [
      'query_range',
      { query: 'up', start: 1, end: 2 },
      400,
      'bad_data',
      'invalid parameter "step": cannot parse "" to a valid duration',
    ],
    ['series', {}, 400, 'bad_data', 'no match[] parameter provided'],
    [
      'series',
      { 'match[]': '{a=~".*"}' },
      400,
      'bad_data',
      'invalid parameter "match[]": match[] must contain at least one non-empty matcher',
    ],
    [
      'series',
      { 'match[]': 'up + 1' },
      400,
      'bad_data',
      'invalid parameter "match[]": 1:1: parse error: a series selector such as up{job="node"} is expected',
    ],
    ['label/U__b_zz_/values', {}, 400, 'bad_data', 'invalid label name: "U__b_zz_"'],
    [
      'labels',
      { limit: 'x' },
      400,
      'bad_data',
      'invalid parameter "limit": cannot parse "x" to a whole number that is not negative',
    ],
    [
      'query',
      { query: 'up', lookback_delta: '-1' },
      400,
      'bad_data',
      'invalid parameter "lookback_delta": it must be above zero and at most a year',
    ],
    [
      'query',
      { query: 'up', timeout: 0 },
      503,
      'timeout',
      'the query timed out after 0 s: ask for a shorter window, or for fewer series or streams',
    ],
  ];
  for (const [path, parameters, status, errorType, error] of cases) {
    const answer = await get(path, parameters);
    assert.deepEqual(
      [answer.status, answer.body],
      [status, refused(errorType, error)],
      `${path} ${JSON.stringify(parameters)}`,
    );
    assert.equal(answer.headers.get('content-type'), 'application/json');
  }
  const clash = await get('query', { query: 'label_replace(up, "a", "", "a", ".*")' });
  assert.deepEqual(
    [clash.status, clash.body.errorType],
    [422, 'execution'],
    'what can be read, but not answered',
  );
  assert.equal((await post('query', { query: 'up{' })).status, 400);
  const wrongType = await get('query', { query: 'up' });
  assert.equal(wrongType.status, 200);
});

test('a form of another type, a path that nobody serves and a stranger are refused', async (t) => {
  const { house } = await metricsHouse(t);
  const json = await house.fetch('/prometheus/api/v1/query', {
    method: 'POST',
    body: '{"query":"1"}',
  });
  assert.deepEqual(
    [json.status, ((await json.json()) as { errorType: string }).errorType],
    [415, 'bad_data'],
  );
  const nowhere = await house.fetch('/prometheus/api/v1/nope/at/all');
  assert.deepEqual(
    [nowhere.status, await nowhere.json()],
    [404, { status: 'error', errorType: 'not_found', error: 'This route does not exist.' }],
  );
  assert.equal(
    (await house.fetch('/prometheus/api/v1/rules')).status,
    404,
    'rules come with alerts',
  );
  const stranger = await fetch(`${house.url}/prometheus/api/v1/query?query=1`);
  assert.deepEqual(
    [stranger.status, ((await stranger.json()) as { errorType: string }).errorType],
    [401, 'unauthorized'],
  );
});

test('series, labels, values and metadata can be looked up, in a window, by several selectors, up to a limit', async (t) => {
  const { ingest, get, post } = await metricsHouse(t);
  const now = Date.now();
  await ingest.write([
    ...rows(up, [1], now),
    ...rows({ ...up, instance: 'b' }, [1], now),
    ...rows({ __name__: 'load', job: 'other' }, [1], now),
  ]);
  await ingest.push(
    'exposition',
    Buffer.from('# HELP node_load1 1m load\n# TYPE node_load1 gauge\nnode_load1 0.5\n'),
    {},
  );

  assert.deepEqual((await get('series', { 'match[]': ['up', 'load'] })).body.data, [
    { __name__: 'load', job: 'other' },
    up,
    { ...up, instance: 'b' },
  ]);
  assert.deepEqual((await post('series', { 'match[]': 'up{instance="b"}' })).body.data, [
    { ...up, instance: 'b' },
  ]);
  assert.deepEqual(
    (await get('series', { 'match[]': 'up', start: 1, end: 2 })).body.data,
    [],
    'nothing of then',
  );
  assert.deepEqual((await get('labels')).body.data, ['__name__', 'instance', 'job']);
  assert.deepEqual((await get('labels', { 'match[]': 'load' })).body.data, ['__name__', 'job']);
  assert.deepEqual((await get('label/job/values')).body.data, ['node', 'other']);
  assert.deepEqual((await get('label/job/values', { 'match[]': 'load' })).body.data, ['other']);
  assert.deepEqual(
    (await get('label/U__job/values')).body.data,
    ['node', 'other'],
    'escaped names are names',
  );
  assert.deepEqual((await get('label/nope/values')).body.data, []);
  assert.deepEqual((await get('metadata')).body.data, {
    node_load1: [{ type: 'gauge', help: '1m load', unit: '' }],
  });
  assert.deepEqual((await get('metadata', { metric: 'nope' })).body.data, {});

  const cut = await get('labels', { limit: 1 });
  assert.deepEqual(cut.body, {
    status: 'success',
    data: ['__name__'],
    warnings: ['results truncated due to limit'],
  });
  const few = await get('query', { query: 'up', limit: 1 });
  assert.deepEqual(
    [few.body.data.result.length, few.body.warnings],
    [1, ['results truncated due to limit']],
  );
  assert.deepEqual((await get('query', { query: 'up', limit: 2 })).body.warnings, undefined);
});

test('lookback and the removal of names can be chosen for one query', async (t) => {
  const { ingest, get } = await metricsHouse(t);
  const end = Date.now() - 60_000;
  await ingest.write(rows(up, [1, 2], end));
  const count = async (parameters: Record<string, string>): Promise<number> =>
    (await get('query', { query: 'up', ...parameters })).body.data.result.length;
  assert.equal(await count({}), 1);
  assert.equal(await count({ lookback_delta: '30s' }), 0);
  assert.equal(await count({ lookback_delta: '120' }), 1);
  const kept = async (parameters: Record<string, string>): Promise<unknown> =>
    (
      await get('query', {
        query: 'label_replace(rate(up[5m]), "was", "$1", "__name__", "(.+)")',
        ...parameters,
      })
    ).body.data.result[0].metric.was;
  assert.equal(await kept({}), undefined);
  assert.equal(await kept({ delayed_name_removal: 'true' }), 'up');
});

test('pages about the server tell which API this is, and what limits are in force', async (t) => {
  const { get, house } = await metricsHouse(t);
  assert.match((await get('status/buildinfo')).body.data.version, /^3\.\d+\.\d+$/);
  assert.equal((await get('status/runtimeinfo')).body.data.storageRetention, '30d');
  assert.equal((await get('status/flags')).body.data['query.lookback-delta'], '300s');
  assert.equal((await get('status/tsdb')).body.data.headStats.numSeries, 0);
  assert.equal((await get('format_query', { query: 'foo/bar' })).body.data, 'foo / bar');
  assert.deepEqual((await get('query_exemplars', { query: 'up', start: 1, end: 2 })).body.data, []);
  const healthy = await house.fetch('/prometheus/-/healthy');
  assert.deepEqual(
    [healthy.status, await healthy.text(), healthy.headers.get('content-type')],
    [200, 'Prometheus Server is Healthy.\n', 'text/plain; charset=utf-8'],
  );
  const ready = await house.fetch('/prometheus/-/ready');
  assert.deepEqual([ready.status, await ready.text()], [200, 'Prometheus Server is Ready.\n']);
});

test('names beyond the usual letters are asked for in quotes, and exemplars link to their traces', async (t) => {
  const { ingest, get, house } = await metricsHouse(t);
  const now = Math.floor(Date.now() / 1_000);
  const lines = [
    '# TYPE "http.requests" counter',
    `{"http.requests","http.method"="GET"} 7 ${now} # {trace_id="abc"} 0.5 ${now - 1}`,
    '# EOF',
  ];
  await ingest.push('openmetrics', Buffer.from(`${lines.join('\n')}\n`), {});
  const series = { __name__: 'http.requests', 'http.method': 'GET' };
  const found = await get('query', { query: '{"http.requests", "http.method"="GET"}', time: now });
  assert.deepEqual(found.body.data.result, [{ metric: series, value: [now, '7'] }]);
  assert.deepEqual(
    (await get('query', { query: 'sum by ("http.method") ({"http.requests"})', time: now })).body
      .data.result[0].metric,
    {
      'http.method': 'GET',
    },
  );
  assert.deepEqual((await get('labels')).body.data, ['__name__', 'http.method']);
  for (const name of ['http.method', 'U__http_2e_method']) {
    assert.deepEqual((await get(`label/${name}/values`)).body.data, ['GET'], name);
  }
  assert.deepEqual((await get('series', { 'match[]': '{"http.requests"}' })).body.data, [series]);
  assert.deepEqual((await get('metadata')).body.data, {
    'http.requests': [{ type: 'counter', help: '', unit: '' }],
  });
  const exemplars = [{ labels: { trace_id: 'abc' }, value: '0.5', timestamp: now - 1 }];
  const asked = { query: 'rate({"http.requests"}[5m]) > 0', start: now - 60, end: now };
  assert.deepEqual((await get('query_exemplars', asked)).body.data, [
    { seriesLabels: series, exemplars },
  ]);
  assert.deepEqual((await get('query_exemplars', { ...asked, end: now - 30 })).body.data, []);
  const many = `{"http.requests","http.method"=~"${Array.from({ length: 6_000 }, (_, at) => `m${at}`).join('|')}|GET"}`;
  const form = {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: String(new URLSearchParams({ query: many, time: String(now) })),
  };
  assert.equal(
    (await house.json('/prometheus/api/v1/query', form)).data.result.length,
    1,
    'a list of thousands of names is one part of the query',
  );
  const parts = await house.fetch('/prometheus/api/v1/query', {
    ...form,
    body: String(new URLSearchParams({ query: Array(6_000).fill('1').join('+') })),
  });
  assert.equal(parts.status, 400);
});

test('the page of the head counts series by metric, label, pair and sender, and takes a limit', async (t) => {
  const { ingest, get } = await metricsHouse(t);
  const now = Date.now();
  await ingest.write(
    ['a', 'b', 'c'].flatMap((instance) =>
      rows({ __name__: 'up', job: 'node', instance }, [1], now),
    ),
  );
  const { data } = (await get('status/tsdb', { limit: 2 })).body;
  assert.deepEqual(
    [data.headStats.numSeries, data.headStats.numLabelPairs, data.headStats.maxTime],
    [3, 5, now],
  );
  assert.deepEqual(data.seriesCountByMetricName, [{ name: 'up', value: 3 }]);
  assert.deepEqual(data.labelValueCountByLabelName, [
    { name: 'instance', value: 3 },
    { name: '__name__', value: 1 },
  ]);
  assert.deepEqual(data.memoryInBytesByLabelName, [
    { name: 'job', value: 4 },
    { name: 'instance', value: 3 },
  ]);
  assert.deepEqual(data.seriesCountByLabelValuePair, [
    { name: '__name__=up', value: 3 },
    { name: 'job=node', value: 3 },
  ]);
  assert.deepEqual(data.seriesCountBySender, [{ name: 'svc', value: 3 }]);
  assert.equal(data.seriesLimits[0].max, 250_000);
  for (const limit of ['0', 'x', '10001', '1.5']) {
    assert.deepEqual([(await get('status/tsdb', { limit })).status, limit], [400, limit]);
  }
});

test('series are dropped on the word of whoever asks twice, and by the API of Prometheus', async (t) => {
  const { ingest, get, post, call, house } = await metricsHouse(t);
  const now = Date.now();
  const write = () =>
    ingest.write(
      ['a', 'b'].flatMap((instance) =>
        ['up', 'load'].flatMap((name) => rows({ __name__: name, instance }, [1, 2], now)),
      ),
    );
  const names = async () => (await get('label/__name__/values')).body.data;
  await write();
  const asked = { match: 'up{instance="a"}' };
  const question = await call('/api/v1/metricsdb/drops', asked);
  assert.equal(question.status, 409);
  const details: { path: string; message: string }[] = question.body.details;
  assert.deepEqual(details.slice(1), [
    { path: '/series', message: '1, of which 1 count against the limits' },
    { path: '/metrics/0', message: 'up' },
  ]);
  const confirm = details[0]!.message;
  const other = await call('/api/v1/metricsdb/drops', { match: 'load', confirm });
  assert.equal(other.status, 409, 'it confirms nothing else');
  const dropped = await call('/api/v1/metricsdb/drops', { ...asked, confirm });
  assert.deepEqual([dropped.status, dropped.body.state, dropped.body.series], [200, 'done', 1]);
  assert.equal((await get('status/tsdb')).body.data.headStats.numSeries, 3);
  const at = Math.floor(now / 1_000) + 1;
  assert.equal((await get('query', { query: 'up', time: at })).body.data.result.length, 1);

  const path = 'admin/tsdb/delete_series';
  const byQuery = await house.fetch(`/prometheus/api/v1/${path}?match[]=up&match[]=nothing`, {
    method: 'PUT',
  });
  assert.equal(byQuery.status, 204, await byQuery.text());
  assert.deepEqual(await names(), ['load']);
  assert.equal((await post(path, { 'match[]': 'load', end: (now - 500) / 1_000 })).status, 204);
  assert.deepEqual(
    (await get('query', { query: 'load[1m]', time: at })).body.data.result.map(
      ({ values }: { values: unknown[] }) => values.length,
    ),
    [1, 1],
  );
  assert.equal((await post(path, { 'match[]': 'load' })).status, 204);
  assert.deepEqual(await names(), []);
  assert.equal((await post(path)).body.error, 'no match[] parameter provided');
  assert.equal((await post(path, { 'match[]': '{a=""}' })).status, 400);
  assert.equal((await write()).accepted, 8, 'they may come again');
});
