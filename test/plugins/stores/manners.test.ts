import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { ProtoReader, ProtoWriter } from 'svc/store';
import { startTestHost, type TestHost, useNoLeaks } from 'svc/testing';

const form = 'application/x-www-form-urlencoded';
const plain = 'text/plain; charset=utf-8';
const proto = 'application/x-protobuf';
const json = 'application/json';
const now = Date.now();
const ns = (ms: number): string => `${ms}000000`;
const window = { start: ns(now - 120_000), end: ns(now + 60_000) };

interface Told {
  readonly status: number;
  readonly type: string | null;
  readonly body: string;
}

/** Lines as the OTLP exporter of a collector sends them: protobuf, packed. */
const exported = (...lines: readonly string[]): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(
    gzipSync(
      new ProtoWriter()
        .message(1, (resourceLogs) => {
          resourceLogs.message(1, (resource) =>
            resource.message(1, (pair) =>
              pair.string(1, 'service.name').message(2, (value) => value.string(1, 'shop')),
            ),
          );
          resourceLogs.message(2, (scopeLogs) =>
            lines.forEach((line, at) =>
              scopeLogs.message(2, (record) => {
                record.fixed64(1, BigInt(now - at * 1_000) * 1_000_000n);
                record.message(5, (body) => body.string(1, line));
              }),
            ),
          );
        })
        .finish(),
    ),
  );

async function told(house: TestHost, path: string, init?: RequestInit): Promise<Told> {
  const answer = await house.fetch(path, init);
  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    body: await answer.text(),
  };
}

/** Requests by GET and by the form that Grafana posts; both have the same answer. */
async function asked(
  house: TestHost,
  path: string,
  parameters: Readonly<Record<string, string>>,
): Promise<Told> {
  const query = String(new URLSearchParams(parameters));
  const got = await told(house, `${path}?${query}`);
  assert.deepEqual(
    await told(house, path, { method: 'POST', body: query, headers: { 'content-type': form } }),
    got,
    path,
  );
  return got;
}

const openHouse = async (t: Parameters<typeof useNoLeaks>[0]): Promise<TestHost> => {
  const house = await startTestHost(t, {
    plugins: ['metricsdb', 'logs', 'traces', 'ingest', 'alert'],
  });
  useNoLeaks(t, house);
  return house;
};

test('the side panels of Grafana find what Loki has for them', async (t) => {
  const house = await openHouse(t);
  const headers = { 'content-type': proto, 'content-encoding': 'gzip' };
  const taken = await house.fetch('/otlp/v1/logs', {
    method: 'POST',
    headers,
    body: exported('took=3s code=200', 'took=5s code=404'),
  });
  assert.deepEqual(
    [taken.status, taken.headers.get('content-type'), (await taken.arrayBuffer()).byteLength],
    [200, proto, 0],
  );

  const shop = { ...window, query: '{service_name="shop"}' };
  const volume = JSON.parse(
    (
      await asked(house, '/loki/api/v1/index/volume_range', {
        ...shop,
        step: '3600',
        targetLabels: 'service_name',
      })
    ).body,
  );
  assert.deepEqual([volume.status, volume.data.resultType], ['success', 'matrix']);
  assert.deepEqual(volume.data.result[0].metric, { service_name: 'shop' });
  const labels = JSON.parse(
    (
      await asked(house, '/loki/api/v1/index/volume_range', {
        ...shop,
        step: '3600',
        aggregateBy: 'labels',
        limit: '1',
      })
    ).body,
  );
  assert.deepEqual(labels.data.result[0].metric, { service_name: '' });

  const { fields, limit } = JSON.parse(
    (await asked(house, '/loki/api/v1/detected_fields', { ...shop, line_limit: '10', limit: '2' }))
      .body,
  );
  assert.deepEqual([fields.length, limit], [2, 2]);
  const took = JSON.parse(
    (
      await told(
        house,
        `/loki/api/v1/detected_field/took/values?${String(new URLSearchParams(shop))}`,
      )
    ).body,
  );
  assert.deepEqual(took.values.toSorted(), ['3s', '5s']);
  const patterns = JSON.parse(
    (await asked(house, '/loki/api/v1/patterns', { ...shop, step: '60s' })).body,
  );
  assert.deepEqual(
    [patterns.status, patterns.data.length, patterns.data[0].pattern],
    ['success', 1, 'took=<_> code=<_>'],
  );
  assert.equal(typeof patterns.data[0].samples[0][0], 'number');
  assert.deepEqual(await told(house, '/loki/ready'), { status: 200, type: plain, body: 'ready\n' });
});

test('what is wrong is told by Loki and Tempo in plain text, by Prometheus as an object, by OTLP as a status', async (t) => {
  const house = await openHouse(t);
  const broken = { ...window, query: '{service_name="shop"' };
  for (const path of [
    'index/volume',
    'index/volume_range',
    'detected_fields',
    'patterns',
    'detected_labels',
    'index/stats',
    'labels',
  ]) {
    const { status, type, body } = await asked(house, `/loki/api/v1/${path}`, broken);
    assert.deepEqual([status, type], [400, plain], path);
    assert.match(body, /^parse error at line 1, col 2\d: syntax error: unexpected \$end/, path);
    const backwards = await asked(house, `/loki/api/v1/${path}`, {
      start: window.end,
      end: window.start,
      query: '{a="b"}',
    });
    assert.deepEqual(
      backwards,
      { status: 400, type: plain, body: 'end timestamp must not be before or equal to start time' },
      path,
    );
  }
  const refused = (errorType: string, error: string): string =>
    JSON.stringify({ status: 'error', errorType, error });
  const both = await told(house, '/prometheus/api/v1/rules?type=both');
  assert.deepEqual(
    [both.status, both.type, JSON.parse(both.body).errorType],
    [400, json, 'bad_data'],
  );
  for (const path of ['rules', 'alerts', 'targets']) {
    assert.equal((await told(house, `/prometheus/api/v1/${path}`)).status, 200, path);
    const stranger = await told(house, `/prometheus/api/v1/${path}`, {
      headers: { authorization: 'Bearer nobody' },
    });
    assert.deepEqual(
      [stranger.status, stranger.type, JSON.parse(stranger.body).errorType],
      [401, json, 'unauthorized'],
      path,
    );
    const posted = await told(house, `/prometheus/api/v1/${path}`, {
      method: 'POST',
      body: '',
      headers: { 'content-type': form },
    });
    assert.deepEqual(
      [posted.status, posted.type, JSON.parse(posted.body).status],
      [405, json, 'error'],
      path,
    );
  }
  const nowhere = 'This route does not exist.';
  assert.deepEqual(await told(house, '/prometheus/api/v1/nope'), {
    status: 404,
    type: json,
    body: refused('not_found', nowhere),
  });
  assert.deepEqual(await told(house, '/loki/api/v1/nope'), {
    status: 404,
    type: plain,
    body: nowhere,
  });
  assert.deepEqual(await told(house, '/tempo/api/nope'), { status: 404, type: plain, body: '' });

  const status = (bytes: ArrayBuffer): [number, string] => {
    const reader = new ProtoReader(Buffer.from(bytes));
    reader.next();
    const code = reader.int32();
    reader.next();
    return [code, reader.string()];
  };
  const garbage = await house.fetch('/otlp/v1/logs', {
    method: 'POST',
    headers: { 'content-type': proto },
    body: 'garbage',
  });
  assert.deepEqual([garbage.status, garbage.headers.get('content-type')], [400, proto]);
  assert.equal(status(await garbage.arrayBuffer())[0], 3);
  const object = await told(house, '/otlp/v1/logs', {
    method: 'POST',
    headers: { 'content-type': json },
    body: '{',
  });
  assert.deepEqual([object.status, object.type, JSON.parse(object.body).code], [400, json, 3]);
  const other = await told(house, '/otlp/v1/logs', {
    method: 'POST',
    headers: { 'content-type': 'text/csv' },
    body: 'a,b',
  });
  assert.equal(other.status, 415);
  const stranger = await house.fetch('/otlp/v1/logs', {
    method: 'POST',
    headers: { 'content-type': proto, authorization: 'Bearer nobody' },
    body: exported('x'),
  });
  assert.deepEqual(
    [
      stranger.status,
      stranger.headers.get('content-type'),
      status(await stranger.arrayBuffer())[0],
    ],
    [401, proto, 16],
  );
  const got = await house.fetch('/otlp/v1/logs');
  assert.deepEqual([got.status, got.headers.get('allow')], [405, 'POST, OPTIONS']);
});

test('long answers come packed when the peer takes them so', async (t) => {
  const house = await openHouse(t);
  const values = Array.from({ length: 200 }, (_, at) => [
    ns(now - at),
    `line ${at} of a long answer`,
  ]);
  const pushed = await house.fetch('/loki/api/v1/push', {
    method: 'POST',
    body: JSON.stringify({ streams: [{ stream: { app: 'long' }, values }] }),
  });
  assert.equal(pushed.status, 204);
  const query = String(new URLSearchParams({ ...window, query: '{app="long"}', limit: '200' }));
  const answer = await fetch(`${house.url}/loki/api/v1/query_range?${query}`, {
    headers: { authorization: `Bearer ${house.token}`, 'accept-encoding': 'gzip' },
  });
  assert.equal(answer.headers.get('content-encoding'), 'gzip');
  assert.equal((JSON.parse(await answer.text()) as { status: string }).status, 'success');
});
