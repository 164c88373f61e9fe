import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { createServer as createHttpsServer } from 'node:https';

import { WebSocketServer } from 'ws';

import {
  dial,
  isRefusal,
  reconnects,
  retryWindow,
  spkiPin,
  spreadMs,
  TunnelRefusal,
  tunnelProtocol,
} from 'svc/tunnel';
import { certificate } from './certificate.ts';
import { listen, openSides, realSweeper } from './pair.ts';

test('an edge that has the key of the manager pinned needs no authority, and talks to nobody else', async (t) => {
  const ours = certificate(t, 'localhost');
  const pin = spkiPin(ours.cert);
  const server = createHttpsServer(ours);
  const sockets = new WebSocketServer({ server, handleProtocols: () => tunnelProtocol });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://localhost:${(server.address() as AddressInfo).port}/internal/tunnel`;
  t.after(() => (sockets.clients.forEach((ws) => ws.terminate()), server.close()));
  (await dial({ url, pin })).terminate();
  (await dial({ url, ca: ours.cert })).terminate();
  await assert.rejects(dial({ url }), /self-signed/);

  let heard = 0;
  const impostor = createTlsServer(certificate(t, 'localhost'), (socket) => {
    socket.on('data', (bytes) => (heard += bytes.length));
    // The edge hangs up in the middle of it.
    socket.on('error', () => undefined);
  });
  impostor.on('tlsClientError', () => undefined);
  impostor.listen(0, '127.0.0.1');
  await once(impostor, 'listening');
  t.after(() => impostor.close());
  await assert.rejects(
    dial({ url: `https://localhost:${(impostor.address() as AddressInfo).port}/`, pin }),
    /not the pinned one, but sha256\//,
  );
  assert.equal(heard, 0, 'not even the request goes to somebody else');
});

test('a manager that has no room says when to come back, and other answers are no tunnel', async (t) => {
  const server = createServer();
  server.on('upgrade', (req, socket) => {
    socket.end(
      req.url === '/full'
        ? 'HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nConnection: close\r\n\r\n'
        : 'HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n',
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await assert.rejects(dial({ url: `${url}/full` }), (error) => {
    assert.ok(isRefusal(error));
    assert.deepEqual([error.retry, error.lasting], [{ minMs: 7_000, maxMs: 14_000 }, false]);
    return true;
  });
  await assert.rejects(
    dial({ url: `${url}/moved` }),
    /responded with status 302 instead of opening a tunnel/,
  );
  await assert.rejects(dial({ url: 'ws://127.0.0.1:1/' }), /ECONNREFUSED/);
  const abort = new AbortController();
  const dialing = dial({ url, signal: abort.signal });
  abort.abort(new Error('stopping'));
  await assert.rejects(dialing, /stopping/);
});

test('a message larger than the protocol has closes the connection', async (t) => {
  const listener = await listen(t);
  const [edge, manager] = await Promise.all([dial({ url: listener.url }), listener.accept()]);
  const { edge: session } = openSides({ edge, manager }, realSweeper(t));
  manager.send(Buffer.alloc(1_100_000));
  assert.equal((await session.closed).code, 1006);
});

test('edges come back after a random part of a growing wait, and only a stable link starts anew', () => {
  const half = reconnects(() => 0.5);
  const waits = Array.from({ length: 8 }, () => half({ upMs: 0 }));
  assert.deepEqual(waits, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  assert.equal(half({ upMs: 59_000 }), 30_000);
  assert.equal(half({ upMs: 60_000 }), 500);
  assert.equal(reconnects(() => 0)({ upMs: 0 }), 0);
});

test('a fleet that lost its manager comes back over as long as that one has asked for; an edge whose own link went silent tries once soon', () => {
  assert.deepEqual([1, 250, 10_000].map(spreadMs), [4, 1_000, 40_000]);
  const half = reconnects(() => 0.5);
  assert.equal(half({ upMs: 90_000, code: 4408, spreadMs: 25_000 }), 500);
  assert.deepEqual(
    Array.from({ length: 6 }, () => half({ upMs: 0 })),
    [12_500, 12_500, 12_500, 12_500, 16_000, 30_000],
  );
  assert.equal(half({ upMs: 90_000, code: 1006 }), 12_500);
  for (const spread of [-1, NaN, '5', null]) {
    const other = reconnects(() => 1);
    assert.deepEqual(
      [other({ upMs: 60_000, spreadMs: spread }), other({ upMs: 0 })],
      [1_000, 2_000],
      'what is no time is none',
    );
  }
  const greedy = reconnects(() => 1);
  assert.deepEqual(
    [greedy({ upMs: 60_000, spreadMs: 1e12 }), greedy({ upMs: 0 })],
    [1_000, 60_000],
  );
});

test('a refusal that will not pass keeps an edge away from five minutes to an hour; what the manager says is believed up to an hour', () => {
  const wait = reconnects(() => 0.5);
  const error = new TunnelRefusal(4401, 'wrong secret');
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6].map(() => wait({ upMs: 0, error }) / 1_000),
    [300, 450, 900, 1_800, 2_700, 2_700],
  );
  assert.equal(wait({ upMs: 0, retry: { minMs: 1_000, maxMs: 3_000 } }), 2_000);
  assert.equal(wait({ upMs: 0, retry: { minMs: 1e12, maxMs: 1e13 } }), 3_600_000);
  assert.equal(
    wait({ upMs: 0, error: new TunnelRefusal(4503, 'full', { minMs: 10, maxMs: 20 }) }),
    15,
  );
  assert.deepEqual(retryWindow(10_000), { retryMinMs: 500, retryMaxMs: 41_500 });
});

test('a manager that takes the connection and then says nothing is given up in time', async (t) => {
  const ours = certificate(t, 'localhost');
  const still = createTcpServer((socket) => void socket.on('error', () => undefined));
  const stillTls = createTlsServer(ours, (socket) => void socket.on('error', () => undefined));
  for (const [server, scheme] of [
    [still, 'http'],
    [stillTls, 'https'],
  ] as const) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const url = `${scheme}://localhost:${(server.address() as AddressInfo).port}/internal/tunnel`;
    await assert.rejects(dial({ url, ca: ours.cert, timeoutMs: 200 }), /has timed out/);
  }
});
