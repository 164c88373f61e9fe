import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { SvcError } from 'svc/sdk';
import { ProtoReader, ProtoWriter } from 'svc/store';

import { basic, disabled, edgeFleet, ingestHouse, pretendStores, seven, unbound } from './house.ts';

const proto = 'application/x-protobuf';
const json = 'application/json';

describe('a push', () => {
  test('goes to the store of its signal, in the format and encoding that its headers say, stamped with its edge', async (t) => {
    const stores = pretendStores();
    const { push } = await ingestHouse(t, { services: stores.services });
    const cases: readonly [
      path: string,
      type: string,
      encoding: string,
      expected: readonly (string | undefined)[],
      status: number,
    ][] = [
      ['/api/v1/write', proto, 'snappy', ['metrics', 'remote-write', 'snappy'], 204],
      ['/prometheus/api/v1/write', proto, '', ['metrics', 'remote-write', 'snappy'], 204],
      [
        '/api/v1/write',
        `${proto};proto=prometheus.WriteRequest`,
        'snappy',
        ['metrics', 'remote-write', 'snappy'],
        204,
      ],
      [
        '/api/v1/write',
        `${proto};proto=io.prometheus.write.v2.Request`,
        'snappy',
        ['metrics', 'remote-write-2', 'snappy'],
        204,
      ],
      ['/api/v1/import/prometheus', 'text/plain', 'gzip', ['metrics', 'exposition', 'gzip'], 204],
      ['/v1/metrics', proto, 'gzip', ['metrics', 'otlp-proto', 'gzip'], 200],
      ['/v1/metrics', json, '', ['metrics', 'otlp-json', undefined], 200],
      [
        '/v1/logs',
        'application/json; charset=utf-8',
        'deflate',
        ['logs', 'otlp-json', 'gzip'],
        200,
      ],
      ['/v1/logs', proto, '', ['logs', 'otlp-proto', undefined], 200],
      ['/otlp/v1/metrics', proto, '', ['metrics', 'otlp-proto', undefined], 200],
      ['/otlp/v1/traces', json, '', ['traces', 'otlp-json', undefined], 200],
      ['/v1/traces', proto, 'snappy', ['traces', 'otlp-proto', 'snappy'], 200],
      ['/v1/traces', json, 'gzip', ['traces', 'otlp-json', 'gzip'], 200],
      ['/loki/api/v1/push', json, 'gzip', ['logs', 'loki-json', 'gzip'], 204],
      ['/loki/api/v1/push', proto, '', ['logs', 'loki-proto', undefined], 204],
    ];
    for (const [path, type, encoding, [store, format, packed], status] of cases) {
      const answer = await push(
        path,
        seven,
        type,
        'body',
        encoding === '' ? {} : { 'content-encoding': encoding },
      );
      const text = await answer.text();
      assert.equal(answer.status, status, `${path} ${type} ${text}`);
      assert.deepEqual(
        stores.received.pop(),
        {
          store,
          format,
          body: Buffer.from('body'),
          encoding: packed,
          stamp: { edge_id: '7', device_id: '70' },
        },
        path,
      );
      assert.equal(stores.received.length, 0);
    }
  });

  test('of anybody who is no edge with a device carries no stamp, and takes the claims of its sender away', async (t) => {
    const stores = pretendStores();
    const { push, apiToken } = await ingestHouse(t, { services: stores.services });
    await push('/api/v1/write', unbound, proto, 'x');
    assert.deepEqual(stores.received.pop()!.stamp, { edge_id: '8', device_id: '' });
    await push('/v1/traces', unbound, proto, 'x');
    assert.deepEqual(stores.received.pop()!.stamp, { edge_id: '8' });
    const script = await apiToken('admin', ['ingest:push']);
    await push('/loki/api/v1/push', `Bearer ${script}`, json, 'x');
    assert.deepEqual(stores.received.pop()!.stamp, { edge_id: '', device_id: '' });
    await push('/v1/traces', `Bearer ${script}`, json, 'x');
    assert.deepEqual(stores.received.pop()!.stamp, {});
  });

  test('is open to edges by Basic or Bearer keys and to tokens that hold ingest:push, also as a password, and to nobody else', async (t) => {
    const stores = pretendStores();
    const { push, apiToken, fleet } = await ingestHouse(t, { services: stores.services });
    const [able, unable] = [
      await apiToken('admin', ['ingest:push']),
      await apiToken('user', ['edge:*']),
    ];
    const status = async (authorization: string | undefined): Promise<number> =>
      (await push('/v1/logs', authorization, json, '{}')).status;
    assert.equal(await status(seven), 200);
    assert.equal(await status('Bearer svc_ak_seven:svc_sk_seven'), 200);
    assert.equal(await status(`Bearer ${able}`), 200);
    assert.equal(await status(basic('whoever', able)), 200);
    assert.equal(await status(basic('', able)), 200);
    assert.equal(await status(undefined), 401);
    assert.equal(await status(basic('svc_ak_seven', 'svc_sk_eight')), 401);
    assert.equal(await status(basic('svc_ak_nobody', 'svc_sk_seven')), 401);
    assert.equal(await status(basic('svc_ak_seven', '')), 401);
    assert.equal(await status(basic('whoever', `${able}x`)), 401);
    assert.equal(await status(`Bearer ${unable}`), 403);
    assert.equal(await status(basic('whoever', unable)), 403);
    assert.equal(await status(disabled), 403);
    const asked = fleet.asked;
    assert.equal(await status(basic('svc_ak_../etc', 'svc_sk_x')), 401);
    assert.equal(await status(basic('svc_ak_seven', `svc_sk_${'x'.repeat(300)}`)), 401);
    assert.equal(fleet.asked, asked, 'nobody is asked about what has not the form of keys');
  });

  test('tells senders without credentials that Basic will do, and only on the routes of senders', async (t) => {
    const { push, url } = await ingestHouse(t);
    assert.equal(
      (await push('/v1/traces', undefined, json, '{}')).headers.get('www-authenticate'),
      'Basic realm="svc", Bearer realm="svc"',
    );
    assert.equal(
      (await fetch(`${url}/api/v1/users`)).headers.get('www-authenticate'),
      'Bearer realm="svc"',
    );
  });

  test('opens nothing but the data plane to an edge', async (t) => {
    const { fetch: ask } = await ingestHouse(t);
    for (const path of ['/api/v1/users', '/api/v1/me', '/metrics']) {
      assert.equal((await ask(path, { headers: { authorization: seven } })).status, 403, path);
    }
  });

  test('needs the store of its signal, which it names, and no other', async (t) => {
    const stores = pretendStores();
    const { 'logs.ingest': logs } = stores.services;
    const { push } = await ingestHouse(t, { services: { 'logs.ingest': logs! } });
    assert.equal((await push('/loki/api/v1/push', seven, json, '{}')).status, 204);
    const absent = await push('/api/v1/write', seven, proto, 'x');
    assert.deepEqual(
      [absent.status, absent.headers.get('retry-after'), absent.headers.get('content-type')],
      [503, '5', 'text/plain; charset=utf-8'],
    );
    assert.match(await absent.text(), /^Service metrics\.ingest is not available/);
    const traces = await push('/v1/traces', seven, json, '{}');
    assert.equal(traces.status, 503);
    assert.deepEqual(await traces.json(), {
      code: 14,
      message: 'Service traces.ingest is not available at the moment.',
    });
  });

  test('is not written into the audit trail, a denied one is', async (t) => {
    const stores = pretendStores();
    const { push, json: get } = await ingestHouse(t, {
      services: stores.services,
      plugins: ['iam', 'session', 'ingest', edgeFleet, 'audit'],
    });
    await push('/v1/logs', seven, json, '{}');
    await push('/v1/logs', disabled, json, '{}');
    const { items } = await get('/api/v1/admin/audit-logs');
    assert.deepEqual(
      items.map(({ action, status }: { action: string; status: string }) => [action, status]),
      [['ingest:logs', 'denied']],
    );
  });
});

describe('what is refused', () => {
  test('of a kind or encoding that a route does not read is 415, in the words of its protocol', async (t) => {
    const stores = pretendStores();
    const { push } = await ingestHouse(t, { services: stores.services });
    const cases: readonly [path: string, type: string, encoding: string][] = [
      ['/api/v1/write', json, 'snappy'],
      ['/api/v1/write', proto, 'gzip'],
      ['/api/v1/write', proto, 'zstd'],
      ['/api/v1/write', `${proto};proto=other.Request`, 'snappy'],
      ['/api/v1/import/prometheus', json, ''],
      ['/v1/metrics', 'text/plain', ''],
      ['/v1/logs', '', ''],
      ['/v1/traces', json, 'br'],
      ['/v1/traces', json, 'constructor'],
      ['/loki/api/v1/push', 'application/x-www-form-urlencoded', ''],
    ];
    for (const [path, type, encoding] of cases) {
      const answer = await push(
        path,
        seven,
        type,
        'x',
        encoding === '' ? {} : { 'content-encoding': encoding },
      );
      assert.equal(answer.status, 415, `${path} ${type} ${encoding}`);
    }
    assert.deepEqual(stores.received, []);
  });

  test('an empty body is refused, except where it is an export of nothing', async (t) => {
    const { push } = await ingestHouse(t);
    assert.equal((await push('/loki/api/v1/push', seven, json, '')).status, 400);
    assert.equal((await push('/api/v1/write', seven, proto, '')).status, 400);
    assert.equal((await push('/v1/traces', seven, json, '')).status, 400);
    const nothing = await push('/v1/traces', seven, proto, '');
    assert.deepEqual(
      [
        nothing.status,
        nothing.headers.get('content-type'),
        (await nothing.arrayBuffer()).byteLength,
      ],
      [200, proto, 0],
    );
  });

  test('another method is 405 with the one that is meant', async (t) => {
    const { url } = await ingestHouse(t);
    for (const path of [
      '/api/v1/write',
      '/prometheus/api/v1/write',
      '/v1/traces',
      '/v1/metrics',
      '/v1/logs',
      '/loki/api/v1/push',
      '/api/v1/auth/login',
    ]) {
      const answer = await fetch(url + path, { headers: { authorization: seven } });
      assert.deepEqual([answer.status, answer.headers.get('allow')], [405, 'POST, OPTIONS'], path);
      await answer.arrayBuffer();
    }
  });

  test('a body beyond 16 MiB is 413 and never reaches a store', async (t) => {
    const stores = pretendStores();
    const { push } = await ingestHouse(t, { services: stores.services });
    const answer = await push('/v1/logs', seven, proto, Buffer.alloc(16 * 1024 * 1024 + 1));
    assert.equal(answer.status, 413);
    const status = readStatus(Buffer.from(await answer.arrayBuffer()));
    assert.deepEqual(status, { code: 3, message: 'The body is larger than 16 MiB.' });
    assert.equal(
      (await push('/v1/logs', seven, proto, Buffer.alloc(16 * 1024 * 1024))).status,
      200,
    );
    assert.equal(stores.received.length, 1);
  });

  test('in part is told as each protocol tells it', async (t) => {
    const stores = pretendStores();
    stores.answer = () => ({ accepted: 4, rejected: 2, reasons: ['too old', 'too new'] });
    const { push } = await ingestHouse(t, { services: stores.services });

    const write = await push(
      '/api/v1/write',
      seven,
      `${proto};proto=io.prometheus.write.v2.Request`,
      'x',
      { 'content-encoding': 'snappy' },
    );
    assert.deepEqual(
      [write.status, await write.text()],
      [400, '2 samples were rejected: too old; too new\n'],
    );
    assert.equal(write.headers.get('x-prometheus-remote-write-samples-written'), '4');
    const loki = await push('/loki/api/v1/push', seven, json, 'x');
    assert.deepEqual(
      [loki.status, loki.headers.get('content-type'), await loki.text()],
      [400, 'text/plain; charset=utf-8', 'too old\ntoo new\n'],
    );

    const names = {
      metrics: 'rejectedDataPoints',
      logs: 'rejectedLogRecords',
      traces: 'rejectedSpans',
    };
    for (const [signal, name] of Object.entries(names)) {
      const text = await push(`/v1/${signal}`, seven, json, '{}');
      assert.deepEqual([text.status, text.headers.get('content-type')], [200, json]);
      assert.deepEqual(await text.json(), {
        partialSuccess: { [name]: '2', errorMessage: 'too old; too new' },
      });
      const bytes = await push(`/v1/${signal}`, seven, proto, 'x');
      assert.deepEqual([bytes.status, bytes.headers.get('content-type')], [200, proto]);
      const expected = new ProtoWriter()
        .message(1, (partial) => partial.int64(1, 2).string(2, 'too old; too new'))
        .finish();
      assert.deepEqual(Buffer.from(await bytes.arrayBuffer()), Buffer.from(expected));
    }
  });

  test('wholly is told in the language of the request, and whether to try again', async (t) => {
    const stores = pretendStores();
    const { push } = await ingestHouse(t, { services: stores.services });
    stores.answer = () => {
      throw new SvcError('unavailable', 'the disk is full', { retryAfterSeconds: 30 });
    };
    const bytes = await push('/v1/metrics', seven, proto, 'x');
    assert.deepEqual(
      [bytes.status, bytes.headers.get('retry-after'), bytes.headers.get('content-type')],
      [503, '30', proto],
    );
    assert.deepEqual(readStatus(Buffer.from(await bytes.arrayBuffer())), {
      code: 14,
      message: 'the disk is full',
    });
    const plain = await push('/api/v1/write', seven, proto, 'x');
    assert.deepEqual(
      [plain.status, plain.headers.get('retry-after'), await plain.text()],
      [503, '30', 'the disk is full\n'],
    );

    stores.answer = () => {
      throw new SvcError('invalid_argument', 'snappy: corrupt input');
    };
    const corrupt = await push('/loki/api/v1/push', seven, proto, 'x');
    assert.deepEqual([corrupt.status, await corrupt.text()], [400, 'snappy: corrupt input\n']);
    const object = await push('/v1/logs', seven, json, '{');
    assert.deepEqual(
      [object.status, await object.json()],
      [400, { code: 3, message: 'snappy: corrupt input' }],
    );
  });
});

test('what was pushed is counted by signal and outcome, and an edge remembered', async (t) => {
  const stores = pretendStores();
  const { push, fetch: ask } = await ingestHouse(t, { services: stores.services });
  await push('/v1/logs', seven, json, '{}');
  stores.answer = () => ({ accepted: 4, rejected: 2, reasons: ['no'] });
  await push('/v1/logs', seven, json, '{}');
  stores.answer = () => {
    throw new SvcError('unavailable', 'later');
  };
  await push('/v1/logs', seven, json, '{}');
  const text = await (await ask('/metrics')).text();
  for (const line of [
    'svc_ingest_requests_total{signal="logs",outcome="accepted"} 1',
    'svc_ingest_requests_total{signal="logs",outcome="partial"} 1',
    'svc_ingest_requests_total{signal="logs",outcome="unavailable"} 1',
    'svc_ingest_accepted_total{signal="logs"} 5',
    'svc_ingest_rejected_total{signal="logs"} 2',
    'svc_ingest_bytes_total{signal="logs"} 6',
    'svc_ingest_in_flight_bytes 0',
  ]) {
    assert.ok(text.includes(`${line}\n`), `${line}\n${text.match(/svc_ingest.*/g)?.join('\n')}`);
  }
  assert.match(text, /svc_ingest_last_push_timestamp_seconds\{signal="logs",edge_id="7"\} \d+/);
});

/** The status of gRPC in a refused export. */
function readStatus(bytes: Buffer): { code: number; message: string } {
  const reader = new ProtoReader(bytes);
  let [code, message] = [0, ''];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) {
      code = Number(reader.uint64());
    } else {
      message = reader.string();
    }
  }
  return { code, message };
}
