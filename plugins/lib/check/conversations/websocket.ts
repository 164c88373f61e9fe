import { createHash } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';

import type { Facts } from '../model/check.ts';
import { type Endpoint, endpointOf } from '../model/kinds.ts';
import { Conversation, type Means } from '../wire/conversation.ts';
import { dial, secureTrusted } from '../wire/dial.ts';

/** Makes the answer to a key one that only a server of WebSockets gives. */
const magic = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const [text, close, ping, pong] = [0x1, 0x8, 0x9, 0xa];
const final = 0x80;
const masked = 0x80;

/** Opens a WebSocket, sends a ping, and the text of the order if it has one. */
export async function probeWebsocket(means: Means): Promise<Partial<Facts>> {
  const { order, place, watch, signal } = means;
  const endpoint = endpointOf('websocket', order.target)!;
  const { host, port, isSecure } = endpoint;
  const address = await place.reach(host, port, order.ip);
  watch.end('resolve');
  const plain = await dial(address, port, watch, signal);
  try {
    const secured = isSecure ? await secureTrusted(plain, host, order, watch, signal) : undefined;
    const { status, socket, head } = await upgrade(
      secured?.socket ?? plain,
      endpoint,
      order.headers,
      Buffer.from(place.nonce(), 'base64url').subarray(0, 16).toString('base64'),
    );
    watch.end('greeting');
    const facts: Partial<Facts> = {
      address: address.address,
      ...(secured?.certificate !== undefined && { certificate: secured.certificate }),
      status,
    };
    if (socket === undefined) {
      return facts;
    }
    const server = Conversation.resume(means, { socket, head });
    const frame = (kind: number, content: string | Buffer): void =>
      server.say(frameOf(kind, content, Buffer.from(place.nonce(), 'base64url')));
    frame(ping, 'svc-check');
    void (order.send !== undefined && frame(text, order.send));
    const body = await answerOf(server, frame, order.send !== undefined);
    watch.end('request');
    frame(close, '');
    return { ...facts, ...(body !== undefined && { body, body_bytes: Buffer.byteLength(body) }) };
  } finally {
    plain.destroy();
  }
}

interface Upgraded {
  readonly status: number;
  /** Absent: the server stays with HTTP. */
  readonly socket?: Socket;
  readonly head: Buffer;
}

function upgrade(
  socket: Socket,
  { request: path, authority }: Endpoint,
  headers: Readonly<Record<string, string>> = {},
  key: string,
): Promise<Upgraded> {
  const expected = createHash('sha1')
    .update(key + magic)
    .digest('base64');
  return new Promise((resolve, reject) => {
    const outgoing = request({
      path,
      headers: {
        host: authority,
        'user-agent': 'svc-check',
        ...headers,
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-key': key,
        'sec-websocket-version': '13',
      },
      createConnection: () => socket,
    });
    outgoing.once('error', reject);
    outgoing.once('response', (incoming: IncomingMessage) => {
      incoming.resume();
      resolve({ status: incoming.statusCode ?? 0, head: Buffer.alloc(0) });
    });
    outgoing.once('upgrade', (incoming: IncomingMessage, upgraded: Socket, head: Buffer) => {
      if (incoming.headers['sec-websocket-accept'] === expected) {
        resolve({ status: 101, socket: upgraded, head });
      } else {
        reject(new Error('the server switches protocols, but not to WebSocket'));
      }
    });
    outgoing.end();
  });
}

/** Waits for the pong and, where a text was sent, for the first text that comes back. */
async function answerOf(
  server: Conversation,
  send: (kind: number, content: Buffer) => void,
  wantsText: boolean,
): Promise<string | undefined> {
  let isAlive = false;
  let body: string | undefined;
  while (!isAlive || (wantsText && body === undefined)) {
    const { kind, payload } = await frameFrom(server);
    if (kind === close) {
      throw new Error('the server closed the WebSocket');
    }
    if (kind === ping) {
      send(pong, payload);
    }
    isAlive ||= kind === pong;
    body ??= kind === text ? payload.toString('utf8') : undefined;
  }
  return body;
}

/** Returns the next frame; a part of a message counts as one of its own. */
async function frameFrom(
  server: Conversation,
): Promise<{ readonly kind: number; readonly payload: Buffer }> {
  const [first, second] = (await server.take(2)) as unknown as [number, number];
  const short = second & 0x7f;
  if (short === 127 || (second & masked) !== 0) {
    throw new Error('the server sends a frame that a check does not read');
  }
  const length = short === 126 ? (await server.take(2)).readUInt16BE(0) : short;
  return { kind: first & 0x0f, payload: await server.take(length) };
}

/** A frame from a client is masked, whatever it holds. */
function frameOf(kind: number, content: string | Buffer, random: Buffer): Buffer {
  const payload = Buffer.from(content as string);
  const mask = random.subarray(0, 4);
  const length =
    payload.length < 126
      ? Buffer.from([masked | payload.length])
      : Buffer.from([masked | 126, payload.length >> 8, payload.length & 0xff]);
  return Buffer.concat([
    Buffer.from([final | kind]),
    length,
    mask,
    payload.map((byte, at) => byte ^ mask[at % 4]!),
  ]);
}
