import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';

import Type from 'typebox';
import { WebSocket } from 'ws';

import { route, type Socket, socketRoute, SvcError } from '../../core/sdk/index.ts';
import { type House, openHouse, operatorToken, until } from './house.ts';
import { openRaw } from './raw.ts';

let house: House;
let live: Socket | undefined;
let aborted = 0;

const routes = [
  socketRoute({
    path: '/api/v1/echo/{room}',
    access: 'any',
    summary: 'Echo',
    protocols: ['svc.v2', 'svc.v1'],
    maxMessageBytes: 1_000,
    params: Type.Object({ room: Type.Integer() }),
    handle(call, socket) {
      live = socket;
      call.signal.addEventListener('abort', () => (aborted += 1));
      socket.onMessage((data) =>
        socket.send(typeof data === 'string' ? `${call.params.room}: ${data}` : data),
      );
    },
  }),
  socketRoute({
    path: '/api/v1/slow',
    access: 'any',
    summary: 'Listens late',
    async handle(_call, socket) {
      await new Promise((resolve) => setTimeout(resolve, 60));
      socket.onMessage((data) => socket.send(data));
    },
  }),
  socketRoute({
    path: '/api/v1/shell',
    access: 'webshell',
    audited: true,
    summary: 'Shell',
    handle: (_call, socket) => socket.send('ready'),
  }),
  socketRoute({
    path: '/api/v1/throws',
    access: 'any',
    summary: 'Throws',
    handle: (_call, socket) =>
      socket.onMessage(() => {
        throw new Error('inner detail');
      }),
  }),
  socketRoute({
    path: '/api/v1/refuses',
    access: 'any',
    summary: 'Refuses',
    handle: () => {
      throw new SvcError('conflict', 'this device is busy');
    },
  }),
  socketRoute({
    path: '/api/v1/flood',
    access: 'any',
    summary: 'Flood',
    handle: (_call, socket) => {
      for (let index = 0; index < 200; index += 1) {
        socket.send('x'.repeat(100_000));
      }
    },
  }),
  socketRoute({
    path: '/api/v1/apart',
    access: 'any',
    summary: 'Takes its socket apart',
    handle: (
      _call,
      { send, close, terminate, pause, resume, onMessage, onClose, onDrain, onLeave },
    ) => {
      onClose((code) => code === 4000 && (live = undefined));
      onLeave(() => terminate());
      onDrain(() => undefined);
      onMessage((data) => {
        pause();
        send(data);
        resume();
        close(4000, 'done');
      });
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/plain',
    access: 'any',
    summary: 'Plain',
    response: Type.Object({ ok: Type.Boolean() }),
    handle: () => ({ ok: true }),
  }),
];

before(async () => {
  house = await openHouse(routes, {
    publicUrl: 'https://ops.example.com',
    limits: { pingMs: 50, recheckMs: 60, socketBufferBytes: 1_000_000 },
  });
});
after(() => house.close());
afterEach(async () => {
  await until(() => house.server.open === 0);
  assert.equal(house.registry.leases.size, 0);
});

interface Outcome {
  readonly ws: WebSocket;
  readonly messages: string[];
  /** Close code and reason, or the HTTP status and body of a refused upgrade. */
  readonly ended: Promise<{ code: number; text: string }>;
  readonly opened: Promise<void>;
}

function dial(
  path: string,
  {
    protocols = [],
    headers = {},
    token = operatorToken,
    ...more
  }: {
    protocols?: string[];
    headers?: Record<string, string>;
    token?: string;
    autoPong?: boolean;
  } = {},
): Outcome {
  const ws = new WebSocket(`ws://127.0.0.1:${house.port}${path}`, protocols, {
    headers: { ...(token !== '' && { authorization: `Bearer ${token}` }), ...headers },
    ...more,
  });
  const messages: string[] = [];
  ws.on('message', (data: Buffer) => messages.push(data.toString()));
  const ended = new Promise<{ code: number; text: string }>((resolve) => {
    ws.on('close', (code, text) => resolve({ code, text: text.toString() }));
    ws.on('unexpected-response', (_req, res) => {
      let text = '';
      res
        .on('data', (chunk: Buffer) => (text += chunk.toString()))
        .on('end', () => resolve({ code: res.statusCode!, text }));
    });
  });
  ws.on('error', () => {}); // Each error is followed by the close that `ended` tells of.
  const opened = new Promise<void>((resolve) => ws.on('open', () => resolve()));
  return { ws, messages, ended, opened };
}

describe('an upgrade', () => {
  test('passes the stages of every request and then speaks', async () => {
    const { ws, messages, opened, ended } = dial('/api/v1/echo/7', {
      protocols: ['svc.v1', 'svc.v2'],
    });
    await opened;
    assert.equal(ws.protocol, 'svc.v2');
    ws.send('hello');
    await until(() => messages.includes('7: hello'));
    const generation = house.registry.current.generations.get('area')!;
    assert.deepEqual([generation.holds, house.registry.leases.size], [1, 0]);
    aborted = 0;
    ws.close(1000);
    assert.equal((await ended).code, 1000);
    await until(() => generation.holds === 0 && aborted === 1);
  });

  test('hands over a socket that can be taken apart: each of its functions works without it', async () => {
    const { ws, messages, opened, ended } = dial('/api/v1/apart');
    await opened;
    live = {} as Socket;
    ws.send('hello');
    assert.deepEqual(await ended, { code: 4000, text: 'done' });
    assert.deepEqual(messages, ['hello']);
    await until(() => live === undefined);
  });

  test('that is refused gets a plain HTTP answer in the usual shape', async () => {
    const refusals: [Outcome, number, RegExp][] = [
      [dial('/api/v1/echo/7', { token: '', protocols: ['svc.v1'] }), 401, /unauthorized/],
      [dial('/api/v1/shell', { token: 'user-1' }), 403, /forbidden/],
      [dial('/api/v1/nowhere'), 404, /not_found/],
      [dial('/api/v1/echo/x', { protocols: ['svc.v1'] }), 400, /invalid_argument/],
      [dial('/api/v1/echo/7', { protocols: ['other'] }), 400, /svc\.v2, svc\.v1/],
      [
        dial('/api/v1/slow', { headers: { origin: 'https://evil.example' } }),
        403,
        /SVC_PUBLIC_URL/,
      ],
      [dial('/api/v1/slow', { headers: { origin: 'null' } }), 403, /forbidden/],
    ];
    for (const [{ ended }, status, text] of refusals) {
      const answer = await ended;
      assert.equal(answer.code, status, answer.text);
      assert.match(answer.text, text);
      assert.deepEqual(Object.keys(JSON.parse(answer.text) as object).slice(0, 2), [
        'error',
        'message',
      ]);
    }
  });

  test('from our own pages is welcome, by public address or by host', async () => {
    for (const origin of ['https://ops.example.com', `http://127.0.0.1:${house.port}`]) {
      const { ws, opened } = dial('/api/v1/slow', { headers: { origin } });
      await opened;
      ws.close();
    }
  });

  test('can carry a ticket as a subprotocol, which is never echoed, and leaves an audit row', async () => {
    const { ws, opened, messages } = dial('/api/v1/shell', {
      token: '',
      protocols: ['svc.ticket.bad'],
    });
    assert.equal(
      (await dial('/api/v1/shell', { token: '', protocols: ['svc.ticket.bad'] }).ended).code,
      401,
    );
    ws.terminate();
    void opened;
    void messages;
    const good = await openRaw(house.port);
    good.send(
      'GET /api/v1/shell HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-protocol: svc.ticket.good\r\n\r\n',
    );
    const text = await good.read((received) => received.includes('ready'));
    assert.match(text, /^HTTP\/1.1 101/);
    assert.doesNotMatch(text, /ticket/);
    assert.deepEqual(
      [house.changes.audit.at(-1)!.httpStatus, house.changes.audit.at(-1)!.status],
      [101, 'success'],
    );
    good.socket.destroy();
  });

  test('with a broken handshake, or none, is told so', async () => {
    const plain = await house.call('GET', '/api/v1/slow');
    assert.deepEqual([plain.status, plain.headers.get('upgrade')], [400, 'websocket']);
    const raw = await openRaw(house.port);
    raw.send(
      `GET /api/v1/slow HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${operatorToken}\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 99\r\nsec-websocket-key: x\r\n\r\n`,
    );
    assert.match(await raw.read(), /^HTTP\/1.1 400[^]*"error":"invalid_argument"/);
  });

  test('to anything but a WebSocket is not granted, and the request is answered as it is', async () => {
    const raw = await openRaw(house.port);
    raw.send(
      `GET /api/v1/plain HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${operatorToken}\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n`,
    );
    assert.match(await raw.read(), /^HTTP\/1.1 200[^]*\{"ok":true\}/);
  });
});

describe('a socket', () => {
  test('keeps what arrives before its handler listens', async () => {
    const { ws, opened, messages } = dial('/api/v1/slow');
    await opened;
    ws.send('early');
    await until(() => messages.includes('early'));
    ws.close();
  });

  test('is closed when a message is too large, when its handler throws, and when it refuses', async () => {
    const large = dial('/api/v1/echo/1', { protocols: ['svc.v1'] });
    await large.opened;
    large.ws.send('x'.repeat(1_001));
    assert.equal((await large.ended).code, 1009);

    const throws = dial('/api/v1/throws');
    await throws.opened;
    throws.ws.send('x');
    assert.deepEqual(await throws.ended, { code: 1011, text: 'internal error' });
    assert.equal(house.strikes.at(-1)!.label, 'GET /api/v1/throws');

    assert.deepEqual(await dial('/api/v1/refuses').ended, {
      code: 1008,
      text: 'this device is busy',
    });
  });

  test('is cut when its client does not read, does not answer pings, or floods with its own', async () => {
    const lazy = dial('/api/v1/flood');
    lazy.ws.on('open', () => lazy.ws.pause());
    await until(() => house.server.open === 0 && lazy.ws.readyState !== WebSocket.CONNECTING);
    lazy.ws.terminate();

    const deaf = dial('/api/v1/slow', { autoPong: false });
    assert.equal((await deaf.ended).code, 1006);

    const flood = dial('/api/v1/slow');
    await flood.opened;
    for (let index = 0; index < 50; index += 1) {
      flood.ws.ping();
    }
    assert.equal((await flood.ended).code, 1006);
  });

  test('that answers its pings stays', async () => {
    const { ws, opened } = dial('/api/v1/slow');
    await opened;
    await new Promise((resolve) => setTimeout(resolve, 400));
    assert.equal(ws.readyState, WebSocket.OPEN);
    ws.close();
  });

  test('is closed soon after its caller lost the right to it', async () => {
    const { opened, ended } = dial('/api/v1/slow', { token: 'user-77' });
    await opened;
    house.authenticator.revoked.add('user-77');
    assert.deepEqual(await ended, { code: 1008, text: 'your access has ended' });
  });

  test('is closed with 1012 when its plugin retires', async () => {
    const generation = house.publish('guest', [
      socketRoute({ path: '/api/v1/guest', access: 'public', summary: 'Guest', handle: () => {} }),
    ]);
    const { opened, ended } = dial('/api/v1/guest');
    await opened;
    generation.scope.announceEnd('reload');
    assert.equal((await ended).code, 1012);
    await until(() => generation.holds === 0);
    house.registry.publish({ remove: ['guest'] });
  });

  test('lets its handler say good-bye before the house closes it, also to a plugin that retires', async () => {
    const generation = house.publish('guest', [
      socketRoute({
        path: '/api/v1/guest',
        access: 'public',
        summary: 'Guest',
        handle: (_call, socket) => socket.onLeave(() => socket.send('come back at nine')),
      }),
    ]);
    const { ws, opened, ended } = dial('/api/v1/guest');
    const heard: string[] = [];
    ws.on('message', (data) => heard.push((data as Buffer).toString('utf8')));
    await opened;
    generation.scope.announceEnd('reload');
    assert.equal((await ended).code, 1012);
    assert.deepEqual(heard, ['come back at nine']);
    await until(() => generation.holds === 0);
    house.registry.publish({ remove: ['guest'] });
  });

  test('whose route refuses at the door is no socket, and the answer is plain HTTP', async () => {
    const generation = house.publish('guest', [
      socketRoute({
        path: '/api/v1/guest',
        access: 'public',
        summary: 'Guest',
        knock: async () => {
          throw new SvcError('unavailable', 'full house', { retryAfterSeconds: 7 });
        },
        handle: () => assert.fail('nobody was let in'),
      }),
    ]);
    const refused = new WebSocket(`${house.url.replace('http', 'ws')}/api/v1/guest`);
    const [status, after] = await new Promise<[number | undefined, string | undefined]>((resolve) =>
      refused.on('unexpected-response', (_request, response) =>
        resolve([response.statusCode, response.headers['retry-after']]),
      ),
    );
    refused.on('error', () => undefined);
    refused.terminate();
    assert.deepEqual([status, after], [503, '7']);
    await until(() => generation.holds === 0);
    house.registry.publish({ remove: ['guest'] });
  });

  test('tells its handler when it is gone, and takes no more', async () => {
    const { ws, opened } = dial('/api/v1/echo/1', { protocols: ['svc.v1'] });
    await opened;
    await until(() => live !== undefined);
    let closed = 0;
    live!.onClose((code) => (closed = code));
    ws.close(4_000, 'bye');
    await until(() => closed === 4_000);
    live!.send('into the void');
  });
});
