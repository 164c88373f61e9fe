import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';

import type { AuthenticatorContract } from 'svc/sdk';
import { startTestHost, type TestHost } from 'svc/testing';

import { metricsHouse, rows, until } from './house.ts';

const up = { __name__: 'up', job: 'node' };

test('a range for programs is one matrix with seconds and texts', async (t) => {
  const { ingest, call, queries } = await metricsHouse(t);
  const end = Math.floor(Date.now() / 1000) * 1000;
  const at = end / 1000;
  await ingest.write(rows(up, [1, 2, 3], end));
  const question = { query: 'up', start: at - 2, end: new Date(end).toISOString(), step: '1s' };
  const { status, body } = await call('/api/v1/metricsdb/query_range', question);
  assert.equal(status, 200);
  assert.deepEqual(body, {
    result_type: 'matrix',
    result: [
      {
        metric: up,
        values: [
          [at - 2, '1'],
          [at - 1, '2'],
          [at, '3'],
        ],
      },
    ],
    warnings: [],
  });
  const broken = await call('/api/v1/metricsdb/query_range', { ...question, query: 'up{' });
  assert.deepEqual([broken.status, broken.body.error], [400, 'invalid_argument']);
  assert.match(broken.body.message, /1:4: parse error: unexpected end of input inside braces/);
  assert.equal(
    (await call('/api/v1/metricsdb/query_range', { ...question, extra: 1 })).status,
    400,
  );
  assert.equal((await call('/api/v1/metricsdb/query_range', { query: 'up' })).status, 400);
  const wide = await call('/api/v1/metricsdb/query_range', { ...question, start: 0 });
  assert.match(wide.body.message, /11,000 points/);

  const twice = await queries.range('rate(up[1m])', { start: end - 1_000, end, step: 1_000 });
  assert.deepEqual(
    [twice.type, twice.labels, [...twice.times[0]!]],
    ['matrix', [{ job: 'node' }], [end - 1_000, end]],
  );
});

test('other plugins ask by service: every type of value, series, checks, and what they may see', async (t) => {
  const { ingest, queries } = await metricsHouse(t);
  const end = Math.floor(Date.now() / 1000) * 1000;
  await ingest.write([
    ...rows({ ...up, device_id: '7' }, [1, 2], end),
    ...rows({ ...up, device_id: '8' }, [5], end),
    ...rows({ __name__: '__proto__', constructor: 'x' }, [1], end),
  ]);
  const mine = [{ name: 'device_id', op: '=', value: '7' }] as const;

  const vector = await queries.instant('up', end, { enforce: mine });
  assert.deepEqual(vector, {
    type: 'vector',
    labels: [{ ...up, device_id: '7' }],
    times: Float64Array.of(end),
    values: Float64Array.of(2),
    warnings: [],
  });
  assert.deepEqual(await queries.instant('sum(up) + 1', end, { enforce: mine }), {
    type: 'vector',
    labels: [{}],
    times: Float64Array.of(end),
    values: Float64Array.of(3),
    warnings: [],
  });
  assert.deepEqual(await queries.instant('1 + 1', end), {
    type: 'scalar',
    time: end,
    value: 2,
    warnings: [],
  });
  assert.deepEqual(await queries.instant('"a"', end), {
    type: 'string',
    time: end,
    value: 'a',
    warnings: [],
  });
  const matrix = await queries.instant('up{device_id="7"}[5s]', end);
  assert.ok(matrix.type === 'matrix');
  assert.deepEqual([...matrix.values[0]!], [1, 2]);
  assert.deepEqual(await queries.series(['up'], { start: end - 5_000, end }, { enforce: mine }), [
    { ...up, device_id: '7' },
  ]);
  assert.deepEqual(
    await queries.series([], { start: end - 5_000, end }, { enforce: mine }),
    [{ ...up, device_id: '7' }],
    'what is enforced is a selector of its own',
  );
  const odd = await queries.instant('{__name__="__proto__"}', end);
  assert.ok(odd.type === 'vector');
  assert.deepEqual(Object.entries(odd.labels[0]!), [
    ['__name__', '__proto__'],
    ['constructor', 'x'],
  ]);

  assert.deepEqual(await queries.check('sum(up)by(job)'), {
    type: 'vector',
    printed: 'sum by (job) (up)',
    metrics: ['up'],
    grouping: ['job'],
  });
  await assert.rejects(queries.check('sum('), /^SvcError: 1:5: parse error/);
  await assert.rejects(queries.range('up', { start: 0, end: 1, step: 0 }), /step above zero/);
  await assert.rejects(queries.range('up', { start: 0, end, step: 1 }), /11,000 points/);
  await assert.rejects(queries.instant('up', end, { maxSamples: 1 }), /reads more than 1 samples/);
  const abort = new AbortController();
  abort.abort(new Error('changed my mind'));
  await assert.rejects(
    queries.instant('up', end, { signal: abort.signal }),
    /changed my mind|canceled/,
  );
  const { driver, ok, detail, delayMs } = await queries.status();
  assert.deepEqual(
    [driver, ok, detail, delayMs >= 0],
    ['embedded', true, 'the embedded store holds 3 series', true],
  );
});

test('what other plugins write is there for the next question, and a series can be ended', async (t) => {
  const { ingest, queries } = await metricsHouse(t);
  const now = Date.now();
  assert.deepEqual(
    await ingest.write([
      ...rows(up, [1], now),
      { labels: { job: 'nameless' }, time: now, value: 1 },
    ]),
    {
      accepted: 1,
      rejected: 1,
      reasons: ['a series has no metric name'],
    },
  );
  const pushed = await ingest.push('exposition', Buffer.from('load 2\n'), {
    stamp: { device_id: '7' },
  });
  assert.equal(pushed.accepted, 1);
  const load = await queries.instant('load', Date.now() + 1_000);
  assert.ok(load.type === 'vector' && load.labels[0]!['device_id'] === '7');
  await assert.rejects(
    ingest.push('remote-write', Buffer.from('garbage'), { encoding: 'snappy' }),
    /snappy: corrupt input/,
  );

  assert.equal(await ingest.end([{ name: 'job', op: '=', value: 'node' }], now + 1_000), 1);
  const after = await queries.instant('up', now + 2_000);
  assert.ok(
    after.type === 'vector' && after.values.length === 0,
    'an ended series is gone at once, not after the lookback',
  );
});

test('launching starts the store anew and loses nothing', async (t) => {
  const { house, call, ingest, queries } = await metricsHouse(t);
  const now = Date.now();
  await ingest.write(rows(up, [1, 2, 3], now));
  const { status, body } = await call('/api/v1/metricsdb/launch', {});
  assert.equal(status, 200);
  assert.deepEqual(body, {
    status: 'running',
    driver: 'embedded',
    url: `${house.url}/prometheus`,
    pid: process.pid,
    started_at: body.started_at,
  });
  assert.match(body.started_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const kept = await queries.instant('count_over_time(up[1m])', now);
  assert.ok(kept.type === 'vector' && kept.values[0] === 3);
  assert.equal((await call('/api/v1/metricsdb/launch', { driver: 'cloud' })).status, 400);
  assert.equal((await call('/api/v1/metricsdb/launch', { retention: 'forever' })).status, 400);
});

test('a launched retention is kept over restarts, until a setting says otherwise', async (t) => {
  const { house, call, get, set } = await metricsHouse(t);
  const inForce = async (): Promise<string> =>
    (await get('status/runtimeinfo')).body.data.storageRetention;
  assert.equal((await call('/api/v1/metricsdb/launch', { retention: '7d' })).status, 200);
  assert.equal(await inForce(), '7d');
  await house.reload('metricsdb');
  assert.equal(await inForce(), '7d');
  await set('retention', '14d');
  assert.equal(await inForce(), '14d');
  const refused = await call('/api/v1/metricsdb/launch', { retention: '7d' });
  assert.deepEqual([refused.status, refused.body.error], [409, 'conflict']);
  assert.match(refused.body.message, /metricsdb\.retention is set to 14d, which takes precedence/);
});

test('the list of settings shows what was launched, and a setting that would leave it in force is refused', async (t) => {
  const { house, call, queries, set, unset } = await metricsHouse(t, {
    environment: { SVC_METRICSDB_URL: 'http://127.0.0.1:9' },
  });
  assert.deepEqual(await shown(house, 'driver'), { value: 'auto', source: 'default' });
  assert.equal(
    (await call('/api/v1/metricsdb/launch', { driver: 'embedded', retention: '7d' })).status,
    200,
  );
  const launched = [
    { value: 'embedded', source: 'launch' },
    { value: '7d', source: 'launch' },
  ];
  assert.deepEqual([await shown(house, 'driver'), await shown(house, 'retention')], launched);

  const refused = await house.fetch('/api/v1/system-settings/metricsdb/driver', {
    method: 'PUT',
    body: JSON.stringify({ value: 'auto' }),
  });
  assert.equal(refused.status, 409);
  assert.match(
    await refused.text(),
    /metricsdb\.driver auto leaves the choice to POST \/api\/v1\/metricsdb\/launch, which set embedded and takes precedence/,
  );
  assert.deepEqual(await shown(house, 'driver'), launched[0]);

  await set('driver', 'remote');
  await set('retention', '14d');
  assert.deepEqual(
    [await shown(house, 'driver'), await shown(house, 'retention')],
    [
      { value: 'remote', source: 'database' },
      { value: '14d', source: 'database' },
    ],
  );
  await until(
    'the setting is in force',
    () => queries.status(),
    ({ driver }) => driver === 'remote',
  );
  await unset('driver');
  await unset('retention');
  assert.deepEqual([await shown(house, 'driver'), await shown(house, 'retention')], launched);
});

test('an auto that was stored before a launch says that it leaves it to that', async (t) => {
  const { house, call, set } = await metricsHouse(t);
  await set('driver', 'auto');
  assert.equal((await call('/api/v1/metricsdb/launch', { driver: 'embedded' })).status, 200);
  const problem =
    'the stored auto leaves the choice to POST /api/v1/metricsdb/launch, which set embedded';
  assert.deepEqual(await shown(house, 'driver'), { value: 'embedded', source: 'launch', problem });
});

interface ShownSetting {
  readonly category: string;
  readonly key: string;
  readonly value: unknown;
  readonly source: string;
  readonly problem?: string;
}

/** A setting of metrics as the list has it. */
async function shown(
  house: TestHost,
  name: string,
): Promise<Pick<ShownSetting, 'value' | 'source' | 'problem'>> {
  const { items } = await house.json<{ items: readonly ShownSetting[] }>(
    '/api/v1/system-settings?limit=200',
  );
  const { value, source, problem } = items.find(
    ({ category, key }) => category === 'metricsdb' && key === name,
  )!;
  return { value, source, ...(problem !== undefined && { problem }) };
}

test('a driver that cannot be launched leaves the one that was there', async (t) => {
  const { call, ingest, queries, set } = await metricsHouse(t);
  const now = Date.now();
  await ingest.write(rows(up, [1], now));
  await set('process_binary', '/nowhere/prometheus');
  const refused = await call('/api/v1/metricsdb/launch', { driver: 'process' });
  assert.deepEqual([refused.status, refused.body.error], [503, 'unavailable']);
  assert.match(
    refused.body.message,
    /"\/nowhere\/prometheus", the metricsdb\.process_binary, is not a program on this machine/,
  );
  assert.match(
    (await call('/api/v1/metricsdb/launch', { driver: 'remote' })).body.message,
    /metricsdb\.url is not set/,
  );
  assert.equal((await queries.status()).driver, 'embedded');
  const there = await queries.instant('up', now);
  assert.ok(there.type === 'vector' && there.values.length === 1);
});

test('the probe of a proxy lets through who is signed in, and nobody else', async (t) => {
  const authenticator: AuthenticatorContract = {
    authenticate: ({ value }) =>
      value === 'a-person'
        ? { kind: 'user', id: '1', role: 'viewer', grants: [] }
        : value === 'an-edge'
          ? { kind: 'edge', id: '1', role: 'edge', grants: ['*'] }
          : undefined,
  };
  const house = await startTestHost(t, {
    plugins: ['metricsdb'],
    services: { 'auth.authenticator': authenticator },
  });
  const probe = async (authorization?: string): Promise<readonly [number, string]> => {
    const answer = await fetch(
      `${house.url}/api/v1/metricsdb/auth`,
      authorization === undefined ? {} : { headers: { authorization } },
    );
    return [answer.status, await answer.text()];
  };
  assert.deepEqual(await probe('Bearer a-person'), [204, '']);
  for (const authorization of [
    undefined,
    'Bearer stranger',
    'Bearer an-edge',
    'Basic YS1wZXJzb24=',
    'Bearer ',
    `Bearer ${'x'.repeat(9_000)}`,
  ]) {
    assert.equal((await probe(authorization))[0], 401, authorization?.slice(0, 40));
  }
});

test('the connection test tells of the store in force, and its files lie in the folder of the plugin', async (t) => {
  const { call, house } = await metricsHouse(t);
  const { status, body } = await call('/api/v1/integrations/metricsdb/test', {});
  assert.equal(status, 200);
  assert.deepEqual(
    { ...body, latency_ms: 0, version: '' },
    {
      ok: true,
      code: 'ok',
      latency_ms: 0,
      version: '',
      detail: 'the embedded store holds 0 series',
    },
  );
  assert.ok(existsSync(`${house.dataDir}/plugins/metricsdb/wal`));
});
