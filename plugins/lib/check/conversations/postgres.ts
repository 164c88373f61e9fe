import { createHash } from 'node:crypto';

import type { Facts } from '../model/check.ts';
import { endpointOf } from '../model/kinds.ts';
import { plain } from '../model/plain-text.ts';
import { type Conversation, conversing, type Means } from '../wire/conversation.ts';
import { Scram } from './scram.ts';

const version = 196_608;
const tlsRequest = 80_877_103;
/** User that the server is asked for where no one logs in. */
const nobody = 'svc';
const [maxMessage, maxRows] = [64 * 1024, 100];

/** Kinds of authentication that the server asks for. */
const auth = { ok: 0, password: 3, md5: 5, sasl: 10, saslContinue: 11, saslFinal: 12 } as const;

interface Message {
  readonly kind: string;
  readonly body: Buffer;
}

/**
 * Starts a session and runs a query in it. Without a user it ends where the server asks who that
 * is: a server that is full or still starting has refused by then.
 */
export async function probePostgres(means: Means): Promise<Partial<Facts>> {
  const { order, watch } = means;
  const endpoint = endpointOf('postgres', order.target)!;
  return await conversing(means, endpoint, async (server) => {
    await beginTls(server, order.tls);
    const { username = nobody } = order;
    const database = endpoint.path === '' ? 'postgres' : endpoint.path;
    server.say(
      startup({ user: username, database, application_name: 'svc', client_encoding: 'UTF8' }),
    );
    watch.end('greeting');
    if (order.username === undefined) {
      const first = await messageFrom(server);
      watch.end('request');
      void (first.kind === 'E' && !isAboutLogin(first.body) && refuse(first.body));
      return server.facts;
    }
    const banner = await logIn(server, means);
    watch.end('login');
    const rows = await answerTo(server, order.send);
    watch.end('request');
    server.say(message('X', Buffer.alloc(0)));
    return { ...server.facts, ...banner, body: JSON.stringify(rows) };
  });
}

async function beginTls(server: Conversation, tls: 'off' | 'required' | undefined): Promise<void> {
  if (tls === 'off') {
    return;
  }
  const request = Buffer.alloc(8);
  request.writeUInt32BE(8, 0);
  request.writeUInt32BE(tlsRequest, 4);
  server.say(request);
  const answer = (await server.take(1)).toString('latin1');
  if (answer === 'S') {
    await server.secure();
  } else if (answer !== 'N') {
    throw new Error('the answer is not that of PostgreSQL');
  } else if (tls === 'required') {
    throw new Error('the server does not offer TLS');
  }
}

/** Answers what the server asks until the session is ready. */
async function logIn(server: Conversation, { order, place }: Means): Promise<Partial<Facts>> {
  const { username = nobody, password = '' } = order;
  const scram = new Scram(password, place.nonce());
  let banner: Partial<Facts> = {};
  for (;;) {
    const { kind, body } = await messageFrom(server);
    if (kind === 'Z') {
      return banner;
    }
    if (kind === 'E') {
      refuse(body);
    }
    if (kind === 'S') {
      const [name, value] = body.toString('utf8').split('\0');
      banner = name === 'server_version' ? { banner: `PostgreSQL ${plain(value ?? '')}` } : banner;
    }
    const reply = kind === 'R' ? await replyTo(body) : undefined;
    void (reply !== undefined && server.say(message('p', reply)));
  }

  async function replyTo(body: Buffer): Promise<Buffer | undefined> {
    switch (body.readUInt32BE(0)) {
      case auth.ok:
        return undefined;
      case auth.saslFinal:
        scram.verify(body.subarray(4).toString('utf8'));
        return undefined;
      case auth.password:
        if (!server.isSecure) {
          throw new Error('the server asks for the password as it is, but there is no TLS');
        }
        return text(password);
      case auth.md5: {
        const inner = md5(Buffer.from(password + username));
        return text(`md5${md5(Buffer.concat([Buffer.from(inner), body.subarray(4, 8)]))}`);
      }
      case auth.sasl: {
        if (!body.subarray(4).toString('latin1').split('\0').includes('SCRAM-SHA-256')) {
          throw new Error('the server asks for a login that a check does not know');
        }
        const first = Buffer.from(scram.first);
        const length = Buffer.alloc(4);
        length.writeUInt32BE(first.length);
        return Buffer.concat([text('SCRAM-SHA-256'), length, first]);
      }
      case auth.saslContinue:
        return Buffer.from(await scram.answer(body.subarray(4).toString('utf8')));
      default:
        throw new Error('the server asks for a login that a check does not know');
    }
  }
}

/**
 * Runs a query and returns its rows. That of a person runs in a transaction that writes nothing, and
 * as one statement: so it cannot end the transaction and go on.
 */
async function answerTo(
  server: Conversation,
  query: string | undefined,
): Promise<readonly (readonly (string | null)[])[]> {
  if (query === undefined) {
    server.say(message('Q', text('SELECT 1')));
    return await rowsFrom(server);
  }
  server.say(message('Q', text('BEGIN READ ONLY')));
  await rowsFrom(server);
  const most = Buffer.alloc(4);
  most.writeUInt32BE(maxRows);
  server.say(
    Buffer.concat([
      message('P', Buffer.concat([text(''), text(query), Buffer.alloc(2)])),
      message('B', Buffer.concat([text(''), text(''), Buffer.alloc(6)])),
      message('E', Buffer.concat([text(''), most])),
      message('S', Buffer.alloc(0)),
    ]),
  );
  return await rowsFrom(server);
}

/** Reads rows until the server is ready for the next query. */
async function rowsFrom(server: Conversation): Promise<readonly (readonly (string | null)[])[]> {
  const rows: (readonly (string | null)[])[] = [];
  for (;;) {
    const { kind, body } = await messageFrom(server);
    if (kind === 'D' && rows.length < maxRows) {
      rows.push(rowOf(body));
    }
    if (kind === 'E') {
      refuse(body);
    }
    if (kind === 'Z') {
      return rows;
    }
  }
}

function rowOf(body: Buffer): readonly (string | null)[] {
  const values: (string | null)[] = [];
  for (let at = 2; at + 4 <= body.length;) {
    const length = body.readInt32BE(at);
    at += 4;
    values.push(length < 0 ? null : body.subarray(at, at + length).toString('utf8'));
    at += Math.max(0, length);
  }
  return values;
}

async function messageFrom(server: Conversation): Promise<Message> {
  const head = await server.take(5);
  const length = head.readUInt32BE(1) - 4;
  if (length < 0 || length > maxMessage) {
    throw new Error('the answer is not that of PostgreSQL');
  }
  return { kind: head.toString('latin1', 0, 1), body: await server.take(length) };
}

/** Fields of an error by their letter: C is the code, M the message. */
const errorOf = (body: Buffer): Readonly<Record<string, string>> =>
  Object.fromEntries(
    body
      .toString('utf8')
      .split('\0')
      .filter((field) => field !== '')
      .map((field) => [field[0]!, field.slice(1)]),
  );

/** Classes 28 and 3D: the user or the database is not known, so the server would have served. */
const isAboutLogin = (body: Buffer): boolean => /^(?:28|3D)/.test(errorOf(body)['C'] ?? '');

function refuse(body: Buffer): never {
  const { C: code = '', M: said = 'no reason given' } = errorOf(body);
  throw new Error(`${said} (${code})`);
}

function startup(parameters: Readonly<Record<string, string>>): Buffer {
  const fields = Object.entries(parameters).flatMap(([name, value]) => [text(name), text(value)]);
  const rest = Buffer.concat([...fields, Buffer.from([0])]);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(rest.length + 8, 0);
  head.writeUInt32BE(version, 4);
  return Buffer.concat([head, rest]);
}

function message(kind: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(kind, 0, 'latin1');
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** A text that ends with a zero, and so holds none. */
const text = (value: string): Buffer => Buffer.from(`${value.replaceAll('\0', '')}\0`);

const md5 = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex');
