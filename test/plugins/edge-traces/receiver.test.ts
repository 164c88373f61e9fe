import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test, type TestContext } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';

import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtoExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { CompressionAlgorithm } from '@opentelemetry/otlp-exporter-base';
import { SvcError } from 'svc/sdk';

import { type Export, Receiver } from '../../../plugins/edge-traces/receiver.ts';
import { bodyOf, spanId, traceId } from '../traces/bodies.ts';

interface Bench {
  readonly url: string;
  readonly kept: Export[];
  keep: (one: Export) => Promise<void>;
  post(body: Uint8Array | string, headers?: Record<string, string>): Promise<Response>;
}

async function bench(t: TestContext): Promise<Bench> {
  const port = await freePort();
  const kept: Export[] = [];
  const it: Bench = {
    url: `http://127.0.0.1:${port}/v1/traces`,
    kept,
    keep: async (one) => void kept.push(one),
    post: (body, headers = {}) =>
      fetch(it.url, {
        method: 'POST',
        body: body as never,
        headers: { 'content-type': 'application/x-protobuf', ...headers },
      }),
  };
  const receiver = new Receiver({ address: '127.0.0.1', port, max_body_bytes: 65_536 }, (one) =>
    it.keep(one),
  );
  await receiver.listen();
  t.after(() => receiver.close());
  return it;
}

function freePort(address = '127.0.0.1'): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, address, () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

const spans = (count: number): Uint8Array =>
  bodyOf(
    { 'service.name': 'shop' },
    ...Array.from({ length: count }, (_, i) => ({
      trace: traceId(7),
      id: spanId(i + 1),
      name: 'buy',
      startMs: Date.now(),
      attributes: {},
    })),
  );

const plain = ({ body, contentEncoding }: Export): Buffer =>
  contentEncoding === 'gzip' ? gunzipSync(body) : Buffer.from(body);

for (const [name, exporter] of [
  ['protobuf', (url: string) => new ProtoExporter({ url, compression: CompressionAlgorithm.GZIP })],
  ['JSON', (url: string) => new JsonExporter({ url })],
] as const) {
  test(`an OpenTelemetry SDK exports in ${name}, and is made to wait while there is no room`, async (t) => {
    const it = await bench(t);
    let refused = 0;
    it.keep = async (one) => {
      if (refused++ === 0) {
        throw new SvcError('unavailable', 'the buffer is full', { retryAfterSeconds: 1 });
      }
      it.kept.push(one);
    };
    const provider = new BasicTracerProvider({
      spanProcessors: [new BatchSpanProcessor(exporter(it.url))],
    });
    const tracer = provider.getTracer('test');
    for (let i = 0; i < 5; i++) {
      tracer.startSpan(`step ${i}`).end();
    }
    await provider.forceFlush();
    await provider.shutdown();
    assert.equal(refused, 2);
    assert.equal(it.kept[0]!.spans, 5);
    assert.ok(plain(it.kept[0]!).includes('step 4'));
    assert.equal(
      it.kept[0]!.contentType,
      name === 'JSON' ? 'application/json' : 'application/x-protobuf',
    );
  });
}

test('an export is passed on as it came, and answered in its own language', async (t) => {
  const it = await bench(t);
  const body = spans(3);
  const proto = await it.post(body);
  assert.deepEqual(
    [proto.status, proto.headers.get('content-type'), await proto.text()],
    [200, 'application/x-protobuf', ''],
  );
  const packed = gzipSync(body);
  assert.equal((await it.post(packed, { 'content-encoding': 'gzip' })).status, 200);
  assert.deepEqual(
    it.kept.map((one) => [one.spans, plain(one).equals(body)]),
    [
      [3, true],
      [3, true],
    ],
  );
  assert.ok(packed.equals(it.kept[1]!.body));
  const json = await it.post('{"resourceSpans":[{"scopeSpans":[{"spans":[{},{}]}]}]}', {
    'content-type': 'application/json; charset=utf-8',
  });
  assert.deepEqual([json.status, await json.json()], [200, { partialSuccess: {} }]);
  assert.equal(it.kept[2]!.spans, 2);
  assert.equal((await it.post('')).status, 200, 'an export of nothing has no bytes');
  assert.equal(it.kept.length, 3);
});

test('what is no export is refused so that nobody sends it again', async (t) => {
  const it = await bench(t);
  const json = { 'content-type': 'application/json' };
  for (const [body, headers, status] of [
    ['\u0007garbage', {}, 400],
    [spans(2).slice(0, -1), {}, 400],
    ['{"resourceSpans":', json, 400],
    ['{"resourceSpans":{}}', json, 400],
    ['[]', json, 400],
    ['no gzip', { 'content-encoding': 'gzip' }, 400],
    [spans(1), { 'content-encoding': 'br' }, 415],
    ['{}', { 'content-type': 'text/plain' }, 415],
    [Buffer.alloc(65_537), {}, 413],
    [gzipSync(Buffer.alloc(300_000)), { 'content-encoding': 'gzip' }, 413],
  ] as const) {
    const answer = await it.post(body, headers);
    assert.equal(answer.status, status, String(body).slice(0, 40));
    assert.equal(answer.headers.get('retry-after'), null);
  }
  const refused = await it.post('{', json);
  assert.deepEqual(await refused.json(), { code: 3, message: 'The body is not JSON.' });
  const status = Buffer.from(await (await it.post('\u0007garbage')).arrayBuffer());
  assert.deepEqual(
    [status[0], status[1], status[2], status.subarray(4).toString()],
    [8, 3, 18, 'The body is not a protobuf ExportTraceServiceRequest.'],
  );
  const get = await fetch(it.url);
  assert.deepEqual([get.status, get.headers.get('allow')], [405, 'POST']);
  assert.equal(
    (await fetch(it.url.replace('traces', 'metrics'), { method: 'POST', body: 'x' })).status,
    404,
  );
  assert.equal(it.kept.length, 0);
});

test('without room an export is refused for a while, and nothing is answered before it is kept', async (t) => {
  const it = await bench(t);
  it.keep = () => Promise.reject(new SvcError('unavailable', 'the buffer is full'));
  const full = await it.post(spans(1));
  assert.deepEqual([full.status, full.headers.get('retry-after')], [503, '5']);
  it.keep = () => Promise.reject(new Error('EIO: /secret/path'));
  const broken = await it.post('{"resourceSpans":[{"scopeSpans":[{"spans":[{}]}]}]}', {
    'content-type': 'application/json',
  });
  assert.deepEqual(
    [broken.status, await broken.json()],
    [500, { code: 13, message: 'Failed to store the export.' }],
  );
  let release!: () => void;
  it.keep = () => new Promise((resolve) => (release = resolve));
  let answered = false;
  const waiting = it.post(spans(1)).then((answer) => {
    answered = true;
    return answer.status;
  });
  while (release === undefined) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(answered, false);
  release();
  assert.equal(await waiting, 200);
});

test('it listens where it is told to', async (t) => {
  const port = await freePort('::1').catch(() => undefined);
  if (port === undefined) {
    t.skip('this machine has no IPv6');
    return;
  }
  const receiver = new Receiver({ address: '::1', port, max_body_bytes: 65_536 }, () =>
    Promise.resolve(),
  );
  await receiver.listen();
  t.after(() => receiver.close());
  assert.equal((await fetch(`http://[::1]:${port}/v1/traces`)).status, 405);
  await assert.rejects(fetch(`http://127.0.0.1:${port}/v1/traces`));
});
