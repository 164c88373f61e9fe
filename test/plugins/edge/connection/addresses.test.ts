import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createServer } from 'node:tls';

import { startTestEdge } from 'svc/testing';
import { spkiPin } from 'svc/tunnel';

import { certificate } from '../../lib/tunnel/certificate.ts';
import { edgeHouse, until } from '../house.ts';

test('an agent is told where else its manager is, and is back there in seconds when its address is dead, with the key that is pinned there', async (t) => {
  const { house, ask, create, edge } = await edgeHouse(t, {
    plugins: ['edge', 'device', 'topology', 'setting'],
  });
  const doors = await Promise.all(
    ['one', 'two', 'three'].map((name) => openDoor(t, house.url, name)),
  );
  const [first, stranger, second] = doors as [Door, Door, Door];
  const { id, access_key, secret_key } = await create();
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-addresses-'));
  writeFileSync(
    join(dataDir, 'edge.json'),
    JSON.stringify({
      manager: first.url,
      pin: first.pin,
      tunnel_path: '/internal/tunnel',
      edge_id: id,
      name: 'edge',
      access_key,
      secret_key,
    }),
    { mode: 0o600 },
  );
  const kept = join(dataDir, 'plugins/edge-uplink/desired.json');
  const agent = await startTestEdge(t, { plugins: ['edge-uplink'], dataDir });
  t.after(() => rmSync(dataDir, { recursive: true }));
  await until('it is online', async () => (await edge(id)).status === 'online');

  await ask('PUT', '/system-settings/edge/addresses', {
    value: [
      house.url,
      `${stranger.url} ${second.pin.replace('/', '//')}`,
      `${second.url} ${second.pin.replace('/', '//')}`,
    ],
  });
  await until(
    'it is told',
    () => existsSync(kept) && /"managers": \[\s*\{/.test(readFileSync(kept, 'utf8')),
  );
  assert.match(agent.lines.join(''), /uplink\.address_refused/, 'one without TLS is not used');
  assert.equal(first.open.size, 1);

  await t.test('the next address with its own key is the one', async () => {
    first.close();
    await until('it is at the second', () => second.open.size === 1);
    await until('it is online', async () => (await edge(id)).status === 'online');
    assert.match(agent.lines.join(''), /key of the server is not the pinned one/);
    const file = readFileSync(join(dataDir, 'edge.json'), 'utf8');
    assert.ok(file.includes(first.url), 'what was enrolled stays');
  });

  await t.test(
    'an agent that starts while its first address is dead finds the second',
    async () => {
      await agent.stop();
      await until('it has left', () => second.open.size === 0);
      await startTestEdge(t, { plugins: ['edge-uplink'], dataDir });
      await until('it is at the second', () => second.open.size === 1);
      await until('it is online', async () => (await edge(id)).status === 'online');
    },
  );
});

interface Door {
  readonly url: string;
  readonly pin: string;
  readonly open: ReadonlySet<Socket>;
  close(): void;
}

/** An address of the house with a certificate of its own. */
async function openDoor(t: TestContext, house: string, name: string): Promise<Door> {
  const { cert, key } = certificate(t, name);
  const open = new Set<Socket>();
  const server = createServer({ cert, key }, (socket) => {
    const { hostname, port } = new URL(house);
    const behind = connect(Number(port), hostname);
    open.add(socket);
    socket.pipe(behind).pipe(socket);
    const end = (): void => {
      open.delete(socket);
      socket.destroy();
      behind.destroy();
    };
    [socket, behind].forEach((side) => side.on('error', end).on('close', end));
  });
  // A client that refuses the key breaks off.
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => {
    server.close();
    open.forEach((socket) => socket.destroy());
  };
  t.after(close);
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pin: spkiPin(cert),
    open,
    close,
  };
}
