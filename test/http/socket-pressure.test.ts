import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';

import { WebSocket } from 'ws';

import { type Socket, socketRoute, SvcError } from '../../core/sdk/index.ts';
import { type House, openHouse, operatorToken, until } from './house.ts';

let house: House;
let live: Socket;
let received = 0;
let drains = 0;
let full = false;

const take = (_call: unknown, socket: Socket): void => {
  live = socket;
  received = 0;
  drains = 0;
  socket.onDrain(() => (drains += 1));
  socket.onMessage((data) => (received += data.length));
};

const routes = [
  socketRoute({
    path: '/api/v1/tunnel',
    access: 'any',
    summary: 'Tunnel',
    heartbeat: 'own',
    knock() {
      if (full) {
        throw new SvcError('unavailable', 'too many edges come at once', { retryAfterSeconds: 7 });
      }
    },
    handle: take,
  }),
  socketRoute({ path: '/api/v1/pinged', access: 'any', summary: 'Pinged', handle: take }),
];

before(async () => {
  house = await openHouse(routes, { limits: { pingMs: 20, connectionsPerAddress: 8 } });
});
after(() => house.close());

async function dial(path: string, options: { autoPong?: boolean } = {}): Promise<WebSocket> {
  const ws = new WebSocket(`ws://127.0.0.1:${house.port}${path}`, {
    headers: { authorization: `Bearer ${operatorToken}` },
    ...options,
  });
  ws.on('error', () => {}); // Told by 'close', too.
  await new Promise((resolve, reject) => ws.on('open', resolve).on('close', reject));
  return ws;
}

test('a handler that reads nothing makes its client wait, and goes on where it stopped', async () => {
  const ws = await dial('/api/v1/tunnel');
  live.pause();
  const block = Buffer.alloc(256 * 1024);
  for (let sent = 0; sent < 200; sent += 1) {
    ws.send(block);
  }
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.ok(received <= 1024 * 1024, `${received} bytes were told to a handler that had paused`);
  assert.ok(ws.bufferedAmount > 20 * 1024 * 1024, 'the rest waits at the client');
  live.resume();
  await until(() => received === 200 * block.length);
  ws.terminate();
});

test('a client that reads nothing is seen in bufferedBytes, and told of when it reads again', async () => {
  const ws = await dial('/api/v1/tunnel');
  ws.pause();
  const block = Buffer.alloc(512 * 1024);
  let sent = 0;
  while (live.bufferedBytes < 2 * 1024 * 1024 && sent < 64) {
    live.send(block);
    sent += 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(live.bufferedBytes >= 2 * 1024 * 1024);
  const before = drains;
  ws.resume();
  await until(() => live.bufferedBytes === 0 && drains > before);
  ws.terminate();
});

test('a route with a heartbeat of its own is not pinged; others are, and cut when they do not answer', async () => {
  const own = await dial('/api/v1/tunnel', { autoPong: false });
  let pings = 0;
  own.on('ping', () => (pings += 1));
  const pinged = await dial('/api/v1/pinged', { autoPong: false });
  await new Promise((resolve) => pinged.on('close', resolve));
  assert.deepEqual([pings, own.readyState], [0, WebSocket.OPEN]);
  own.terminate();
});

test('a socket that is ended without a word is gone at once', async () => {
  const ws = await dial('/api/v1/tunnel');
  const closed = new Promise((resolve) => ws.on('close', resolve));
  live.terminate();
  assert.equal(await closed, 1006);
});

test('a route with no room says so before the upgrade, in plain HTTP and with a time to come back', async () => {
  full = true;
  const answer = await new Promise<string>((resolve) => {
    const socket = connect(house.port, '127.0.0.1', () =>
      socket.write(
        `GET /api/v1/tunnel HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${operatorToken}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
      ),
    );
    let text = '';
    socket.on('data', (bytes) => (text += bytes.toString())).on('close', () => resolve(text));
  });
  full = false;
  assert.match(answer, /^HTTP\/1\.1 503 /);
  assert.match(answer, /retry-after: 7\r\n/i);
  assert.match(answer, /too many edges come at once/);
});

test('sockets that are open do not count towards the connections of an address: a fleet may live behind one', async () => {
  const fleet = [];
  for (let i = 0; i < 20; i += 1) {
    fleet.push(await dial('/api/v1/tunnel'));
  }
  assert.ok(fleet.every(({ readyState }) => readyState === WebSocket.OPEN));
  fleet.forEach((ws) => ws.terminate());
});
