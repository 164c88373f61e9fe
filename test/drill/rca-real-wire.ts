import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';

/** One connection to a store, on which one statement runs at a time. */
export interface Connection {
  /** Rejects with what the store says, or when the connection ends. */
  ask(statement: string): Promise<void>;
  close(): void;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** What a protocol makes of the bytes that arrive. */
interface Talk {
  /** Takes whole messages off the front; says when the store is done with a statement. */
  read(bytes: Buffer, say: (bytes: Buffer) => void): { rest: Buffer; done?: true; error?: string };
  statement(text: string): Buffer;
  readonly greeting?: Buffer;
}

/** Connects and waits until the store takes statements. */
export async function connected(address: Address, talk: Talk): Promise<Connection> {
  const socket = connect(address);
  const line = new Line(socket, talk);
  if (talk.greeting !== undefined) {
    await line.exchange(talk.greeting);
  } else {
    await line.exchange(undefined);
  }
  return {
    ask: (statement) => line.exchange(talk.statement(statement)),
    close: () => void socket.destroy(),
  };
}

class Line {
  readonly #socket: Socket;
  #buffer: Buffer = Buffer.alloc(0);
  #waiting: { resolve: () => void; reject: (error: Error) => void } | undefined;
  #error: string | undefined;

  constructor(socket: Socket, talk: Talk) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#buffer = Buffer.concat([this.#buffer, chunk]);
      for (;;) {
        const { rest, done, error } = talk.read(this.#buffer, (bytes) => void socket.write(bytes));
        this.#error ??= error;
        const stuck = rest.length === this.#buffer.length;
        this.#buffer = rest;
        if (done) {
          this.#settle(this.#error);
        }
        if (stuck) {
          return;
        }
      }
    });
    socket.on('error', (error) => this.#settle(error.message));
    socket.on('close', () => this.#settle('the connection ended'));
  }

  async exchange(bytes: Buffer | undefined): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#error = undefined;
      this.#waiting = { resolve, reject };
      if (bytes !== undefined) {
        this.#socket.write(bytes);
      }
    });
  }

  #settle(error: string | undefined): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (error === undefined) {
      waiting?.resolve();
    } else {
      waiting?.reject(new Error(error));
    }
  }
}

/** PostgreSQL's protocol 3, as far as simple queries without a password need it. */
export const postgres: Talk = {
  greeting: (() => {
    const body = Buffer.concat([
      Buffer.from([0, 3, 0, 0]),
      Buffer.from('user\0postgres\0database\0shop\0\0'),
    ]);
    return Buffer.concat([lengthBE(body.length + 4), body]);
  })(),
  statement: (text) =>
    Buffer.concat([Buffer.from('Q'), lengthBE(text.length + 5), Buffer.from(`${text}\0`)]),
  read(bytes) {
    const length = bytes.length < 5 ? Number.POSITIVE_INFINITY : bytes.readUInt32BE(1) + 1;
    if (bytes.length < length) {
      return { rest: bytes };
    }
    const [kind, rest] = [String.fromCharCode(bytes[0]!), bytes.subarray(length)];
    if (kind === 'E') {
      const error = bytes.subarray(5, length).toString().replaceAll('\0', ' ');
      // A refusal to begin with is followed by nothing.
      return /FATAL/.test(error) ? { rest, error, done: true } : { rest, error };
    }
    return kind === 'Z' ? { rest, done: true } : { rest };
  },
};

/** Redis' protocol, as far as simple answers need it. */
export const redis: Talk = {
  greeting: Buffer.from('PING\r\n'),
  statement: (text) => {
    const words = text.split(' ');
    return Buffer.from(
      `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`,
    );
  },
  read(bytes) {
    const end = bytes.indexOf('\r\n');
    if (end === -1) {
      return { rest: bytes };
    }
    const first = bytes.subarray(0, end).toString();
    const length = first.startsWith('$') ? Math.max(-2, Number(first.slice(1))) : -2;
    const whole = end + 2 + (length >= 0 ? length + 2 : 0);
    if (bytes.length < whole) {
      return { rest: bytes };
    }
    const rest = bytes.subarray(whole);
    return first.startsWith('-')
      ? { rest, done: true, error: first.slice(1) }
      : { rest, done: true };
  },
};

/** MariaDB's protocol, for a user with a password of its own kind. */
export function mariadb(user: string, password: string, database: string): Talk {
  let phase: 'greeting' | 'login' | 'ready' | 'rows' = 'greeting';
  let ends = 0;
  return {
    statement(text) {
      ends = 0;
      phase = 'ready';
      return packet(0, Buffer.concat([Buffer.from([3]), Buffer.from(text)]));
    },
    read(bytes, say) {
      const length = bytes.length < 4 ? Number.POSITIVE_INFINITY : bytes.readUIntLE(0, 3) + 4;
      if (bytes.length < length) {
        return { rest: bytes };
      }
      const [body, rest] = [bytes.subarray(4, length), bytes.subarray(length)];
      if (body[0] === 0xff) {
        return { rest, done: true, error: body.subarray(9).toString() };
      }
      if (phase === 'greeting') {
        phase = 'login';
        say(packet(1, login(body, user, password, database)));
        return { rest };
      }
      if (phase === 'login') {
        phase = 'ready';
        return { rest, done: true };
      }
      if (phase === 'ready' && body[0] === 0) {
        return { rest, done: true };
      }
      phase = 'rows';
      const isEnd = body[0] === 0xfe && body.length < 9;
      ends += isEnd ? 1 : 0;
      return ends === 2 ? { rest, done: true } : { rest };
    },
  };
}

/** PROTOCOL_41, CONNECT_WITH_DB, SECURE_CONNECTION and PLUGIN_AUTH. */
const abilities = 0x200 | 0x8 | 0x8000 | 0x80000;

function login(greeting: Buffer, user: string, password: string, database: string): Buffer {
  const version = greeting.indexOf(0, 1);
  const first = greeting.subarray(version + 5, version + 13);
  const second = greeting.subarray(version + 32, version + 44);
  const head = Buffer.alloc(32);
  head.writeUInt32LE(abilities, 0);
  head.writeUInt32LE(0xff_ff_ff, 4);
  head[8] = 33;
  const proof = scrambled(password, Buffer.concat([first, second]));
  return Buffer.concat([
    head,
    Buffer.from(`${user}\0`),
    Buffer.from([proof.length]),
    proof,
    Buffer.from(`${database}\0mysql_native_password\0`),
  ]);
}

const sha1 = (...parts: readonly Buffer[]): Buffer =>
  createHash('sha1').update(Buffer.concat(parts)).digest();

function scrambled(password: string, salt: Buffer): Buffer {
  const once = sha1(Buffer.from(password));
  const mask = sha1(salt, sha1(once));
  return Buffer.from(once.map((byte, at) => byte ^ mask[at]!));
}

function packet(number: number, body: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUIntLE(body.length, 0, 3);
  head[3] = number;
  return Buffer.concat([head, body]);
}

function lengthBE(length: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(length);
  return bytes;
}
