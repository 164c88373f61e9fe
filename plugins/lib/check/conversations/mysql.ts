import type { Facts } from '../model/check.ts';
import { endpointOf } from '../model/kinds.ts';
import { plain } from '../model/plain-text.ts';
import { type Conversation, conversing, type Means } from '../wire/conversation.ts';
import { proofOf } from './mysql-proof.ts';

const has = {
  tls: 0x800,
  protocol41: 0x200,
  transactions: 0x2000,
  secureConnection: 0x8000,
  pluginAuth: 0x8_0000,
} as const;
const utf8 = 45;
const maxPacket = 16 * 1024;
const pingCommand = 0x0e;
/** First byte of an answer. */
const answers = { ok: 0x00, more: 0x01, change: 0xfe, error: 0xff } as const;
/** User that the server is asked for where no one logs in. */
const nobody = 'svc';
/** Access denied, of the user or for the database: the server would have served. */
const aboutLogin: readonly number[] = [1_044, 1_045, 1_049, 1_251, 1_698, 2_061];

interface Packet {
  readonly number: number;
  readonly body: Buffer;
}

interface Greeting {
  readonly version: string;
  readonly capabilities: number;
  readonly nonce: Buffer;
  readonly plugin: string;
}

/**
 * Logs in and sends a ping. Without a user it lets the server refuse one: a connection that is
 * dropped instead counts against the host, which is blocked after a hundred.
 */
export async function probeMysql(means: Means): Promise<Partial<Facts>> {
  const { order, watch } = means;
  return await conversing(means, endpointOf('mysql', order.target)!, async (server) => {
    const first = await packetFrom(server);
    const greeting = greetingOf(first.body);
    watch.end('greeting');
    const { username = nobody, password = '' } = order;
    let number = first.number;
    const flags = has.protocol41 | has.transactions | has.secureConnection | has.pluginAuth;
    const isOffered = (greeting.capabilities & has.tls) !== 0;
    if (!isOffered && order.tls === 'required') {
      throw new Error('the server does not offer TLS');
    }
    const useTls = isOffered && order.tls !== 'off';
    const head = headOf(useTls ? flags | has.tls : flags);
    if (useTls) {
      server.say(packet(++number, head));
      await server.secure();
    }
    const proof = proofOf(greeting.plugin, password, greeting.nonce) ?? Buffer.alloc(0);
    server.say(
      packet(
        ++number,
        Buffer.concat([
          head,
          text(username),
          Buffer.from([proof.length]),
          proof,
          text(greeting.plugin),
        ]),
      ),
    );
    const facts = { ...server.facts, banner: greeting.version };
    const refusal = await logIn(server, greeting, password);
    watch.end('login');
    if (refusal !== undefined) {
      if (order.username === undefined && aboutLogin.includes(refusal.code)) {
        return facts;
      }
      throw new Error(`${refusal.said} (${refusal.code})`);
    }
    server.say(packet(0, Buffer.from([pingCommand])));
    const pong = await packetFrom(server);
    watch.end('request');
    if (pong.body[0] !== answers.ok) {
      throw new Error('the server does not answer a ping');
    }
    return facts;
  });
}

interface Refusal {
  readonly code: number;
  readonly said: string;
}

/** Answers what the server asks until it has accepted or refused. */
async function logIn(
  server: Conversation,
  { plugin: first, nonce: usual }: Greeting,
  password: string,
): Promise<Refusal | undefined> {
  let plugin = first;
  for (;;) {
    const { number, body } = await packetFrom(server);
    switch (body[0]) {
      case answers.ok:
        return undefined;
      case answers.error:
        return refusalOf(body);
      case answers.change: {
        const end = body.indexOf(0, 1);
        plugin = body.toString('latin1', 1, end);
        const nonce = end === -1 ? usual : withoutZero(body.subarray(end + 1));
        const proof = proofOf(plugin, password, nonce);
        if (proof === undefined) {
          throw new Error(
            `the server asks for the login ${plain(plugin)}, which a check does not know`,
          );
        }
        server.say(packet(number + 1, proof));
        break;
      }
      case answers.more:
        // 3: the proof was enough; 4: the server wants the password itself.
        if (plugin === 'caching_sha2_password' && body[1] === 4) {
          if (!server.isSecure) {
            throw new Error('the server asks for the password as it is, but there is no TLS');
          }
          server.say(packet(number + 1, text(password)));
        }
        break;
      default:
        throw new Error('the answer is not that of MySQL');
    }
  }
}

function greetingOf(body: Buffer): Greeting {
  if (body[0] === answers.error) {
    const { code, said } = refusalOf(body);
    throw new Error(`${said} (${code})`);
  }
  const end = body.indexOf(0, 1);
  const at = end + 1;
  if (body[0] !== 10 || end === -1 || body.length < at + 31) {
    throw new Error('the answer is not that of MySQL');
  }
  const capabilities = body.readUInt16LE(at + 13) | (body.readUInt16LE(at + 18) << 16);
  const nonceLength = Math.max(13, body[at + 20]! - 8);
  const nameAt = at + 31 + nonceLength;
  return {
    version: plain(body.toString('utf8', 1, end)),
    capabilities,
    nonce: Buffer.concat([
      body.subarray(at + 4, at + 12),
      withoutZero(body.subarray(at + 31, nameAt)),
    ]),
    plugin:
      (capabilities & has.pluginAuth) === 0
        ? 'mysql_native_password'
        : withoutZero(body.subarray(nameAt)).toString('latin1'),
  };
}

function refusalOf(body: Buffer): Refusal {
  const said = body.subarray(3).toString('utf8');
  // Before the greeting there is no state in front of the message.
  return { code: body.length < 3 ? 0 : body.readUInt16LE(1), said: said.replace(/^#.{5}/, '') };
}

function headOf(capabilities: number): Buffer {
  const head = Buffer.alloc(32);
  head.writeUInt32LE(capabilities, 0);
  head.writeUInt32LE(maxPacket, 4);
  head[8] = utf8;
  return head;
}

async function packetFrom(server: Conversation): Promise<Packet> {
  const head = await server.take(4);
  const length = head.readUIntLE(0, 3);
  if (length === 0 || length > maxPacket) {
    throw new Error('the answer is not that of MySQL');
  }
  return { number: head[3]!, body: await server.take(length) };
}

function packet(number: number, body: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUIntLE(body.length, 0, 3);
  head[3] = number & 0xff;
  return Buffer.concat([head, body]);
}

const withoutZero = (bytes: Buffer): Buffer => {
  const end = bytes.indexOf(0);
  return end === -1 ? bytes : bytes.subarray(0, end);
};

/** A text that ends with a zero, and so holds none. */
const text = (value: string): Buffer => Buffer.from(`${value.replaceAll('\0', '')}\0`);
