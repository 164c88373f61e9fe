import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';

import { type WebSocket, WebSocketServer } from 'ws';

import { packed, unpacked } from '../../../plugins/im-feishu/frame.ts';
import {
  type AppSecrets,
  callback,
  draftOf,
  imOffice,
  type ImOffice,
  type Provider,
  secretsOf,
  settled,
  startFake,
} from './office.ts';

interface Gateway {
  readonly url: string;
  /** The connection that stands now. */
  socket(): WebSocket | undefined;
  readonly heard: (string | Buffer)[];
  readonly opened: () => number;
}

/** The part of a platform that is dialled; everything else goes to its fake. */
async function gateway(
  t: TestContext,
  behind: string,
  open: (url: string, body: string) => object | undefined,
  updates?: (offset: number) => object,
): Promise<Gateway> {
  const heard: (string | Buffer)[] = [];
  let [current, count] = [undefined as WebSocket | undefined, 0];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      void (async () => {
        const body = Buffer.concat(chunks).toString('utf8');
        const own = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/socket?service_id=7`;
        const polled =
          updates !== undefined && req.url!.endsWith('/getUpdates')
            ? updates(JSON.parse(body).offset as number)
            : undefined;
        const answer = polled ?? open(own, `${req.url} ${req.headers.authorization ?? ''} ${body}`);
        const passed =
          answer === undefined
            ? await fetch(behind + req.url!, {
                method: req.method!,
                headers: req.headers as Record<string, string>,
                ...(body !== '' && { body }),
              })
            : undefined;
        res.writeHead(passed?.status ?? 200, { 'content-type': 'application/json' });
        res.end(passed === undefined ? JSON.stringify(answer) : await passed.text());
      })();
    });
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    [current, count] = [socket, count + 1];
    socket.on('message', (data: Buffer, isBinary) =>
      heard.push(isBinary ? data : data.toString('utf8')),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    sockets.clients.forEach((socket) => socket.terminate());
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    socket: () => current,
    heard,
    opened: () => count,
  };
}

async function dialled(
  t: TestContext,
  office: ImOffice,
  provider: Provider,
  open: (url: string, asked: string, secrets: AppSecrets) => object | undefined,
  updates?: (offset: number) => object,
) {
  const secrets = secretsOf(provider);
  const fake = await startFake(provider, secrets);
  t.after(() => fake.close());
  const peer = await gateway(t, fake.url, (url, asked) => open(url, asked, secrets), updates);
  const { status, body } = await office.ask('bob', 'POST', '/im/apps', {
    ...draftOf(provider, peer.url),
    mode: 'stream',
  });
  assert.equal(status, 201, JSON.stringify(body));
  const bodyOf = (text: string, key: string): string =>
    callback(provider, secrets, { text, key }, office.now()).body;
  return { fake, peer, secrets, id: body.id as string, bodyOf };
}

test('Slack: an envelope is acknowledged once it is on disk; a socket that ends is opened again', async (t) => {
  const office = await imOffice(t);
  const { fake, peer, id, bodyOf } = await dialled(t, office, 'slack', (url, asked) =>
    asked.includes('apps.connections.open Bearer xapp-1') ? { ok: true, url } : undefined,
  );
  await settled(() => peer.socket() !== undefined);
  peer.socket()!.send(JSON.stringify({ type: 'hello' }));
  const envelope = (key: string) =>
    JSON.stringify({
      envelope_id: `e-${key}`,
      type: 'events_api',
      payload: JSON.parse(bodyOf('How are things?', key)),
    });
  peer.socket()!.send(envelope('1'));
  await settled(
    () =>
      peer.heard.includes('{"envelope_id":"e-1"}') && fake.standing.at(-1)?.text === 'All is well.',
    () => peer.heard,
  );
  peer.socket()!.send(JSON.stringify({ type: 'disconnect' }));
  await settled(() => peer.opened() === 2);
  peer.socket()!.send(envelope('1'));
  peer.socket()!.send(envelope('2'));
  await settled(() => peer.heard.includes('{"envelope_id":"e-2"}') && fake.standing.length === 2);
  peer.socket()!.terminate();
  await settled(() => peer.opened() === 3);
  // A callback to an app that is dialled is none of it.
  assert.equal(
    (
      await office.call(
        { provider: 'slack', id },
        callback('slack', secretsOf('slack'), { text: 'x' }, office.now()),
      )
    ).status,
    401,
  );
  await office.ask('bob', 'DELETE', `/im/apps/${id}`);
  await settled(() => peer.socket()!.readyState === 3);
});

test('Feishu: frames of a long connection, in parts as they come, are answered', async (t) => {
  const office = await imOffice(t);
  const { fake, peer, secrets } = await dialled(t, office, 'feishu', (url, asked) =>
    asked.includes('/callback/ws/endpoint') ? { code: 0, data: { URL: url } } : undefined,
  );
  await settled(() => peer.heard.length > 0);
  assert.deepEqual(
    [
      unpacked(peer.heard[0] as Buffer)!.headers['type'],
      unpacked(peer.heard[0] as Buffer)!.service,
    ],
    ['ping', 7],
  );
  const event = {
    schema: '2.0',
    header: { event_id: '1', app_id: secrets.app_id, event_type: 'im.message.receive_v1' },
    event: {
      sender: { sender_type: 'user', sender_id: { open_id: 'U1' } },
      message: {
        message_id: 'om_1',
        chat_id: 'U1',
        chat_type: 'p2p',
        message_type: 'text',
        content: '{"text":"Well?"}',
      },
    },
  };
  const bytes = Buffer.from(JSON.stringify(event));
  [0, 1].forEach((seq) =>
    peer.socket()!.send(
      packed({
        seq: 1n,
        log: 2n,
        service: 7,
        method: 1,
        headers: { type: 'event', message_id: 'p', sum: '2', seq: `${seq}` },
        payload: seq === 0 ? bytes.subarray(0, 50) : bytes.subarray(50),
      }),
    ),
  );
  await settled(
    () => peer.heard.length === 2 && fake.standing.at(-1)?.text === 'All is well.',
    () => fake.standing,
  );
  const answer = unpacked(peer.heard[1] as Buffer)!;
  assert.deepEqual(
    [Buffer.from(answer.payload).toString(), answer.headers['message_id']],
    ['{"code":200}', 'p'],
  );
});

test('DingTalk: a message of the stream is answered, pings come back as they went', async (t) => {
  const office = await imOffice(t);
  const { fake, peer, bodyOf } = await dialled(t, office, 'dingtalk', (url, asked) =>
    asked.includes('/v1.0/gateway/connections/open') && asked.includes('"clientSecret":"ding-1"')
      ? { endpoint: url.split('?')[0], ticket: 'a b' }
      : undefined,
  );
  await settled(() => peer.socket() !== undefined);
  peer.socket()!.send(
    JSON.stringify({
      type: 'SYSTEM',
      headers: { topic: 'ping', messageId: 'p1' },
      data: '{"opaque":"x"}',
    }),
  );
  peer.socket()!.send(
    JSON.stringify({
      type: 'CALLBACK',
      headers: { topic: '/v1.0/im/bot/messages/get', messageId: 'm1' },
      data: bodyOf('Well?', '1'),
    }),
  );
  await settled(
    () => peer.heard.length === 2 && fake.standing.at(-1)?.text === 'All is well.',
    () => peer.heard,
  );
  const [pong, taken] = peer.heard.map((text) => JSON.parse(text as string));
  assert.deepEqual(
    [pong.headers.messageId, pong.data, taken.headers.messageId, taken.code],
    ['p1', '{"opaque":"x"}', 'm1', 200],
  );
});

test('Telegram: updates are asked for behind the last that is on disk, also after a restart of the room', async (t) => {
  const office = await imOffice(t);
  const offsets: number[] = [];
  const waiting: object[] = [];
  const { fake } = await dialled(
    t,
    office,
    'telegram',
    () => undefined,
    (offset) => {
      offsets.push(offset);
      return {
        ok: true,
        result: waiting.filter((update) => (update as { update_id: number }).update_id >= offset),
      };
    },
  );
  const update = (update_id: number) => ({
    update_id,
    message: {
      message_id: 1,
      chat: { id: 'U1', type: 'private' },
      from: { id: 'U1', is_bot: false },
      text: `Question ${update_id}?`,
    },
  });
  waiting.push(update(70), update(71));
  await settled(
    () => fake.standing.filter(({ text }) => text === 'All is well.').length === 2,
    () => fake.standing,
  );
  await office.house.reload('imbridge');
  waiting.push(update(72));
  await settled(
    () => fake.standing.filter(({ text }) => text === 'All is well.').length === 3,
    () => fake.standing,
  );
  assert.deepEqual([offsets[0], offsets.at(-1)! >= 72, office.model.requests.length], [0, true, 3]);
});
