import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { WebSocket } from 'ws';

import { findPeer, peer } from '../peers.ts';
import { NodeStand, type TestNode, until } from './stand.ts';

let stand: NodeStand;
let owner: TestNode;
let standby: TestNode;
const isThere = findPeer('psql') !== undefined;

before(async () => {
  if (!isThere) {
    return;
  }
  stand = await NodeStand.open();
  const url = await stand.database();
  owner = await stand.node(url);
  owner.start();
  await owner.says(/Ready in/);
  mkdirSync(join(owner.dataDir, 'agents'));
  writeFileSync(join(owner.dataDir, 'agents/night.md'), 'quiet');
  standby = await stand.node(url, { like: owner });
  standby.start();
  await standby.isReady();
});
after(async () => {
  if (isThere) {
    await stand.close();
  }
});

test('a node that stands by gets the files of the owner over the same connection, and says so', async (t) => {
  if (peer(t, 'psql') === undefined) {
    return;
  }
  const copy = join(standby.dataDir, 'agents/night.md');
  await until(() => existsSync(copy));
  assert.equal(readFileSync(copy, 'utf8'), 'quiet');
  await until(async () => {
    const { parts } = (await (await fetch(`${standby.url}/readyz`)).json()) as {
      parts: { detail: string }[];
    };
    return /standing by/.test(parts[0]!.detail) && !/behind|compared/.test(parts[0]!.detail);
  });
  const file = 'keys/operator.token';
  assert.notEqual(
    readFileSync(join(standby.dataDir, file), 'utf8'),
    readFileSync(join(owner.dataDir, file), 'utf8'),
  );
});

test('a request goes through a node that stands by, with its body, its answer and the address of its client', async (t) => {
  if (peer(t, 'psql') === undefined) {
    return;
  }
  const text = 'x'.repeat(900_000);
  assert.equal(await standby.add(text), 201);
  const seen = await standby.notes();
  assert.deepEqual(seen.texts, [text]);
  assert.equal(seen.pid, owner.pid);
  const { port } = new URL(standby.url);
  const answer = await new Promise<{ status: number; body: string }>((resolve, reject) => {
    const asked = request(
      {
        host: '127.0.0.1',
        port,
        localAddress: '127.0.0.9',
        path: '/api/v1/notes',
        headers: {
          authorization: `Bearer ${standby.token}`,
          client: '203.0.113.1',
          'x-forwarded-for': '203.0.113.2',
        },
      },
      (res) => {
        let body = '';
        res.on('data', (part) => (body += String(part)));
        res.on('end', () => resolve({ status: res.statusCode!, body }));
      },
    );
    asked.on('error', reject);
    asked.end();
  });
  assert.equal(answer.status, 200);
  assert.equal((JSON.parse(answer.body) as { ip: string }).ip, '127.0.0.9');

  const stranger = await fetch(`${standby.url}/api/v1/notes`, {
    headers: { authorization: 'Bearer svc_op_wrong' },
  });
  assert.equal(stranger.status, 401);
  const absent = await standby.fetch('/api/v1/absent');
  assert.equal(absent.status, 404);
  assert.match(absent.headers.get('content-type') ?? '', /json/);
  const head = await standby.fetch('/api/v1/notes', { method: 'HEAD' });
  assert.equal(head.status, 200);
});

test('readiness says who owns the data, at both', async (t) => {
  if (peer(t, 'psql') === undefined) {
    return;
  }
  const said = async (node: TestNode): Promise<string> =>
    await (await fetch(`${node.url}/readyz?verbose`)).text();
  assert.match(await said(owner), /"part":"node".*owner in epoch 1, lease \d s/);
  assert.match(
    await said(standby),
    new RegExp(`standing by; the node at ${owner.url} owns the data in epoch 1`),
  );
});

test('streams and sockets go through, and end when the owner goes; what waits meanwhile is answered by the next owner', async (t) => {
  if (peer(t, 'psql') === undefined) {
    return;
  }
  const stream = await standby.fetch('/api/v1/notes/stream');
  const reader = stream.body!.getReader();
  const first = await reader.read();
  assert.match(new TextDecoder().decode(first.value), new RegExp(`event: began[^]*${owner.pid}`));

  const address = standby.url.replace('http', 'ws');
  const open = async (): Promise<WebSocket> => {
    const socket = new WebSocket(`${address}/api/v1/notes/echo`, {
      headers: { authorization: `Bearer ${standby.token}` },
    });
    await once(socket, 'open');
    return socket;
  };
  const socket = await open();
  const long = 'y'.repeat(60_000);
  for (const word of ['one', long, 'two']) {
    socket.send(word);
    const [message] = (await once(socket, 'message')) as [Buffer];
    assert.equal(message.toString(), word);
  }
  const refused = new WebSocket(`${address}/api/v1/notes/echo`);
  const [, answer] = (await once(refused, 'unexpected-response')) as [
    unknown,
    { statusCode: number },
  ];
  assert.equal(answer.statusCode, 401);
  refused.on('error', () => undefined);
  refused.terminate();

  const closed = once(socket, 'close');
  const cut = (async () => {
    while (!(await reader.read()).done);
  })().catch(() => undefined);
  const old = standby.token;
  await owner.end('SIGKILL');
  await Promise.all([closed, cut]);
  assert.equal((await fetch(`${standby.url}/readyz`)).status, 503);
  const waited = await fetch(`${standby.url}/api/v1/notes`, {
    headers: { authorization: `Bearer ${old}` },
  });
  assert.equal(waited.status, 200, standby.said);
  assert.equal(((await waited.json()) as { pid: number }).pid, standby.pid);
  await standby.says(/Ready in/);
  await until(async () => (await fetch(`${standby.url}/readyz`)).status === 200);
  assert.equal(await standby.add('by the next owner'), 201);
});
