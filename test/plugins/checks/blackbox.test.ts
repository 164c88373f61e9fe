import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttp, type RequestListener } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { createServer as createTcp, type Server } from 'node:net';
import {
  createSecureServer as createSecureHttp2,
  createServer as createHttp2,
  type ServerHttp2Stream,
} from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import type { Order, Reading } from 'svc/check';

import { readingRows } from '../../../plugins/checks/rounds/series.ts';
import { peer } from '../../peers.ts';
import { type Authority, authority, type Certificate } from './certificates.ts';
import { ask, listening } from './daemons.ts';

/** A target, as both are asked about it. */
interface Target {
  readonly name: string;
  readonly module: string;
  readonly order: Pick<Order, 'kind' | 'target'> & Partial<Order>;
}

type Figures = ReadonlyMap<string, number>;

const site: RequestListener = (request, response) => {
  const [, status] = /^\/status\/(\d+)/.exec(request.url ?? '') ?? [];
  if (status !== undefined) {
    response.writeHead(Number(status)).end(status === '204' ? undefined : 'a body');
    return;
  }
  switch (request.url) {
    case '/':
      response.end('hello');
      return;
    case '/redirect':
      response.writeHead(302, { location: '/' }).end();
      return;
    case '/twice':
      response.writeHead(301, { location: '/redirect' }).end();
      return;
    case '/loop':
      response.writeHead(302, { location: '/loop' }).end();
      return;
    case '/nowhere':
      response.writeHead(302, { location: 'gopher://example/' }).end();
      return;
    case '/thinks':
      setTimeout(() => response.end('late'), 400);
      return;
    case '/drips':
      response.write('first ');
      setTimeout(() => response.end('last'), 400);
      return;
    case '/chunked':
      response.write('one ');
      response.end('two');
      return;
    case '/large':
      response.end('x'.repeat(300_000));
      return;
    case '/half':
      response.writeHead(200, { 'content-length': '100' });
      response.write('only this', () => response.destroy());
      return;
    case '/reset':
      request.socket.resetAndDestroy();
      return;
    case '/silent':
      return;
    case '/agent':
      response.end(request.headers['x-probe'] === 'yes' ? 'known' : 'unknown');
      return;
    default:
      response.writeHead(404).end();
  }
};

const modules = (ca: string): string => `modules:
  http: {prober: http, timeout: 2s, http: {tls_config: {ca_file: ${ca}}, preferred_ip_protocol: ip4}}
  http6: {prober: http, timeout: 2s, http: {preferred_ip_protocol: ip6, ip_protocol_fallback: false}}
  stay: {prober: http, timeout: 2s, http: {follow_redirects: false, valid_status_codes: [302]}}
  hello: {prober: http, timeout: 2s, http: {fail_if_body_not_matches_regexp: [hello]}}
  known: {prober: http, timeout: 2s, http: {headers: {X-Probe: "yes"}, fail_if_body_not_matches_regexp: [^known$]}}
  any: {prober: http, timeout: 2s, http: {tls_config: {insecure_skip_verify: true}}}
  tcp: {prober: tcp, timeout: 2s}
  grpc: {prober: grpc, timeout: 2s, grpc: {preferred_ip_protocol: ip4}}
  grpcShop: {prober: grpc, timeout: 2s, grpc: {service: shop, preferred_ip_protocol: ip4}}
  grpcs: {prober: grpc, timeout: 2s, grpc: {tls: true, tls_config: {ca_file: ${ca}, server_name: localhost}}}
  tls: {prober: tcp, timeout: 2s, tcp: {tls: true, tls_config: {ca_file: ${ca}, server_name: localhost}}}
`;

async function startBlackbox(t: TestContext, program: string, ca: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-blackbox-'));
  const file = join(folder, 'modules.yml');
  writeFileSync(file, modules(ca));
  const free = createTcp();
  const port = await listening(t, free);
  free.close();
  const child: ChildProcess = spawn(
    program,
    [`--config.file=${file}`, `--web.listen-address=127.0.0.1:${port}`],
    { stdio: 'ignore' },
  );
  t.after(async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
    rmSync(folder, { recursive: true });
  });
  const url = `http://127.0.0.1:${port}`;
  for (let left = 200; ; left--) {
    const ready = await fetch(`${url}/-/healthy`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready) {
      return url;
    }
    assert.ok(left > 0 && child.exitCode === null, 'the exporter does not start');
    await pause(50);
  }
}

async function theirs(url: string, { module, order }: Target): Promise<Figures> {
  // Of a health check it wants the address alone; the service is in its module.
  const target = order.target.replace(/^grpcs?:\/\/([^/]+).*$/, '$1');
  const query = new URLSearchParams({ module, target });
  const text = await (await fetch(`${url}/probe?${query.toString()}`)).text();
  return new Map(
    [...text.matchAll(/^(probe_\w+(?:\{[^}]*\})?) (\S+)$/gm)].map(([, name, value]) => [
      name!,
      Number(value),
    ]),
  );
}

async function ours({ order }: Target): Promise<{ figures: Figures; reading: Reading }> {
  const whole: Order = {
    timeout_ms: 2_000,
    ip: 'any',
    conditions: order.kind === 'http' ? ['[STATUS] >= 200', '[STATUS] < 300'] : [],
    ...(order.kind === 'http' && { max_redirects: 10 }),
    ...order,
  };
  const reading = await ask(whole);
  const definition = {
    ...whole,
    ...{ interval_s: 60, timeout_s: 2, retries: 0, places: [], down_at: 0 },
    ...{ group: '', depends_on: [], badge: false },
  };
  const rows = readingRows({ name: 'x', definition }, [{ place: 'svc', at: 0, reading }]);
  return {
    reading,
    figures: new Map(
      rows.map(({ labels: { __name__: name, phase }, value }) => [
        phase === undefined ? name! : `${name}{phase="${phase}"}`,
        value,
      ]),
    ),
  };
}

/** Servers that answer for their health over HTTP/2, as both are asked about them. */
async function healthTargets(t: TestContext, ca: Authority): Promise<readonly Target[]> {
  const [healthy, sick] = [
    await listening(t, healthServer(1)),
    await listening(t, healthServer(2)),
  ];
  const secure = await listening(t, healthServer(1, ca.issue('localhost', 90)));
  const other = createHttp2().on('stream', (stream: ServerHttp2Stream) =>
    stream.respond({ ':status': 404 }, { endStream: true }),
  );
  const none = await listening(t, other);
  const one = (port: number, module: string, path = ''): Target => ({
    name: `${module} ${path} ${port}`,
    module,
    order: {
      kind: 'grpc',
      target: `${module === 'grpcs' ? 'grpcs' : 'grpc'}://127.0.0.1:${port}${path}`,
      ...(module === 'grpcs' && { ca: ca.pem, server_name: 'localhost' }),
    },
  });
  return [
    one(healthy, 'grpc'),
    one(sick, 'grpc'),
    one(healthy, 'grpcShop', '/shop'),
    one(secure, 'grpcs'),
    one(healthy, 'grpcs'),
    one(none, 'grpc'),
  ];
}

/** Says of itself what it is told to, and that it does not know any service. */
function healthServer(status: number, certificate?: Certificate): Server {
  const server = certificate === undefined ? createHttp2() : createSecureHttp2({ ...certificate });
  server.on('stream', (stream: ServerHttp2Stream) => {
    const parts: Buffer[] = [];
    stream.on('data', (part: Buffer) => parts.push(part));
    stream.on('end', () => {
      const isWhole = Buffer.concat(parts).length === 5;
      const head = { ':status': 200, 'content-type': 'application/grpc' };
      stream.respond(head, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': isWhole ? '0' : '5' }));
      stream.end(isWhole ? Buffer.from([0, 0, 0, 0, 2, 8, status]) : undefined);
    });
  });
  return server;
}

/** Figures that are the same wherever both have one. */
const equal = [
  'probe_http_status_code',
  'probe_http_redirects',
  'probe_http_ssl',
  'probe_http_version',
  'probe_http_content_length',
  'probe_http_uncompressed_body_length',
  'probe_ip_protocol',
  'probe_grpc_status_code',
  'probe_grpc_ssl',
  'probe_ssl_earliest_cert_expiry',
];
/** Times from which on a part of them can be compared. */
const comparable = 0.3;
const isClose = (a: number, b: number): boolean =>
  Math.max(a, b) <= comparable || Math.abs(a - b) <= 0.05 * a;

test(
  'verdicts, figures and phases are those of blackbox_exporter',
  { timeout: 120_000 },
  async (t) => {
    const program = peer(t, 'prometheus-blackbox-exporter');
    if (program === undefined) {
      return;
    }
    const ca = authority(t);
    const http = await listening(t, createHttp(site));
    const six = await listening(t, createHttp(site), '::1');
    const secure = (certificate: Certificate): Promise<number> =>
      listening(t, createHttps({ ...certificate, minVersion: 'TLSv1.2' }, site));
    const [good, expired, wrong, short, self] = await Promise.all([
      secure(ca.issue('localhost', 90)),
      secure(ca.issue('localhost', -1)),
      secure(ca.issue('other.example', 90)),
      secure(ca.issue('localhost', 2)),
      secure(ca.selfSigned('localhost')),
    ]);
    const mute = await listening(t, createTcp());
    const closed = await listening(
      t,
      createTcp().on('connection', (socket) => socket.destroy()),
    );
    const gone = createTcp();
    const closedPort = await listening(t, gone);
    gone.close();

    const page = (path: string, module = 'http', more: Partial<Order> = {}): Target => ({
      name: `${module} ${path}`,
      module,
      order: { kind: 'http', target: `http://127.0.0.1:${http}${path}`, ...more },
    });
    const tls = (
      name: string,
      port: number,
      module: string,
      more: Partial<Order> = {},
    ): Target => ({
      name: `${module} ${name}`,
      module,
      order:
        module === 'tls'
          ? { kind: 'tls', target: `127.0.0.1:${port}`, server_name: 'localhost', ca: ca.pem }
          : { kind: 'http', target: `https://localhost:${port}/`, ca: ca.pem, ...more },
    });
    const tcp = (name: string, port: number): Target => ({
      name: `tcp ${name}`,
      module: 'tcp',
      order: { kind: 'tcp', target: `127.0.0.1:${port}` },
    });
    const targets: readonly Target[] = [
      ...[
        '/',
        '/redirect',
        '/twice',
        '/loop',
        '/nowhere',
        '/thinks',
        '/drips',
        '/chunked',
        '/large',
      ],
      ...['/half', '/reset', '/silent', '/status/204', '/status/201', '/status/304', '/status/404'],
      ...['/status/500', '/status/503'],
    ].map((path) => page(path));
    const all = [
      ...targets,
      page('/redirect', 'stay', { max_redirects: 0, conditions: ['[STATUS] == 302'] }),
      page('/', 'hello', { conditions: ['[STATUS] == 200', '[BODY] == pat(*hello*)'] }),
      page('/large', 'hello', { conditions: ['[STATUS] == 200', '[BODY] == pat(*hello*)'] }),
      page('/agent', 'known', {
        headers: { 'X-Probe': 'yes' },
        conditions: ['[STATUS] == 200', '[BODY] == known'],
      }),
      page('/agent', 'http', {}),
      { name: 'http6', module: 'http6', order: { kind: 'http', target: `http://[::1]:${six}/` } },
      {
        name: 'http closed port',
        module: 'http',
        order: { kind: 'http', target: `http://127.0.0.1:${closedPort}/` },
      },
      {
        name: 'http not http',
        module: 'http',
        order: { kind: 'http', target: `http://127.0.0.1:${closed}/` },
      },
      {
        name: 'https on a port without',
        module: 'http',
        order: { kind: 'http', target: `https://127.0.0.1:${http}/` },
      },
      ...[
        ['good', good],
        ['expired', expired],
        ['wrong name', wrong],
        ['short', short],
        ['self-signed', self],
      ].flatMap(([name, port]) => [
        tls(String(name), Number(port), 'http'),
        tls(String(name), Number(port), 'tls'),
        tls(String(name), Number(port), 'any', { insecure: true }),
      ]),
      tls('no TLS', http, 'tls'),
      tcp('open', mute),
      tcp('closed at once', closed),
      tcp('closed port', closedPort),
      ...(await healthTargets(t, ca)),
    ] as readonly Target[];
    assert.ok(all.length >= 50, String(all.length));

    const url = await startBlackbox(t, program, ca.file);
    const differences: string[] = [];
    let compared = 0;
    for (const target of all) {
      const [their, { figures: our, reading }] = [await theirs(url, target), await ours(target)];
      const at = (what: string, a: unknown, b: unknown): void =>
        void differences.push(
          `${target.name} ${what}: ${String(a)} there, ${String(b)} here (${reading.cause})`,
        );
      if (their.get('probe_success') !== our.get('probe_success')) {
        at('probe_success', their.get('probe_success'), our.get('probe_success'));
        continue;
      }
      if (reading.success) {
        // Without a certificate it says 0, which is a date.
        for (const name of equal.filter((one) => (their.get(one) ?? 0) !== 0 || our.has(one))) {
          compared += 1;
          if (their.get(name) !== our.get(name)) {
            at(name, their.get(name), our.get(name));
          }
        }
      }
      for (const phase of ['connect', 'tls', 'processing', 'transfer']) {
        const name = `probe_http_duration_seconds{phase="${phase}"}`;
        const [a, b] = [their.get(name) ?? 0, our.get(name) ?? 0];
        if (reading.success && Math.max(a, b) > comparable) {
          compared += 1;
          // A busy machine may hold one of both up, but not every time.
          let [theirTime, ourTime] = [a, b];
          for (let again = 5; again > 0 && !isClose(theirTime, ourTime); again--) {
            theirTime = (await theirs(url, target)).get(name) ?? 0;
            ourTime = (await ours(target)).figures.get(name) ?? 0;
          }
          void (isClose(theirTime, ourTime) || at(name, theirTime, ourTime));
        }
      }
      if (target.order.kind === 'tls' || target.module === 'any') {
        assert.ok(
          (reading.facts.certificate?.expires_at ?? 0) > 0 || target.name.includes('no TLS'),
        );
      }
    }
    assert.deepEqual(differences, []);
    assert.ok(compared > 100, String(compared));
  },
);
