import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { TraceIngest, TraceQueries } from 'svc/contracts/traces';
import { ProtoWriter } from 'svc/store';
import { startTestHost, type TestHost, useNoLeaks } from 'svc/testing';

import { bodyOf, spanId, startMs, traceId } from './bodies.ts';
import { text } from './house.ts';
import { folder, jsonOf, type Loose, noCall, openService } from './store-house.ts';

const clock = { now: () => startMs + 10_000, monotonic: () => performance.now() };
const window = { start: startMs - 1_000, end: startMs + 5_000 };
const enforce = [{ name: 'device_id', op: '=', value: '8' }] as const;
const id = traceId(0xabc);
const seconds = { start: `${startMs / 1_000 - 3_590}`, end: `${startMs / 1_000 + 10}` };

/** Starts a host with this address and these settings of its traces. */
async function houseAsking(t: TestContext, url: string, traces?: object): Promise<TestHost> {
  const environment = { SVC_TRACESTORE_URL: url, SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1' };
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-traces-remote-'));
  writeFileSync(join(dataDir, 'svc.yaml'), JSON.stringify({ traces }), { mode: 0o600 });
  const house = await startTestHost(t, { plugins: ['traces'], clock, environment, dataDir });
  useNoLeaks(t, house);
  // After the house has stopped: hooks run in the order they were added.
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  return house;
}

interface Heard {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** Starts a server that answers as configured and records its requests. */
async function peer(
  t: TestContext,
  answer: (heard: Heard, reply: ServerResponse) => void,
): Promise<{ url: string; heard: Heard[] }> {
  const heard: Heard[] = [];
  const server = createServer((request, reply) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      heard.push({
        method: request.method!,
        url: request.url!,
        headers: request.headers,
        body: Buffer.concat(chunks),
      });
      answer(heard.at(-1)!, reply);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.after(() => new Promise((closed) => server.close(closed).closeAllConnections()));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/base`, heard };
}

test('a house that is told of another one answers with what that one keeps', async (t) => {
  const far = await startTestHost(t, { plugins: ['traces'], clock });
  const ingest = far.service(TraceIngest);
  for (const [number, parent] of [
    [7, undefined],
    [8, 7],
  ] as const) {
    const span = {
      trace: id,
      id: spanId(number),
      name: `op${number}`,
      ...(parent !== undefined && { parent: spanId(parent) }),
      ms: 20,
    };
    await ingest.push('otlp-proto', bodyOf({ 'service.name': `s${number}` }, span), {
      stamp: { device_id: `${number}` },
    });
  }
  const near = await houseAsking(t, `${far.url}/tempo`, { remote_password: far.token });
  const asked = new URLSearchParams({ q: '{ name =~ "op.*" }', ...seconds });
  for (const path of [
    `search?${asked.toString()}`,
    `search/tags?${String(new URLSearchParams(seconds))}`,
    'v2/search/tags?scope=resource',
    'search/tag/service.name/values',
    'v2/search/tag/resource.service.name/values?limit=1',
    `metrics/query_range?${String(new URLSearchParams({ q: '{} | rate()', step: '60s', ...seconds }))}`,
    `metrics/query?${String(new URLSearchParams({ q: '{} | count_over_time()', ...seconds }))}`,
    `traces/${id}`,
    `v2/traces/${id}`,
    `v2/traces/${traceId(5)}`,
  ]) {
    assert.deepEqual(
      await near.json(`/tempo/api/${path}`),
      await far.json(`/tempo/api/${path}`),
      path,
    );
  }
  assert.equal((await near.fetch(`/tempo/api/traces/${traceId(5)}`)).status, 404);
  assert.deepEqual(
    (await text(near, '/tempo/api/traces/zzz')).body,
    "trace IDs can only contain hex characters: invalid character 'z' at position 1",
  );
  assert.equal((await near.json('/tempo/api/search?q={}')).traces.length, 1);

  const [own, theirs] = [near.service(TraceQueries), far.service(TraceQueries)];
  assert.deepEqual(
    plain(await own.search('{ duration > 10ms }', window)),
    plain(await theirs.search('{ duration > 10ms }', window)),
  );
  assert.deepEqual(await own.trace(id), await theirs.trace(id));
  assert.deepEqual(
    await own.tagValues('resource.device_id', window, { query: '{ name = "op7" }' }),
    [{ type: 'string', value: '7' }],
  );
  const range = { ...window, step: 6_000 };
  const [mine, other] = [
    await own.metrics('{} | rate() by (resource.service.name)', range),
    await theirs.metrics('{} | rate() by (resource.service.name)', range),
  ];
  assert.deepEqual([plain(mine.labels), mine.values], [plain(other.labels), other.values]);
  const { ok, version } = await near.json('/api/v1/integrations/tracestore/test', {
    method: 'POST',
  });
  assert.deepEqual([ok, version], [true, '2.10.8']);

  // Whoever may see one device sees nothing of the others, though the other house knows nothing of that.
  for (const queries of [own, theirs]) {
    const { traces } = await queries.search('{ duration > 10ms }', window, { enforce });
    assert.deepEqual(
      traces.map(({ rootName, services, spans }) => [
        rootName,
        Object.keys(services),
        spans.map(({ spanId: one }) => one),
      ]),
      [['<root span not yet received>', ['s8'], [spanId(8)]]],
    );
    assert.deepEqual(
      (await queries.search('{ resource.service.name = "s7" }', window, { enforce })).traces,
      [],
    );
    assert.deepEqual(
      (await queries.search('{ rootName = "op7" }', window, { enforce })).traces,
      [],
    );
    const trace = (await queries.trace(id, { enforce })) as Loose;
    assert.equal(trace.resourceSpans.length, 1);
    assert.deepEqual(await queries.tagValues('resource.device_id', window, { enforce }), [
      { type: 'string', value: '8' },
    ]);
    assert.deepEqual(
      plain(
        (await queries.metrics('{} | rate() by (resource.device_id)', range, { enforce })).labels,
      ),
      [{ 'resource.device_id': '8' }],
    );
  }
  await assert.rejects(own.metrics('{} | rate() by (rootName)', range, { enforce }), {
    code: 'invalid_argument',
    message: /cannot be asked about their trace/,
  });
  await assert.rejects(
    own.tagValues('rootServiceName', window, { enforce }),
    /cannot be asked about their trace/,
  );
  await assert.rejects(
    own.tagValues('name', window, { enforce, query: '{ .a = 1 || .b = 2 }' }),
    /one filter of comparisons joined by &&/,
  );
});

test('requests are made anew from what was read, with the credentials that are set, and what the asker may see in every filter', async (t) => {
  const { url, heard } = await peer(t, (_, reply) => reply.end('{}'));
  const house = await houseAsking(t, url, {
    remote_user: 'me',
    remote_password: 'secret',
    remote_tenant: 'ours',
  });
  const headers = { 'x-scope-orgid': 'mine', cookie: 'a=b' };
  await house.fetch(
    `/tempo/api/search?${String(new URLSearchParams({ q: '{.a=1}', limit: '7', evil: '1', ...seconds }))}`,
    { headers },
  );
  const [first] = heard;
  assert.equal(
    first!.url,
    `/base/api/search?${String(new URLSearchParams({ q: '{.a=1}', ...seconds, limit: '7' }))}`,
  );
  const basic = `Basic ${Buffer.from('me:secret').toString('base64')}`;
  assert.deepEqual(
    [
      first!.method,
      first!.headers.authorization,
      first!.headers.cookie,
      first!.headers['x-scope-orgid'],
    ],
    ['GET', basic, undefined, 'ours'],
  );

  const queries = house.service(TraceQueries);
  await queries.search('{ .a = 1 } >> { } | count() > 1', window, { enforce });
  await queries.metrics(
    '{ name = "x" || .b } | rate()',
    { ...window, step: 500 },
    { enforce: [...enforce, { name: 'edge_id', op: '=~', value: '1|2' }] },
  );
  await queries.tagValues('name', window, { enforce });
  const within = { start: `${startMs / 1_000 - 1}`, end: `${startMs / 1_000 + 5}` };
  assert.deepEqual(
    heard.slice(1).map((one) => Object.fromEntries(new URL(one.url, 'http://x').searchParams)),
    [
      {
        q: '{ (resource.device_id = `8`) && (.a = 1) } >> { resource.device_id = `8` } | count() > 1 | select(name)',
        ...within,
      },
      {
        q: '{ ((resource.device_id = `8`) && (resource.edge_id =~ `^(?:1|2)$`)) && ((name = `x`) || .b) } | rate()',
        ...within,
        step: '0.5s',
      },
      { q: '{ resource.device_id = `8` }', ...within },
    ],
  );
  await house.fetch(`/tempo/api/search/tag/${encodeURIComponent('a?b=c')}/values`);
  assert.match(
    heard.at(-1)!.url,
    /^\/base\/api\/search\/tag\/a%3Fb%3Dc\/values\?start=\d+&end=\d+$/,
  );
  const before = heard.length;
  assert.equal((await house.fetch('/tempo/api/search?q={}&limit=x')).status, 400);
  assert.equal(heard.length, before, 'what is wrong is refused here');
});

test('its refusals and failures are told in words that help', async (t) => {
  let status = 200;
  let said = '';
  const { url } = await peer(t, (_, reply) => {
    reply.writeHead(status, { location: 'http://elsewhere.example/', 'retry-after': '7' });
    reply.end(said);
  });
  const house = await houseAsking(t, url);
  for (const [code, told, expected, sentence] of [
    [400, 'invalid TraceQL query: x', 400, /^invalid TraceQL query: x$/],
    [401, '', 502, /does not accept the credentials/],
    [
      404,
      '404 page not found',
      502,
      /does not know the path: is traces.remote_url the base address/,
    ],
    [302, '', 502, /redirects: set traces.remote_url/],
    [500, 'empty ring', 502, /answered 500: empty ring$/],
    [429, 'later', 429, /is busy: later/],
    [200, '<html>', 502, /does not respond like Tempo: the answer is not JSON/],
  ] as const) {
    [status, said] = [code, told];
    const answer = await text(house, '/tempo/api/search?q={}');
    assert.equal(answer.status, expected, `${code}: ${answer.body}`);
    assert.match(answer.body, sentence);
  }
  [status, said] = [404, '404 page not found'];
  assert.equal(
    (await house.fetch(`/tempo/api/traces/${id}`)).status,
    502,
    'a page that is missing is no missing trace',
  );
  [status, said] = [200, 'not protobuf'];
  assert.equal((await house.fetch(`/tempo/api/traces/${id}`)).ok, false);
  [status, said] = [200, '{"traces":[{"traceID":7}]}'];
  await assert.rejects(house.service(TraceQueries).search('{}', window), {
    code: 'upstream_error',
    message: /a trace id is not a text/,
  });
  [status, said] = [500, 'boom'];
  const probed = await house.json('/api/v1/integrations/tracestore/test', { method: 'POST' });
  assert.deepEqual(
    [probed.ok, /answered 500: boom/.test(probed.detail), probed.code],
    [false, true, 'failing'],
  );
  assert.equal((await text(house, '/tempo/ready')).status, 503);
});

test('pushes are admitted here and go on to it, stamped, and what it refuses is told', async (t) => {
  let status = 200;
  const partial = new ProtoWriter()
    .message(1, (message) => message.uint(1, 1).string(2, 'too much'))
    .finish();
  const { url, heard } = await peer(t, (_, reply) => reply.writeHead(status).end(partial));
  const house = await houseAsking(t, 'http://127.0.0.1:9', {
    remote_push_url: `${url.replace('/base', '')}/otlp`,
  });
  const body = bodyOf(
    { 'service.name': 'shop', device_id: '999' },
    {
      trace: id,
      id: spanId(1),
      name: 'a',
      attributes: { n: 5, list: ['x', 1] },
      events: [{ name: 'e', attributes: { why: 'w' } }],
      links: [{ trace: id, id: spanId(4) }],
    },
    { trace: traceId(2), id: spanId(2), name: 'b', status: 2, message: 'bad' },
    { trace: id, id: spanId(3), name: 'too new', startMs: startMs + 1e9 },
  );
  const push = (): Promise<Loose> =>
    house.service(TraceIngest).push('otlp-proto', body, { stamp: { device_id: '7' } });
  const { accepted, rejected, reasons } = await push();
  assert.deepEqual(
    [accepted, rejected, reasons],
    [1, 2, ['a span starts in the future (1 refused)', 'too much']],
  );
  assert.deepEqual(
    [heard[0]!.url, heard[0]!.headers['content-type']],
    ['/otlp/v1/traces', 'application/x-protobuf'],
  );

  const there = await openService(t, { folder: folder(t) }, clock.now);
  const known = await openService(t, { folder: folder(t) }, clock.now);
  await there.methods.push({
    format: 'otlp-proto',
    body: heard[0]!.body,
    stamp: { device_id: '7' },
  });
  await known.methods.push({ format: 'otlp-proto', body, stamp: { device_id: '7' } });
  for (const traceIdAsked of [id, traceId(2)]) {
    const [mine, other] = await Promise.all(
      [there, known].map(({ methods }) =>
        methods.trace({ traceId: traceIdAsked, form: 'v1' }, noCall),
      ),
    );
    assert.deepEqual(jsonOf(mine), jsonOf(other), 'nothing is lost on the way');
  }
  assert.match(heard[0]!.body.toString('latin1'), /device_id[^9]+7/);
  assert.doesNotMatch(heard[0]!.body.toString('latin1'), /999/);

  status = 503;
  await assert.rejects(push(), { code: 'upstream_error' });
});

/** Normalizes objects with and without a prototype. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
