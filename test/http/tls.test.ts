import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { connect } from 'node:tls';

import Type from 'typebox';
import { WebSocket } from 'ws';

import { route, socketRoute } from '../../core/sdk/index.ts';
import { startTestHost } from '../kit/index.ts';
import { openHouse, operatorToken, until } from './house.ts';

const routes = [
  route({
    method: 'GET',
    path: '/api/v1/hello',
    access: 'any',
    summary: 'Hello',
    response: Type.Object({ said: Type.String() }),
    handle: async () => ({ said: 'hello' }),
  }),
  socketRoute({
    path: '/api/v1/echo',
    access: 'any',
    summary: 'Echo',
    handle: (_call, socket) => socket.onMessage((data) => socket.send(data)),
  }),
];

interface Files {
  readonly cert: string;
  readonly key: string;
  /** Puts another certificate, or what else is said, in their place. */
  renew(name: string): void;
}

function files(t: TestContext, name: string): Files {
  const folder = mkdtempSync(join(tmpdir(), 'svc-tls-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const renew = (subject: string): void => {
    const args = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
      '-subj',
      `/CN=${subject}`,
    ];
    const made = spawnSync('openssl', [
      ...args,
      '-addext',
      'subjectAltName=DNS:localhost,IP:127.0.0.1',
      '-keyout',
      key,
      '-out',
      cert,
    ]);
    assert.equal(made.status, 0, String(made.stderr));
  };
  renew(name);
  return { cert, key, renew };
}

/** Returns the certificate subject of a server. */
async function subjectOf(port: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { CN } = socket.getPeerCertificate().subject;
  socket.destroy();
  return String(CN);
}

function get(port: number, ca: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        port,
        host: '127.0.0.1',
        path: '/api/v1/hello',
        ca,
        headers: { authorization: `Bearer ${operatorToken}` },
      },
      (answer) => {
        let body = '';
        answer.setEncoding('utf8').on('data', (part: string) => (body += part));
        answer.once('end', () => resolve({ status: answer.statusCode!, body }));
      },
    );
    asked.once('error', reject).end();
  });
}

test('with a certificate the same routes and sockets are there with TLS, beside those without', async (t) => {
  const { cert, key } = files(t, 'first');
  const house = await openHouse(routes, { tls: { host: '127.0.0.1', port: 0, cert, key } });
  t.after(() => house.close());
  const port = house.server.tlsPort!;
  const ca = readFileSync(cert, 'utf8');
  assert.deepEqual(await get(port, ca), { status: 200, body: '{"said":"hello"}' });
  const socket = new WebSocket(`wss://127.0.0.1:${port}/api/v1/echo`, {
    ca,
    headers: { authorization: `Bearer ${operatorToken}` },
  });
  await once(socket, 'open');
  socket.send('ping');
  assert.equal(String((await once(socket, 'message'))[0]), 'ping');
  socket.close();

  await assert.rejects(
    once(
      connect({
        port,
        host: '127.0.0.1',
        maxVersion: 'TLSv1.1',
        minVersion: 'TLSv1',
        rejectUnauthorized: false,
      }),
      'secureConnect',
    ),
    'TLS 1.1 is refused',
  );
  const plain = connectPlain(port, '127.0.0.1');
  plain.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(plain.resume(), 'close');
  assert.deepEqual(
    await get(port, ca),
    { status: 200, body: '{"said":"hello"}' },
    'who speaks no TLS harms nobody',
  );
});

test('a renewed certificate is taken up while it serves; one that is broken is not', async (t) => {
  const { cert, key, renew } = files(t, 'first');
  const house = await openHouse(routes, {
    tls: { host: '127.0.0.1', port: 0, cert, key, lookEveryMs: 50 },
  });
  t.after(() => house.close());
  const port = house.server.tlsPort!;
  assert.equal(await subjectOf(port), 'first');
  writeFileSync(cert, 'half of a certif');
  await until(
    () =>
      house.logs.some(
        ({ fields }) => 'event' in fields && fields['event'] === 'http.certificate_kept',
      ),
    20_000,
  );
  assert.equal(await subjectOf(port), 'first');
  renew('second');
  for (const deadline = Date.now() + 20_000; (await subjectOf(port)) !== 'second';) {
    assert.ok(Date.now() < deadline, 'the second one is shown within 20 s');
    await new Promise((done) => setTimeout(done, 50));
  }
});

test('the settings of TLS go together, and name files that fit', async (t) => {
  const one = files(t, 'one');
  const other = files(t, 'other');
  const start = (environment: Record<string, string>): Promise<unknown> =>
    startTestHost(t, { plugins: [], environment });
  await assert.rejects(
    start({ SVC_TLS_ADDR: '127.0.0.1:0', SVC_TLS_CERT: one.cert }),
    /set all three or none/,
  );
  await assert.rejects(
    start({ SVC_TLS_ADDR: '127.0.0.1:0', SVC_TLS_CERT: one.cert, SVC_TLS_KEY: other.key }),
    /http\.tls_cert and http\.tls_key do not match/,
  );
  await assert.rejects(
    start({ SVC_TLS_ADDR: '127.0.0.1:0', SVC_TLS_CERT: one.cert, SVC_TLS_KEY: '/nowhere/key' }),
    /ENOENT/,
  );
  await start({ SVC_TLS_ADDR: '127.0.0.1:0', SVC_TLS_CERT: one.cert, SVC_TLS_KEY: one.key });
});
