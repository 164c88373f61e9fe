import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';

import type { TestHost } from 'svc/testing';

import { ask, cleaned, manifest, startMarket, uploadConfirmed } from '../marketplace/market.ts';

const get = (path: string) => ({
  method: 'GET',
  path: `/api/v1/asker${path}`,
  access: 'any',
  summary: 'For a test.',
});
const asker = (port: number) => ({
  'plugin.json': manifest('asker', {
    entry: 'index.js',
    mounts: ['/api/v1/asker'],
    routes: [
      { ...get('/fetch'), method: 'POST', body: { type: 'object' } },
      get('/socket'),
      {
        ...get('/upper'),
        method: 'POST',
        consumes: ['text/plain'],
        produces: 'text/plain; charset=utf-8',
        max_body_mb: 2,
      },
      { ...get('/endless'), produces: 'application/octet-stream' },
      { ...get('/dies'), produces: 'text/plain' },
      get('/made'),
    ],
    settings: {
      'asker.url': {
        schema: { type: 'string' },
        default: '',
        description: 'Another one that it asks.',
      },
    },
    permissions: { hosts: [`127.0.0.1:${port}`, `localhost:${port}`, '{asker.url}'] },
  }),
  'index.js': `
    import { definePack } from 'svc/sdk';
    let made = 0;
    export default definePack({ routes: {
      'POST /api/v1/asker/fetch': async ({ body: { url, ...request } }, { fetch }) => {
        const { status, body } = await fetch(url, request);
        return { status, text: Buffer.from(body).toString() };
      },
      'GET /api/v1/asker/socket': () => require('node:net').connect(1, '127.0.0.1'),
      'POST /api/v1/asker/upper': async function* ({ body }) { for await (const piece of body) yield Buffer.from(piece).toString().toUpperCase(); },
      'GET /api/v1/asker/endless': async function* () { for (;;) { made += 1; yield Buffer.alloc(65536, 1); } },
      'GET /api/v1/asker/dies': async function* () { yield 'half'; setTimeout(() => process.exit(3), 50); await new Promise(() => {}); },
      'GET /api/v1/asker/made': () => ({ made }),
    } });`,
});

let house: TestHost;
const undo: (() => unknown)[] = [];
const asked: string[] = [];
const servers: Server[] = [];
let declared = '';
let other = '';

async function serve(): Promise<string> {
  const server = createServer((req, res) => {
    asked.push(
      `${req.method} ${req.headers.host}${req.url} ${req.headers.authorization ?? ''}`.trim(),
    );
    const to = new URL(req.url!, 'http://x').searchParams.get('to');
    if (to !== null) {
      return void res.writeHead(302, { location: to }).end();
    }
    return void res.end(req.url === '/large' ? Buffer.alloc(5 * 1024 * 1024) : 'hello');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('a pack that asks and streams', () => {
  before(async () => {
    [declared, other] = [await serve(), await serve()];
    house = await startMarket(
      { after: (step) => void undo.push(step as () => unknown) },
      { environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1' } },
    );
    const { status, body } = await uploadConfirmed(house, asker(Number(new URL(declared).port)));
    assert.equal(status, 201, JSON.stringify(body));
    assert.ok(
      body.permissions.some(
        (right: string) => right === `calls the host ${new URL(declared).host}, through svc`,
      ),
      JSON.stringify(body.permissions),
    );
    assert.ok(body.permissions.includes('calls the host in its setting asker.url, through svc'));
  });
  after(async () => {
    for (const step of undo) {
      await step();
    }
    servers.forEach((server) => server.close());
  });

  const fetchBy = async (
    request: object,
  ): Promise<{
    status: number;
    body: { status?: number; text?: string; message?: string; error?: string };
  }> => {
    const reply = await house.fetch('/api/v1/asker/fetch', {
      method: 'POST',
      body: JSON.stringify(request),
    });
    return { status: reply.status, body: (await reply.json()) as never };
  };

  test('a pack asks by svc the hosts that it was granted, and nothing else, redirects included', async () => {
    assert.deepEqual(
      (await fetchBy({ url: `${declared}/a`, headers: { authorization: 'Bearer t' } })).body,
      { status: 200, text: 'hello' },
    );
    assert.equal(asked.at(-1), `GET ${new URL(declared).host}/a Bearer t`);
    assert.equal(
      (await fetchBy({ url: `${declared}/?to=${encodeURIComponent(`${declared}/b`)}` })).body.text,
      'hello',
    );
    const seen = asked.length;
    for (const [url, message] of [
      [`${other}/a`, /asker is not allowed to call 127\.0\.0\.1:\d+: "hosts" in its permissions/],
      ['http://169.254.169.254/latest/meta-data', /is not allowed to call 169\.254\.169\.254/],
      ['file:///etc/passwd', /URLs that begin with https/],
      [`http://user:secret@${new URL(declared).host}/`, /user name or a password/],
    ] as const) {
      const { status, body } = await fetchBy({ url });
      assert.ok(status === 403 || status === 400, `${url} ${status}`);
      assert.match(body.message!, message);
    }
    assert.equal(asked.length, seen, 'nothing was sent');
    const away = await fetchBy({
      url: `${declared}/?to=${encodeURIComponent(`${other}/stolen`)}`,
      headers: { authorization: 'Bearer t' },
    });
    assert.deepEqual(
      [away.status, asked.some((line) => line.includes('/stolen'))],
      [403, false],
      JSON.stringify(away.body),
    );
    assert.match(
      (
        await fetchBy({
          url: `${declared}/?to=${encodeURIComponent(`${declared}/?to=${encodeURIComponent('http://x.example/')}`)}`,
        })
      ).body.message!,
      /is not allowed to call x\.example/,
    );
    assert.match(
      (await fetchBy({ url: `${declared}/large` })).body.message!,
      /larger than 4194304 bytes/,
    );
    assert.match(
      (await fetchBy({ url: `${declared}/`, headers: { host: 'evil.example' } })).body.message!,
      /cannot send the header host/,
    );
    assert.match(
      (await fetchBy({ url: `${declared}/`, method: 'CONNECT' })).body.message!,
      /fetch\(\) takes an address/,
    );
    const socket = await house.fetch('/api/v1/asker/socket');
    assert.equal(socket.status, 403);
    assert.match(
      ((await socket.json()) as { message: string }).message,
      /denied access without permission: Net/,
    );
  });

  test('a narrower ceiling refuses a host that the manifest declares, from the next request on, redirects included', async () => {
    const ceiling = (...hosts: string[]) =>
      ask(house, 'PUT', '/installed/asker/ceiling', {
        classes: ['safe'],
        tools: [],
        hosts,
        labels: [],
      });
    const local = declared.replace('127.0.0.1', 'localhost');
    assert.equal((await ceiling('localhost')).status, 200);
    const seen = asked.length;
    const { status, body } = await fetchBy({ url: `${declared}/a` });
    assert.equal(status, 403);
    assert.match(
      body.message!,
      /asker is not allowed to call 127\.0\.0\.1:\d+: the host 127\.0\.0\.1 is not among the hosts, beyond the ceiling of the pack asker/,
    );
    assert.equal(asked.length, seen, 'nothing was sent');
    assert.equal((await fetchBy({ url: `${local}/below` })).body.text, 'hello');
    assert.match(
      (await fetchBy({ url: `${local}/?to=${encodeURIComponent(`${declared}/beyond`)}` })).body
        .message!,
      /beyond the ceiling of the pack asker/,
    );
    assert.ok(!asked.some((line) => line.includes('/beyond')));
    await ceiling();
    assert.equal((await fetchBy({ url: `${declared}/a` })).body.text, 'hello');
  });

  test('where nothing knows the ceilings or weighs them, a pack asks no host', async () => {
    await house.host.disable('marketplace');
    assert.match(
      (await fetchBy({ url: `${declared}/a` })).body.message!,
      /is not allowed to call .*the limits of pack:asker are unknown, because the plugin marketplace is not running; enable it/,
    );
    await house.host.enable('marketplace');
    assert.equal((await fetchBy({ url: `${declared}/a` })).body.text, 'hello');
    await house.host.disable('gate', { cascade: true });
    const { state, cause } = house.host.explain('asker');
    assert.deepEqual(
      [state, /calls hosts, and the limits of packs are unknown/.test(cause ?? '')],
      ['waiting', true],
      cause,
    );
    await house.host.enable('gate');
    assert.equal((await fetchBy({ url: `${declared}/a` })).body.text, 'hello');
  });

  test('the host of a setting is the one that it names now, and the pace of requests is bounded', async () => {
    assert.equal((await fetchBy({ url: `${other}/set` })).status, 403);
    await house.json('/api/v1/system-settings/asker/url', {
      method: 'PUT',
      body: JSON.stringify({ value: `${other}/base` }),
    });
    assert.equal((await fetchBy({ url: `${other}/set` })).body.text, 'hello');
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => fetchBy({ url: `${declared}/` })),
    );
    assert.deepEqual(
      answers.filter(({ status }) => status !== 201 && status !== 429),
      [],
    );
    let last = await fetchBy({ url: `${declared}/` });
    for (let count = 0; count < 300 && last.status === 201; count += 1) {
      last = await fetchBy({ url: `${declared}/` });
    }
    assert.equal(last.status, 429);
    assert.match(last.body.message!, /8 requests at once and 300 per minute/);
  });

  test('bodies stream through a route of a pack in both directions, bounded, and are cut with its process', async () => {
    let sent = 0;
    const upload = async function* () {
      for (; sent < 25; sent += 1) {
        yield Buffer.alloc(40_000, 'x');
      }
    };
    const post = (body: Readable) =>
      house.fetch('/api/v1/asker/upper', {
        method: 'POST',
        headers: { 'content-type': 'text/plain' },
        body: Readable.toWeb(body) as never,
        duplex: 'half',
      });
    const back = await post(Readable.from(upload()));
    const text = await back.text();
    assert.deepEqual(
      [back.status, back.headers.get('content-type'), text.length, /^X+$/.test(text)],
      [200, 'text/plain; charset=utf-8', 1_000_000, true],
    );
    assert.equal(
      (
        await house.fetch('/api/v1/asker/upper', {
          method: 'POST',
          headers: { 'content-type': 'text/plain' },
          body: 'x'.repeat(3_000_000),
        })
      ).status,
      413,
    );
    // Chunked, so that only the count can tell.
    const tooMuch = await post(
      Readable.from(
        (async function* () {
          for (let piece = 0; piece < 60; piece += 1) yield Buffer.alloc(50_000, 'y');
        })(),
      ),
    )
      .then((reply) => reply.text())
      .catch((error: Error) => error);
    assert.ok(
      tooMuch instanceof Error || !/^Y{3000000}$/.test(tooMuch),
      'a body beyond its limit is cut',
    );
    assert.equal(
      (
        await house.fetch('/api/v1/asker/upper', {
          method: 'POST',
          headers: { 'content-type': 'image/png' },
          body: 'x',
        })
      ).status,
      415,
    );

    const stop = new AbortController();
    const endless = await house.fetch('/api/v1/asker/endless', { signal: stop.signal });
    await endless.body!.getReader().read();
    const madeOf = async () => (await house.json<{ made: number }>('/api/v1/asker/made')).made;
    let made = await madeOf();
    for (let before = -1; before !== made; made = await madeOf()) {
      before = made;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    assert.ok(made < 400, `${made} pieces of 64 KiB were made for a client that reads no more`);
    stop.abort();

    const dies = await house.fetch('/api/v1/asker/dies');
    assert.equal(dies.status, 200);
    await assert.rejects(dies.text(), 'half an answer does not look like a whole one');
  });

  test('uninstalling leaves no row, file, setting or version behind', async () => {
    const kept = join(house.dataDir, 'cache/packs');
    assert.ok(readdirSync(kept).some((name) => name.startsWith('asker')));
    assert.equal((await ask(house, 'DELETE', '/installed/asker')).status, 204);
    await cleaned(house);
    assert.deepEqual(
      readdirSync(kept).filter((name) => name.startsWith('asker')),
      [],
    );
    const { status, body } = await uploadConfirmed(house, asker(1));
    assert.equal(status, 201, JSON.stringify(body));
    const { value } = await house
      .json<{ items: { category: string; key: string; value: unknown }[] }>(
        '/api/v1/system-settings?limit=200',
      )
      .then(({ items }) => items.find(({ category }) => category === 'asker')!);
    assert.equal(value, '', 'the value that was set for the pack before is forgotten');
  });
});
