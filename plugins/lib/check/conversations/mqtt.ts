import type { Facts } from '../model/check.ts';
import { endpointOf } from '../model/kinds.ts';
import { type Conversation, conversing, type Means } from '../wire/conversation.ts';

const [connect, connack, disconnect] = [0x10, 0x20, 0xe0];
const cleanSession = 0x02;
const [hasUser, hasPassword] = [0x80, 0x40];

/** Codes of MQTT 3.1.1 with which a broker refuses. */
const refusals: Readonly<Record<number, string>> = {
  1: 'the broker does not speak MQTT 3.1.1',
  2: 'the broker refuses the client',
  3: 'the broker is not available',
  4: 'the broker refuses the user name or password',
  5: 'the broker requires a login',
};

/** Connects to a broker without a session, and leaves. */
export async function probeMqtt(means: Means): Promise<Partial<Facts>> {
  const { order, watch } = means;
  return await conversing(means, endpointOf('mqtt', order.target)!, async (broker) => {
    broker.say(connectPacket(order.username, order.password));
    const status = await acknowledged(broker);
    watch.end('login');
    broker.say(Buffer.from([disconnect, 0]));
    return { ...broker.facts, status, body: refusals[status] ?? '' };
  });
}

function connectPacket(username: string | undefined, password: string | undefined): Buffer {
  const flags =
    cleanSession |
    (username === undefined ? 0 : hasUser) |
    // A password without a user is no packet of MQTT 3.1.1.
    (username === undefined || password === undefined ? 0 : hasPassword);
  const rest = Buffer.concat([
    field('MQTT'),
    Buffer.from([4, flags, 0, 30]),
    // Without a name of its own the broker gives it one, so that it takes nobody's place.
    field(''),
    ...(username === undefined ? [] : [field(username)]),
    ...(username === undefined || password === undefined ? [] : [field(password)]),
  ]);
  return Buffer.concat([Buffer.from([connect, ...lengthOf(rest.length)]), rest]);
}

async function acknowledged(broker: Conversation): Promise<number> {
  const [kind, length, , status] = await broker.take(4);
  if (kind !== connack || length !== 2) {
    throw new Error('the answer is not MQTT');
  }
  return status!;
}

function field(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes]);
}

/** Seven bits a byte, the low ones first. */
const lengthOf = (length: number): readonly number[] =>
  length < 128 ? [length] : [(length & 0x7f) | 0x80, ...lengthOf(length >> 7)];
