import assert from 'node:assert/strict';
import { test } from 'node:test';

import { metricsHouse, rows, until } from './house.ts';

const up = { __name__: 'up', job: 'node' };

test('limits of questions follow the settings at once', async (t) => {
  const { ingest, get, set, unset, queries } = await metricsHouse(t);
  const end = Math.floor(Date.now() / 1000) * 1000;
  const at = end / 1000;
  await ingest.write(rows(up, [1, 2, 3, 4, 5], end));
  const error = async (
    parameters: Record<string, string | number>,
    path = 'query',
  ): Promise<string | undefined> => (await get(path, parameters)).body.error;

  await set('max_samples', 3);
  assert.match((await error({ query: 'up[1m]', time: at }))!, /reads more than 3 samples/);
  await unset('max_samples');
  assert.equal(await error({ query: 'up[1m]', time: at }), undefined);

  await set('max_points', 10);
  assert.match(
    (await error({ query: 'up', start: at - 60, end: at, step: 1 }, 'query_range'))!,
    /exceeded maximum resolution of 10 points/,
  );
  await assert.rejects(
    queries.range('up', { start: end - 60_000, end, step: 1_000 }),
    /resolution of 10 points/,
  );
  await unset('max_points');

  await set('max_answer_bytes', 1_024);
  await ingest.write(rows({ ...up, long: 'x'.repeat(1_000) }, [1], end));
  assert.match((await error({ query: 'up', time: at }))!, /answer is larger than 1024 bytes/);
  // Several at once, so that the last of them finds the thread told of others.
  await Promise.all([
    unset('max_answer_bytes'),
    set('max_points', 10_000),
    set('concurrency', 3),
    set('lookback', '1s'),
  ]);
  assert.deepEqual((await get('query', { query: 'up', time: at + 2 })).body.data.result, []);
  assert.equal((await get('status/flags')).body.data['query.lookback-delta'], '1s');
  await unset('lookback');
  assert.equal((await get('query', { query: 'up', time: at + 2 })).body.data.result.length, 2);

  await set('delayed_name_removal', true);
  const named = await get('query', {
    query: 'label_replace(rate(up[5m]), "was", "$1", "__name__", "(.+)")',
    time: at,
  });
  assert.equal(named.body.data.result[0].metric.was, 'up');

  await set('query_timeout', '2s');
  assert.equal((await get('status/flags')).body.data['query.timeout'], '2s');
  await set('concurrency', 1);
  assert.equal((await get('status/flags')).body.data['query.max-concurrency'], '1');
});

test('a query that takes longer than metricsdb.query_timeout is ended', async (t) => {
  const { ingest, get, set } = await metricsHouse(t);
  const now = Date.now();
  await ingest.write(
    Array.from({ length: 300 }, (_, n) => ({
      labels: { ...up, n: String(n) },
      time: now,
      value: n,
    })),
  );
  await set('query_timeout', '1s');
  await set('max_samples', 10_000_000_000);
  const sums = Array.from({ length: 150 }, (_, n) => `sum(up ^ 1.${n + 100})`).join(' + ');
  const slow = await get('query', {
    query: `max_over_time((${sums})[4m:100ms])`,
    time: now / 1000 + 240,
  });
  assert.deepEqual([slow.status, slow.body.errorType], [503, 'timeout'], slow.text.slice(0, 200));
  assert.match(slow.body.error, /^the query timed out after 1 s/);
});

test('one question at a time: the others wait in line and are answered', async (t) => {
  const { ingest, get, set } = await metricsHouse(t);
  await ingest.write(rows(up, [1, 2], Date.now()));
  await set('concurrency', 1);
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => get('query', { query: 'sum(up)' })),
  );
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
});

test('limits of the store follow the settings, and what is stored stays', async (t) => {
  const { ingest, set, unset, queries } = await metricsHouse(t);
  const now = Date.now();
  const count = async (query: string): Promise<number> => {
    const answer = await queries.instant(query, now);
    return answer.type === 'vector' ? (answer.values[0] ?? 0) : NaN;
  };
  await ingest.write([...rows({ ...up, n: '1' }, [1], now), ...rows({ ...up, n: '2' }, [1], now)]);
  await set('max_series', 2);
  await until(
    'a third series is refused',
    () => ingest.write(rows({ ...up, n: `3-${Math.random()}` }, [1], now)),
    ({ rejected, reasons }) => rejected === 1 && /limit of 2 series/.test(reasons[0]!),
  );
  await unset('max_series');
  await until(
    'and is taken again',
    () => ingest.write(rows({ ...up, n: '3' }, [1], now)),
    ({ accepted }) => accepted === 1,
  );

  const late = { ...up, late: 'yes' };
  await ingest.write(rows(late, [1], now));
  assert.equal(
    (await ingest.write(rows(late, [0], now - 5 * 60_000))).accepted,
    1,
    'ten minutes are allowed unless it is said',
  );
  await set('out_of_order', '1s');
  await until(
    'an older one is refused',
    () => ingest.write(rows(late, [0], now - 6 * 60_000)),
    ({ rejected }) => rejected === 1,
  );
  assert.equal(await count('count_over_time(up{late="yes"}[10m])'), 2);
  assert.ok((await count('count(up)')) >= 4);
});

test('the address of another server makes the driver remote, unless one is named', async (t) => {
  const { queries, set } = await metricsHouse(t, {
    environment: { SVC_METRICSDB_URL: 'http://127.0.0.1:9' },
  });
  assert.equal((await queries.status()).driver, 'remote');
  await assert.rejects(queries.instant('up', 0), { code: 'upstream_error' });
  await set('driver', 'embedded');
  const status = await until(
    'the named driver counts',
    () => queries.status(),
    ({ driver }) => driver === 'embedded',
  );
  assert.equal(status.ok, true);
});

test('a value that makes no sense is refused with the reason', async (t) => {
  const { house } = await metricsHouse(t);
  const cases: readonly (readonly [string, unknown])[] = [
    ['driver', 'cloud'],
    ['url', 'ftp://x'],
    ['url', 'http://user:password@host'],
    ['retention', '0d'],
    ['retention', '30'],
    ['max_bytes', 1],
    ['max_series', 0],
    ['max_samples', 0],
    ['max_points', -1],
    ['query_timeout', '10m'],
    ['concurrency', 0],
    ['lookback', '0s'],
    ['out_of_order', '-1m'],
    ['tenant', 'a b'],
    ['tenant', 'a\r\nx: y'],
    ['token', 'a\r\nx: y'],
    ['user', 'a:b'],
  ];
  for (const [key, value] of cases) {
    const answer = await house.fetch(`/api/v1/system-settings/metricsdb/${key}`, {
      method: 'PUT',
      body: JSON.stringify({ value }),
    });
    assert.equal(answer.status, 400, `${key} ${JSON.stringify(value)}`);
  }
});
