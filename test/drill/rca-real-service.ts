import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import {
  createServer as createSecureServer,
  request as secureRequest,
  type Server,
} from 'node:https';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

import {
  type Address,
  connected,
  type Connection,
  mariadb,
  postgres,
  redis,
} from './rca-real-wire.ts';

/** What a service does with a request: something of its own, then its calls. */
export interface ServiceOptions {
  readonly name: string;
  readonly port: number;
  /** Statement of a store for each request, through a pool. */
  readonly store?: {
    readonly kind: 'postgres' | 'redis' | 'mariadb';
    readonly name: string;
    readonly address: Address;
    readonly statement: string;
    readonly connections: number;
  };
  /** Folder into which each request writes a file. */
  readonly folder?: string;
  /** Rounds of hashing, and bytes that a request holds meanwhile. */
  readonly work?: number;
  readonly holds?: number;
  /** Services by name: all of them are called, or the one that the path names. */
  readonly calls?: Readonly<Record<string, string>>;
  readonly routed?: boolean;
  readonly tls?: { readonly cert: string; readonly key: string };
  /** File of the certificate that calls trust. */
  readonly trusts?: string;
}

const callMs = 2_000;
const statementMs = 1_500;
const isHeld = 40;
const mostFiles = 100;

const options = JSON.parse(process.argv[2]!) as ServiceOptions;
const registry = new Registry();
collectDefaultMetrics({ register: registry });
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const served = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Duration of requests.',
  labelNames: ['method', 'route', 'status_code'],
  buckets,
  registers: [registry],
});
const called = new Histogram({
  name: 'http_client_request_duration_seconds',
  help: 'Duration of requests to other services.',
  labelNames: ['server_address', 'http_response_status_code'],
  buckets,
  registers: [registry],
});
const stored = new Histogram({
  name: 'db_client_operation_duration_seconds',
  help: 'Duration of statements.',
  labelNames: ['db_system_name', 'server_address', 'error_type'],
  buckets,
  registers: [registry],
});
const ofPool = { registers: options.store === undefined ? [] : [registry] };
const pooled = {
  active: new Gauge({ name: 'db_pool_connections_active', help: 'In use.', ...ofPool }),
  max: new Gauge({ name: 'db_pool_connections_max', help: 'At most.', ...ofPool }),
  pending: new Gauge({
    name: 'db_pool_connections_pending',
    help: 'Requests that wait for a connection.',
    ...ofPool,
  }),
  timeouts: new Counter({
    name: 'db_pool_connections_timeouts_total',
    help: 'Requests that waited in vain.',
    ...ofPool,
  }),
};

/** Connections that are lent to one request at a time. */
class Pool {
  readonly #idle: Connection[] = [];
  readonly #waiting: ((connection: Connection | undefined) => void)[] = [];
  #open = 0;
  #leaked = 0;

  constructor(readonly store: NonNullable<ServiceOptions['store']>) {
    pooled.max.set(store.connections);
  }

  /** Connections that nobody gives back, as where somebody forgot to. */
  async leak(count: number): Promise<void> {
    while (this.#leaked < count) {
      const connection = await this.#taken(30_000);
      if (connection !== undefined) {
        this.#leaked += 1;
        void this.#released.then(() => this.#give(connection));
      }
    }
  }

  #release: () => void = () => undefined;
  #released = new Promise<void>((resolve) => (this.#release = resolve));

  restore(): void {
    this.#leaked = 0;
    this.#release();
    this.#released = new Promise<void>((resolve) => (this.#release = resolve));
  }

  async ask(statement: string): Promise<void> {
    const connection = await this.#taken(statementMs);
    if (connection === undefined) {
      pooled.timeouts.inc();
      throw new Error('timeout waiting for a connection');
    }
    // It stays taken until the store has answered, however long a request is willing to wait.
    const answer = connection.ask(statement).then(
      () => this.#give(connection),
      (error: Error) => {
        if (/ended|ECONN|EPIPE|FATAL/.test(error.message)) {
          this.#drop(connection);
        } else {
          this.#give(connection);
        }
        throw error;
      },
    );
    const late = pause(statementMs, undefined, { ref: false }).then(() => {
      throw new Error('timeout');
    });
    answer.catch(() => undefined);
    await Promise.race([answer, late]);
  }

  async #taken(withinMs: number): Promise<Connection | undefined> {
    const idle = this.#idle.pop();
    if (idle !== undefined) {
      this.#count();
      return idle;
    }
    if (this.#open < this.store.connections) {
      this.#open += 1;
      this.#count();
      try {
        return await opened(this.store);
      } catch (error) {
        this.#open -= 1;
        this.#count();
        throw error;
      }
    }
    return await new Promise((resolve) => {
      const give = (connection: Connection | undefined): void => {
        clearTimeout(timer);
        pooled.pending.dec();
        resolve(connection);
      };
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(give), 1);
        give(undefined);
      }, withinMs);
      pooled.pending.inc();
      this.#waiting.push(give);
    });
  }

  #give(connection: Connection): void {
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#idle.push(connection);
    } else {
      next(connection);
    }
    this.#count();
  }

  #drop(connection: Connection): void {
    connection.close();
    this.#open -= 1;
    this.#count();
  }

  #count(): void {
    pooled.active.set(this.#open - this.#idle.length);
  }
}

const opened = ({ kind, address }: NonNullable<ServiceOptions['store']>): Promise<Connection> =>
  connected(
    address,
    kind === 'postgres' ? postgres : kind === 'redis' ? redis : mariadb('shop', 'shop', 'shop'),
  );

const pool = options.store && new Pool(options.store);
const held: Buffer[] = [];
let files = 0;

async function work(path: string): Promise<void> {
  const { store, folder, work: rounds = 20, holds = 0 } = options;
  let text = path;
  for (let round = 0; round < rounds; round += 1) {
    text = createHash('sha256').update(text.repeat(40)).digest('hex');
  }
  if (holds > 0) {
    held.push(Buffer.alloc(holds, text));
    held.splice(0, held.length - isHeld);
  }
  if (folder !== undefined) {
    files += 1;
    const file = openSync(join(folder, `upload-${files}`), 'w');
    try {
      writeSync(file, text.repeat(200));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    rmSync(join(folder, `upload-${files - mostFiles}`), { force: true });
  }
  if (store !== undefined) {
    await asked(store, text);
  }
  await callAll(path);
}

async function asked(
  { kind, name, statement }: NonNullable<ServiceOptions['store']>,
  text: string,
) {
  const end = stored.startTimer({ db_system_name: kind, server_address: name });
  try {
    await pool!.ask(statement.replace('$text', text.repeat(8)).replace('$key', text.slice(0, 3)));
    end({ error_type: '' });
  } catch (error) {
    end({ error_type: (error as Error).message.includes('timeout') ? 'timeout' : 'refused' });
    throw error;
  }
}

async function callAll(path: string): Promise<void> {
  const { calls = {}, routed } = options;
  const some = Object.entries(calls).filter(([name]) => !routed || path === `/${name}`);
  for (const [name, url] of some) {
    const end = called.startTimer({ server_address: name });
    const status = await statusOf(url).catch(() => 0);
    end({ http_response_status_code: status });
    if (status !== 200) {
      throw new Error(`${name} answered ${status}`);
    }
  }
}

const statusOf = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const ask = url.startsWith('https:') ? secureRequest : request;
    const trust = options.trusts === undefined ? {} : { ca: readFileSync(options.trusts) };
    const sent = ask(
      url,
      { timeout: callMs, agent: false, ...trust, checkServerIdentity: () => undefined },
      (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
        response.on('error', reject);
      },
    );
    sent.on('timeout', () => sent.destroy(new Error('timeout')));
    sent.on('error', reject);
    sent.end();
  });

async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = incoming.url ?? '/';
  if (path === '/metrics') {
    response.setHeader('content-type', registry.contentType).end(await registry.metrics());
    return;
  }
  if (path === '/healthz') {
    response.end('ok');
    return;
  }
  if (path.startsWith('/leak')) {
    void pool!.leak(Number(path.slice('/leak/'.length)));
    response.end();
    return;
  }
  if (path === '/restore') {
    pool!.restore();
    response.end();
    return;
  }
  const end = served.startTimer({ method: incoming.method ?? 'GET', route: path });
  try {
    await work(path);
    response.end('ok');
  } catch {
    response.statusCode = 500;
    response.end('failed');
  }
  end({ status_code: response.statusCode });
}

const handler = (incoming: IncomingMessage, response: ServerResponse): void =>
  void answer(incoming, response);

const { tls } = options;
const context = () => ({ cert: readFileSync(tls!.cert), key: readFileSync(tls!.key) });
if (tls === undefined) {
  createServer(handler).listen(options.port, '127.0.0.1');
} else {
  const server: Server = createSecureServer(context(), handler).listen(options.port, '127.0.0.1');
  process.on('SIGHUP', () => server.setSecureContext(context()));
}
