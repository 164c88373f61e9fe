import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import {
  type AddressInfo,
  createServer as createPlainServer,
  type Server,
  type Socket,
} from 'node:net';
import { test, type TestContext } from 'node:test';

import {
  loki,
  type Product,
  productTestRoute,
  prometheus,
  tempo,
  testConnection,
} from 'svc/connection';
import type { CallOf, OutboundReply, OutboundRequest } from 'svc/sdk';

import { Outbound, parseAllowed, type Resolve } from '../../../../core/outbound/index.ts';
import { serverCert, serverKey } from '../../metricsdb/certificates.ts';

const nowhere: Resolve = (host, done) =>
  done(Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' }), []);
const clock = { now: () => 0, monotonic: () => performance.now() };

/** The real way out, with less patience where a peer is meant to keep silent. */
function wayOut(t: TestContext, list: readonly string[] = ['127.0.0.0/8'], timeoutMs?: number) {
  const networks = parseAllowed(list);
  const out = new Outbound(() => networks, nowhere);
  t.after(() => out.close());
  const fetch = (url: string, request: OutboundRequest): Promise<OutboundReply> =>
    out.fetch(url, { ...request, ...(timeoutMs !== undefined && { timeoutMs }) });
  return { fetch, clock };
}

async function listening(t: TestContext, server: Server, scheme = 'http'): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => void sockets.add(socket));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => {
    sockets.forEach((socket) => socket.destroy());
    server.close();
  });
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const peer = (t: TestContext, listener: RequestListener): Promise<string> =>
  listening(t, createServer(listener));

const at = (url: string) => ({ url, headers: {} });

test('every way in which a server fails has a code of its own', async (t) => {
  const strangers: readonly (readonly [string, string, RegExp])[] = [
    [
      'dns',
      'http://no-such-host.example',
      /name no-such-host\.example cannot be resolved .*spelling/,
    ],
    ['refused', 'http://127.0.0.1:9', /connection to 127\.0\.0\.1:9 refused/],
    ['not_allowed', 'http://10.9.8.7', /outbound\.allow_private/],
    ['not_allowed', 'http://169.254.169.254', /never connects to/],
    ['not_allowed', 'not an address', /not a valid URL/],
    [
      'tls',
      await listening(t, createSecureServer({ cert: serverCert, key: serverKey }), 'https'),
      /the certificate of .* is not trusted/,
    ],
    [
      'tls',
      (await peer(t, (_, res) => res.end('{}'))).replace('http:', 'https:'),
      /does not use TLS/,
    ],
    [
      'not_that_product',
      await listening(
        t,
        createPlainServer((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n')),
      ),
      /did not answer like Loki/,
    ],
    [
      'not_that_product',
      await listening(
        t,
        createPlainServer((socket) => socket.destroy()),
      ),
      /did not answer like Loki/,
    ],
    [
      'not_that_product',
      await peer(t, (_, res) => res.end('<html>welcome</html>')),
      /not like Loki/,
    ],
    ['not_that_product', await peer(t, (_, res) => res.writeHead(404).end()), /status 404/],
    [
      'not_that_product',
      await peer(t, (_, res) =>
        res.writeHead(302, { location: 'https://sso.example/login?key=very-secret' }).end(),
      ),
      /sso\.example;/,
    ],
    ['unauthorized', await peer(t, (_, res) => res.writeHead(401).end()), /credentials/],
    ['unauthorized', await peer(t, (_, res) => res.writeHead(403).end()), /credentials/],
    [
      'failing',
      await peer(t, (_, res) => res.writeHead(503).end('ring\nnot ready')),
      /503: ring not ready/,
    ],
  ];
  for (const [code, url, detail] of strangers) {
    const outcome = await testConnection(wayOut(t), loki, at(url));
    assert.deepEqual([outcome.ok, outcome.code], [false, code], `${url} ${outcome.detail}`);
    assert.match(outcome.detail, detail);
    assert.ok(!outcome.detail.includes('very-secret'));
  }
  const mute = await peer(t, () => undefined);
  assert.equal((await testConnection(wayOut(t, undefined, 40), loki, at(mute))).code, 'timeout');
});

/** A server that answers each path with a text. */
const pages = (t: TestContext, texts: Readonly<Record<string, string>>): Promise<string> =>
  peer(t, (req, res) => {
    const text = texts[req.url!.split('?', 1)[0]!];
    res.writeHead(text === undefined ? 404 : 200).end(text);
  });

const success = '{"status":"success","data":[]}';
const build = (fields: object): string => JSON.stringify({ status: 'success', data: fields });

test('a product is known by what it says, and by the version from which it can do what is needed', async (t) => {
  const of = (query: string, buildinfo: string) => (text?: string) => ({
    [query]: query === '/api/echo' ? 'echo' : success,
    ...(text && { [buildinfo]: text }),
  });
  const [metrics, logs, traces] = [
    of('/api/v1/query', '/api/v1/status/buildinfo'),
    of('/loki/api/v1/labels', '/loki/api/v1/status/buildinfo'),
    of('/api/echo', '/api/status/buildinfo'),
  ];
  const cases: readonly (readonly [Product, Record<string, string>, string, string?])[] = [
    [prometheus, metrics(build({ version: '2.53.1' })), 'ok', '2.53.1'],
    [prometheus, metrics(build({ version: '2.7.0' })), 'too_old', '2.7.0'],
    [prometheus, metrics(build({ version: '1.8.2' })), 'too_old', '1.8.2'],
    // Mimir and Thanos number their own versions.
    [
      prometheus,
      metrics(build({ version: '2.10.0', application: 'Grafana Mimir' })),
      'ok',
      '2.10.0',
    ],
    [prometheus, metrics(build({ version: '0.35.0' })), 'ok', '0.35.0'],
    [prometheus, metrics(), 'ok'],
    [loki, logs('{"version":"3.1.0"}'), 'ok', '3.1.0'],
    [loki, logs('{"version":"1.6.1"}'), 'too_old', '1.6.1'],
    [loki, logs('{"version":"main-ab12cd"}'), 'ok', 'main-ab12cd'],
    [tempo, traces('{"version":"2.6.0"}'), 'ok', '2.6.0'],
    [tempo, traces('{"version":"v1.5.0"}'), 'too_old', 'v1.5.0'],
    [tempo, { '/api/echo': 'hello' }, 'not_that_product'],
    [loki, { '/loki/api/v1/labels': '["success"]' }, 'not_that_product'],
  ];
  for (const [product, texts, code, version] of cases) {
    const outcome = await testConnection(wayOut(t), product, at(await pages(t, texts)));
    assert.deepEqual([outcome.code, outcome.version], [code, version], JSON.stringify(outcome));
    assert.equal(outcome.ok, code === 'ok');
  }
  for (const [version, says] of [
    ['v1.79.5', 'VictoriaMetrics v1.79.5 answers'],
    // As Debian builds it.
    ['', 'VictoriaMetrics answers'],
  ]) {
    const texts = {
      ...metrics(build({})),
      '/metrics': `vm_rows{type="x"} 1\nvm_app_version{version="", short_version="${version}"} 1\n`,
    };
    const { detail } = await testConnection(wayOut(t), prometheus, at(await pages(t, texts)));
    assert.equal(detail, says);
  }
});

test('an address that is tried gets its own credentials, the one that is set gets those that are set', async (t) => {
  const seen: (string | undefined)[] = [];
  const url = await peer(t, (req, res) => {
    seen.push(`${req.headers.authorization} ${String(req.headers['x-scope-orgid'])}`);
    res.end(success);
  });
  const { handle } = productTestRoute({
    path: '/api/v1/integrations/x/test',
    summary: 'x',
    action: 'x:test',
    product: loki,
    setting: 'x.url',
    ...wayOut(t),
    set: () => ({ url, user: 'u', password: 'stored', tenant: 't1' }),
  }) as unknown as {
    handle: (
      call: Pick<CallOf<undefined, undefined, undefined>, 'signal'> & { body: object },
    ) => Promise<{ code: string }>;
  };
  const ask = (body: object) => handle({ body, signal: new AbortController().signal });
  const basic = `Basic ${Buffer.from('u:stored').toString('base64')}`;
  for (const [body, expected] of [
    [{}, `${basic} t1`],
    [{ url: '' }, `${basic} t1`],
    [{ url: `${url}/` }, 'undefined undefined'],
    [{ url, token: 'own' }, 'Bearer own undefined'],
    [{ url, password: 'own' }, 'Bearer own undefined'],
    [
      { url, user: 'a', password: 'b', tenant: 'c' },
      `Basic ${Buffer.from('a:b').toString('base64')} c`,
    ],
  ] as const) {
    seen.length = 0;
    assert.equal((await ask(body)).code, 'ok');
    assert.deepEqual([...new Set(seen)], [expected]);
  }
  await assert.rejects(ask({ password: 'whose?' }), {
    code: 'invalid_argument',
    message: /password was passed without url/,
  });
});
