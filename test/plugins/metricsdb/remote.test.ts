import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';

import { ProtoReader, snappyDecode } from 'svc/store';

import { authority, clientCert, clientKey, serverCert, serverKey } from './certificates.ts';
import { metricsHouse, rows, until } from './house.ts';

const up = { __name__: 'up', job: 'node' };

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly parameters: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

type Reply = {
  readonly status?: number;
  readonly body?: string;
  readonly headers?: Record<string, string>;
  readonly delayMs?: number;
};

/** Starts a server that answers as configured and records its requests. */
async function upstream(
  t: TestContext,
  answer: (seen: Seen) => Reply,
): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer((req, res) => {
    const parts: Buffer[] = [];
    req.on('data', (part: Buffer) => parts.push(part));
    req.on('end', () => {
      const url = new URL(req.url!, 'http://x');
      const body = Buffer.concat(parts);
      const isForm = req.headers['content-type'] === 'application/x-www-form-urlencoded';
      const one: Seen = {
        method: req.method!,
        path: url.pathname,
        parameters: isForm ? new URLSearchParams(body.toString()) : url.searchParams,
        headers: req.headers,
        body,
      };
      seen.push(one);
      const { status = 200, body: text = '', headers = {}, delayMs = 0 } = answer(one);
      const send = (): void =>
        void res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
      setTimeout(send, delayMs);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const success = (data: unknown): string => JSON.stringify({ status: 'success', data });
const nothing = success({ resultType: 'vector', result: [] });

test('a question is rebuilt for the other server: nothing of the caller is passed on but what is known', async (t) => {
  const { url, seen } = await upstream(t, () => ({ body: nothing }));
  const { house, set, get } = await metricsHouse(t, {
    environment: { SVC_METRICSDB_URL: `${url}/base/` },
  });
  await set('token', 'secret-token');
  await set('tenant', 'team-a');
  const answer = await house.fetch(
    '/prometheus/api/v1/query?query=up&time=5&db=other&nocache=0&match[]=x&X-Scope-OrgID=evil&limit=3&timeout=7s',
    {
      headers: { 'x-scope-orgid': 'evil', cookie: 'a=b', 'x-forwarded-for': '1.2.3.4' },
    },
  );
  assert.equal(await answer.text(), nothing, 'the answer is passed on as it is');
  const [{ method, path, parameters, headers }] = seen as [Seen];
  assert.deepEqual([method, path], ['POST', '/base/api/v1/query']);
  assert.deepEqual(
    [...parameters],
    [
      ['query', 'up'],
      ['time', '5.000'],
      ['timeout', '7000ms'],
      ['limit', '3'],
    ],
  );
  assert.deepEqual(
    [headers.authorization, headers['x-scope-orgid'], headers.cookie, headers['x-forwarded-for']],
    ['Bearer secret-token', 'team-a', undefined, undefined],
  );

  seen.length = 0;
  await get('query_range', { query: 'up', start: 1, end: 2, step: '15s', lookback_delta: '1m' });
  await get('series', { 'match[]': ['up', 'b{c!="d"}'], start: 1 });
  await get('label/U__a_2e_b/values', { 'match[]': 'up' });
  assert.deepEqual(
    seen.map(({ path: asked, parameters: sent }) => [
      asked,
      ...[...sent].map(([name, value]) => `${name}=${value}`),
    ]),
    [
      [
        '/base/api/v1/query_range',
        'query=up',
        'start=1.000',
        'end=2.000',
        'step=15000ms',
        'nocache=1',
        'lookback_delta=60000ms',
        'timeout=30000ms',
      ],
      [
        '/base/api/v1/series',
        'match[]={__name__="up"}',
        'match[]={c!="d",__name__="b"}',
        'start=1.000',
      ],
      ['/base/api/v1/label/a.b/values', 'match[]={__name__="up"}'],
    ],
  );
});

test('a user and a password are sent as Basic, and a token goes before them', async (t) => {
  const { url, seen } = await upstream(t, () => ({ body: nothing }));
  const { set, get } = await metricsHouse(t, { environment: { SVC_METRICSDB_URL: url } });
  const sent = async (): Promise<string | undefined> => {
    await get('query', { query: 'up' });
    return seen.at(-1)!.headers.authorization;
  };
  assert.equal(await sent(), undefined);
  await set('user', 'me');
  await set('password', 'pässword');
  assert.equal(await sent(), `Basic ${Buffer.from('me:pässword').toString('base64')}`);
  await set('token', 't');
  assert.equal(await sent(), 'Bearer t');
});

test('what is wrong with a question is told before it leaves, and length is bounded', async (t) => {
  const { url, seen } = await upstream(t, () => ({ body: nothing }));
  const { get, post } = await metricsHouse(t, { environment: { SVC_METRICSDB_URL: url } });
  assert.match(
    (await get('query_range', { query: 'up', start: 0, end: 1e9, step: 1 })).body.error,
    /11,000 points/,
  );
  assert.match(
    (await post('query', { query: 'x'.repeat(70_000) })).body.error,
    /longer than 65536 bytes/,
  );
  assert.match((await get('series')).body.error, /no match\[\]/);
  assert.equal((await get('format_query', { query: 'a/b' })).body.data, 'a / b', 'answered here');
  assert.deepEqual(seen, []);
});

test('who may see a part only sees that part: the query is rewritten by our own parser', async (t) => {
  const { url, seen } = await upstream(t, ({ path }) => ({
    body: path.endsWith('series') ? success([]) : nothing,
  }));
  const { queries } = await metricsHouse(t, { environment: { SVC_METRICSDB_URL: url } });
  const enforce = [{ name: 'device_id', op: '=', value: '7"} or up{x="' }] as const;
  const matcher = String.raw`device_id="7\"} or up{x=\""`;
  const asked = async (query: string): Promise<string | null> => {
    await queries.instant(query, 0, { enforce });
    return seen.at(-1)!.parameters.get('query');
  };
  assert.equal(await asked('up'), `up{${matcher}}`);
  assert.equal(
    await asked(
      'sum by (a) (rate(b{c=~"d|e"}[5m] offset 1m)) / on (a) group_left () max_over_time(f[1h:1m]) > bool -(1 + 2)',
    ),
    `sum by (a) (rate(b{c=~"d|e",${matcher}}[5m] offset 1m)) / on (a) group_left () max_over_time(f{${matcher}}[1h:1m]) > bool -(1 + 2)`,
  );
  await queries.series(['up', '{job="a"}'], { start: 0, end: 1 }, { enforce });
  assert.deepEqual(seen.at(-1)!.parameters.getAll('match[]'), [
    `{__name__="up",${matcher}}`,
    `{job="a",${matcher}}`,
  ]);
  const calls = seen.length;
  await assert.rejects(queries.instant('up or some_dialect_of(up', 0, { enforce }), /parse error/);
  await assert.rejects(
    queries.instant('info(up)', 0, { enforce }),
    /info\(\) on a remote store is not available/,
  );
  assert.equal(seen.length, calls, 'what cannot be read is not sent');
});

test('refusals of the other server keep their meaning; trouble between servers is told as such, and no secret with it', async (t) => {
  let reply: Reply = {};
  const { url } = await upstream(t, () => reply);
  const { get, set, queries, house } = await metricsHouse(t, {
    environment: { SVC_METRICSDB_URL: url },
  });
  await set('token', 'very-secret-token');
  const refused = (errorType: string, error: string): string =>
    JSON.stringify({ status: 'error', errorType, error });
  const cases: readonly (readonly [Reply, number, string, RegExp])[] = [
    [
      { status: 400, body: refused('bad_data', '1:1: parse error: oh no') },
      400,
      'bad_data',
      /^1:1: parse error: oh no$/,
    ],
    [{ status: 422, body: refused('422', 'cannot') }, 422, 'execution', /^cannot$/],
    [{ status: 503, body: refused('timeout', 'too slow') }, 503, 'timeout', /^too slow$/],
    [{ status: 401, body: 'no' }, 502, 'unavailable', /rejected the credentials/],
    [
      { status: 404, body: '<html>' },
      502,
      'unavailable',
      /use the part of the address before \/api\/v1/,
    ],
    [
      { status: 500, body: refused('internal', 'it broke') },
      502,
      'unavailable',
      /status 500: it broke/,
    ],
    [
      { status: 302, headers: { location: 'http://169.254.169.254/' } },
      502,
      'unavailable',
      /status 302/,
    ],
    [{ body: '<html>hello</html>' }, 502, 'unavailable', /not with a Prometheus API response/],
    [{ body: refused('bad_data', 'x') }, 502, 'unavailable', /not with a Prometheus API response/],
    [
      { body: success({ resultType: 'vector', result: ['x'.repeat(3_000_000)] }) },
      502,
      'unavailable',
      /larger than 2000000 bytes/,
    ],
  ];
  await set('max_answer_bytes', 2_000_000);
  for (const [given, status, errorType, error] of cases) {
    reply = given;
    const answer = await get('query', { query: 'up' });
    assert.deepEqual([answer.status, answer.body.errorType], [status, errorType], answer.text);
    assert.match(answer.body.error, error);
    assert.ok(!answer.text.includes('very-secret'), 'no secret');
  }
  for (const body of [
    '{"status":"success"',
    success(null),
    success({ resultType: 'vector' }),
    success({ resultType: 'vector', result: [{ metric: { a: 1 }, value: [1, '1'] }] }),
    success({ resultType: 'vector', result: [{ metric: {}, value: [1, 'x'] }] }),
    success({ resultType: 'histogram', result: [] }),
  ]) {
    reply = { body };
    await assert.rejects(queries.instant('up', 0), { code: 'upstream_error' }, body);
  }
  assert.ok(!house.lines.some((line) => line.includes('very-secret')));
  reply = { body: nothing, delayMs: 20_000 };
  const late = await get('query', { query: 'up', timeout: '100ms' });
  assert.deepEqual([late.status, late.body.errorType], [502, 'unavailable']);
  assert.match(late.body.error, /did not respond within 2\.1 s/);
});

test('a server on a private network is called only where that is allowed', async (t) => {
  const { url, seen } = await upstream(t, () => ({ body: nothing }));
  const { get, call } = await metricsHouse(t, {
    environment: { SVC_METRICSDB_URL: url, SVC_OUTBOUND_ALLOW_PRIVATE: '10.0.0.0/8' },
  });
  const answer = await get('query', { query: 'up' });
  assert.equal(answer.status, 400);
  assert.match(answer.body.error, /outbound\.allow_private/);
  const metadata = await call('/api/v1/integrations/metricsdb/test', {
    url: 'http://169.254.169.254/latest',
  });
  assert.deepEqual(
    [metadata.status, metadata.body.ok, metadata.body.code],
    [200, false, 'not_allowed'],
  );
  assert.match(metadata.body.detail, /a cloud metadata address, which svc never connects to/);
  assert.deepEqual(seen, []);
});

test('another server can be tried before it is set, and gets no stored credential', async (t) => {
  const { url, seen } = await upstream(t, ({ path }) => ({
    body: path.endsWith('buildinfo')
      ? success({ version: '2.99.0' })
      : success({ resultType: 'scalar', result: [1, '1'] }),
  }));
  const { call, set, queries } = await metricsHouse(t);
  await set('token', 'secret');
  const { body } = await call('/api/v1/integrations/metricsdb/test', { url });
  assert.deepEqual(
    { ...body, latency_ms: 0 },
    {
      ok: true,
      code: 'ok',
      latency_ms: 0,
      version: '2.99.0',
      detail: 'Prometheus 2.99.0 answers; a sample was written; the server does not show it yet',
    },
  );
  assert.ok(seen.length > 0 && seen.every(({ headers }) => headers.authorization === undefined));
  assert.equal((await queries.status()).driver, 'embedded');
  const down = await call('/api/v1/integrations/metricsdb/test', { url: 'http://127.0.0.1:9' });
  assert.deepEqual([down.status, down.body.ok, down.body.code], [200, false, 'refused']);
});

test('certificates are checked, shown and, where somebody says so, not looked at', async (t) => {
  const shown: (string | undefined)[] = [];
  const server = createSecureServer(
    {
      cert: serverCert,
      key: serverKey,
      ca: authority,
      requestCert: true,
      rejectUnauthorized: false,
    },
    (req, res) => {
      const { subject } = (req.socket as TLSSocket).getPeerCertificate();
      shown.push((req.socket as TLSSocket).authorized ? subject.CN : undefined);
      res.writeHead(200, { 'content-type': 'application/json' }).end(nothing);
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { get, set, unset } = await metricsHouse(t, {
    environment: {
      SVC_METRICSDB_URL: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    },
  });
  const status = (wanted: number): Promise<unknown> =>
    until(
      `the answer is ${wanted}`,
      () => get('query', { query: 'up' }),
      (seen) => seen.status === wanted,
    );
  await status(502);
  assert.deepEqual(shown, []);
  await set('tls_insecure', true);
  await status(200);
  await unset('tls_insecure');
  await status(502);
  await set('tls_ca', authority);
  await status(200);
  assert.equal(shown.at(-1), undefined);
  await set('tls_cert', clientCert);
  await set('tls_key', clientKey);
  await until(
    'the client shows its certificate',
    async () => void (await get('query', { query: 'up' })),
    () => shown.at(-1) === 'client',
  );
});

interface Sent {
  readonly labels: Record<string, string>;
  readonly samples: readonly (readonly [time: number, bits: bigint])[];
}

/** Decodes a body of remote write. */
function unpacked(body: Buffer): Sent[] {
  const request = new ProtoReader(snappyDecode(body, { maxBytes: 1e7 }));
  const series: Sent[] = [];
  while (request.next() !== 0) {
    const one = new ProtoReader(request.bytes());
    const labels: Record<string, string> = {};
    const samples: [number, bigint][] = [];
    for (let field = one.next(); field !== 0; field = one.next()) {
      const message = new ProtoReader(one.bytes());
      if (field === 1) {
        message.next();
        const name = message.string();
        message.next();
        labels[name] = message.string();
      } else {
        message.next();
        const bits = message.fixed64Big();
        message.next();
        samples.push([Number(message.int64()), bits]);
      }
    }
    series.push({ labels, samples });
  }
  return series;
}

test('pushes of every format reach the other server as remote write, stamped and checked', async (t) => {
  let status = 204;
  const { url, seen } = await upstream(t, ({ path }) =>
    path.endsWith('/write')
      ? { status, body: status === 204 ? '' : 'out of order sample' }
      : { body: success([{ ...up, device_id: '7' }]) },
  );
  const { ingest } = await metricsHouse(t, { environment: { SVC_METRICSDB_URL: url } });
  const now = Date.now();
  const answer = await ingest.push(
    'exposition',
    Buffer.from(`up{job="a",device_id="99"} 1.5 ${now}\n`),
    { stamp: { device_id: '7' } },
  );
  assert.deepEqual([answer.accepted, answer.rejected], [1, 0]);
  const [{ headers, body, path }] = seen as [Seen];
  assert.deepEqual(
    [
      path,
      headers['content-type'],
      headers['content-encoding'],
      headers['x-prometheus-remote-write-version'],
    ],
    ['/api/v1/write', 'application/x-protobuf', 'snappy', '0.1.0'],
  );
  assert.deepEqual(unpacked(body), [
    { labels: { __name__: 'up', device_id: '7', job: 'a' }, samples: [[now, 0x3ff8000000000000n]] },
  ]);

  const mixed = await ingest.write([
    ...rows(up, [1, 2], now),
    { labels: { job: 'nameless' }, time: now, value: 1 },
  ]);
  assert.deepEqual(mixed, { accepted: 2, rejected: 1, reasons: ['a series has no metric name'] });
  assert.deepEqual(
    unpacked(seen.at(-1)!.body).map(({ samples }) => samples.map(([time]) => time)),
    [[now - 1_000, now]],
  );

  seen.length = 0;
  assert.equal(await ingest.end([{ name: 'device_id', op: '=', value: '7' }], now), 1);
  assert.deepEqual(seen[0]!.parameters.getAll('match[]'), ['{device_id="7"}']);
  assert.deepEqual(
    unpacked(seen[1]!.body),
    [{ labels: { ...up, device_id: '7' }, samples: [[now, 0x7ff0000000000002n]] }],
    'the marker that ends a series',
  );

  status = 400;
  const refused = await ingest.write(rows(up, [1], now));
  assert.deepEqual([refused.accepted, refused.rejected], [0, 1]);
  assert.match(refused.reasons[0]!, /refused samples: out of order sample/);
  status = 503;
  await assert.rejects(ingest.write(rows(up, [1], now)), { code: 'unavailable' });
  status = 429;
  await assert.rejects(ingest.write(rows(up, [1], now)), { code: 'unavailable' });
});
