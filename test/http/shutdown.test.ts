import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { Agent, request } from 'node:http';
import { describe, test } from 'node:test';

import Type from 'typebox';
import { WebSocket } from 'ws';

import { eventRoute, route, socketRoute } from '../../core/sdk/index.ts';
import { type House, openHouse, until } from './house.ts';
import { openRaw } from './raw.ts';

const routes = [
  route({
    method: 'GET',
    path: '/work',
    access: 'public',
    summary: 'Work',
    response: Type.String(),
    async handle() {
      await new Promise((resolve) => setTimeout(resolve, 10 + Math.random() * 20));
      return 'done';
    },
  }),
  route({
    method: 'GET',
    path: '/stuck',
    access: 'public',
    summary: 'Stuck',
    handle: () => new Promise<void>(() => {}),
  }),
  route({
    method: 'GET',
    path: '/stuck-until-left',
    access: 'public',
    summary: 'Stuck until its caller leaves',
    handle: ({ signal }) =>
      new Promise<void>((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      ),
  }),
  eventRoute({
    method: 'GET',
    path: '/events',
    access: 'public',
    summary: 'Events',
    async *handle({ signal }) {
      yield { data: 1 };
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    },
  }),
  socketRoute({ path: '/socket', access: 'public', summary: 'Socket', handle: () => {} }),
];

describe('a server that closes', () => {
  test('under load fails no request that it has taken', async () => {
    const house = await openHouse(routes);
    const agent = new Agent({ keepAlive: true, maxSockets: 24 });
    let served = 0;
    const failures: string[] = [];
    let refused = false;
    const client = async (): Promise<void> => {
      while (!refused) {
        const outcome = await get(house.url, agent);
        if (outcome === 'done') {
          served += 1;
        } else if (outcome === 'ECONNREFUSED') {
          refused = true;
        } else {
          failures.push(outcome);
        }
      }
    };
    const clients = Array.from({ length: 24 }, client);
    await until(() => served > 100);
    await house.server.close(5_000);
    await Promise.all(clients);
    agent.destroy();
    assert.deepEqual(failures, []);
    assert.deepEqual([house.server.open, house.registry.leases.size], [0, 0]);
  });

  test('tells streams to come back and sockets that it goes away', async () => {
    const house = await openHouse(routes);
    const events = await fetch(`${house.url}/events`);
    const ws = new WebSocket(`ws://127.0.0.1:${house.port}/socket`);
    const code = new Promise<number>((resolve) => ws.on('close', resolve));
    await new Promise((resolve) => ws.on('open', resolve));
    const closed = house.server.close(5_000);
    assert.match(await events.text(), /data: 1\n\nretry: 1000\n\n$/);
    assert.equal(await code, 1001);
    await closed;
  });

  test('does not wait longer than its grace for a handler that is stuck or a client that is silent', async () => {
    const house = await openHouse(routes);
    const stuck = get(house.url, new Agent(), '/stuck');
    const silent = await openRaw(house.port);
    await until(() => house.server.open === 1);
    const from = performance.now();
    await house.server.close(300);
    assert.ok(performance.now() - from < 3_000);
    assert.equal(await stuck, 'ECONNRESET');
    silent.socket.destroy();
  });

  test('does not wait for connections that clients opened and never used, as those do who gave up a request', async () => {
    const house = await openHouse(routes);
    const unused = await openRaw(house.port);
    const leave = new AbortController();
    const asked = Array.from({ length: 4 }, () =>
      fetch(`${house.url}/stuck-until-left`, { signal: leave.signal }),
    );
    await until(() => house.server.open === 4);
    leave.abort();
    await Promise.allSettled(asked);
    await until(() => house.server.open === 0);
    const outcome = await Promise.race([
      house.server.close(60_000).then(() => 'closed'),
      new Promise((resolve) => setTimeout(resolve, 20_000).unref()),
    ]);
    assert.equal(outcome, 'closed', 'long before its grace is over');
    unused.socket.destroy();
  });

  test('takes no new connection, and says so to the second one who closes it', async () => {
    const house: House = await openHouse(routes);
    await house.server.close(100);
    assert.equal(await get(house.url, new Agent()), 'ECONNREFUSED');
    await assert.rejects(house.server.close(100), /shutting down/);
  });
});

test('settings that cannot be meant stop the server with a sentence; an empty public address means none', async () => {
  await assert.rejects(
    openHouse([], { publicUrl: 'ops.example.com' }),
    /SVC_PUBLIC_URL is "ops.example.com", which is not a valid URL/,
  );
  await assert.rejects(
    openHouse([], { trustedProxies: ['everyone'] }),
    /SVC_TRUSTED_PROXIES contains "everyone"/,
  );
  await assert.rejects(
    openHouse([], { cursorKey: createSecretKey(Buffer.alloc(16)) }),
    /must be 32 bytes long/,
  );
  const house = await openHouse(routes, { publicUrl: '' });
  const ws = new WebSocket(`ws://127.0.0.1:${house.port}/socket`, { origin: house.url });
  await new Promise((resolve, reject) => ws.on('open', resolve).on('error', reject));
  await house.close();
});

test('a port that is taken is a sentence with the fix in it', async () => {
  const house = await openHouse([]);
  await assert.rejects(
    openHouse([], {}, house.port),
    /in use by another process; stop it or set SVC_HTTP_ADDR/,
  );
  await house.close();
});

/** The body of the answer, or the code of the failure. A connection that died idle is tried again, as every client does. */
function get(url: string, agent: Agent, path = '/work'): Promise<string> {
  return new Promise((resolve) => {
    const req = request(url + path, { agent }, (res) => {
      let text = '';
      res.on('data', (chunk: Buffer) => (text += chunk.toString()));
      res.on('end', () => resolve(JSON.parse(text) as string));
      res.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    });
    req.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    req.end();
  });
}
