import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { Client } from 'pg';

import { asUser, freePort, startServer } from '../../bin/dev/test/postgres.mjs';
import { programOf } from '../program-of.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const child = join(root, 'test/boot/serving-child.ts');
const longMs = 120_000;

/** Plugin of the product that the nodes run: notes are rows, the stream and the socket say which process they are of. */
const guest = {
  'plugin.json': JSON.stringify({
    id: 'guest',
    version: '1.0.0',
    title: 'Guest',
    description: 'A guest.',
    entry: 'index.ts',
    engines: { host: '^1.0.0' },
    mounts: ['/api/v1/notes'],
    actions: { 'notes:use': 'Use notes.' },
  }),
  'migrations/001-init.sql':
    'CREATE TABLE guest_note (id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL) STRICT;',
  'index.ts': `
import Type from 'typebox';
import { definePlugin, eventRoute, route, socketRoute } from 'svc/sdk';
const Note = Type.Object({ text: Type.String() });
export default definePlugin({
  activate(ctx) {
    const tables = ctx.db<{ guest_note: { id: number; text: string } }>();
    const access = 'notes:use';
    ctx.http.routes([
      route({ method: 'POST', path: '/api/v1/notes', access, summary: 'Add', body: Note, response: Note,
        async handle({ body }) {
          await tables.write((tx) => tx.insertInto('guest_note').values({ text: body.text } as never).execute());
          return body;
        } }),
      route({ method: 'GET', path: '/api/v1/notes', access, summary: 'All',
        response: Type.Object({ texts: Type.Array(Type.String()), ip: Type.String(), pid: Type.Integer() }),
        async handle(call) {
          const rows = await tables.read.selectFrom('guest_note').select('text').orderBy('id').execute();
          return { texts: rows.map(({ text }) => text), ip: call.ip, pid: process.pid };
        } }),
      eventRoute({ method: 'GET', path: '/api/v1/notes/stream', access, summary: 'Stream',
        async *handle(call) {
          yield { id: '1', event: 'began', data: { pid: process.pid } };
          await new Promise((resolve) => call.signal.addEventListener('abort', resolve));
        } }),
      socketRoute({ path: '/api/v1/notes/echo', access, summary: 'Echo',
        handle: (_call, socket) => socket.onMessage((data) => socket.send(data)) }),
    ]);
  },
});
`,
} as const;

/** A node of a test: a process of svc with its own data folder. */
export class TestNode {
  readonly dataDir: string;
  readonly url: string;
  readonly #product: string;
  readonly #environment: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;
  #said = '';

  constructor(
    product: string,
    dataDir: string,
    environment: Readonly<Record<string, string>> & { readonly SVC_HTTP_ADDR: string },
  ) {
    this.#product = product;
    this.dataDir = dataDir;
    this.url = `http://${environment.SVC_HTTP_ADDR}`;
    this.#environment = { ...environment, SVC_DATA_DIR: dataDir, SVC_LOG_FORMAT: 'json' };
  }

  get said(): string {
    return this.#said;
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  get exitCode(): number | null {
    return this.#child!.exitCode;
  }

  start(): void {
    this.#said = '';
    const started = spawn(process.execPath, [...programOf(child), this.#product], {
      cwd: root,
      env: { PATH: process.env['PATH'], ...this.#environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [started.stdout, started.stderr]) {
      stream.on('data', (chunk) => (this.#said += String(chunk)));
    }
    this.#child = started;
  }

  /** Waits until it has said something. */
  async says(words: RegExp): Promise<void> {
    await until(
      () => words.test(this.#said),
      () => `never said ${words}: ${this.#said}`,
    );
  }

  /** Waits until it may take traffic. */
  async isReady(): Promise<void> {
    await until(
      async () => (await fetch(`${this.url}/readyz`).catch(() => undefined))?.status === 200,
      () => `never ready: ${this.#said}`,
    );
  }

  /** Token of the operator at this node. */
  get token(): string {
    return readFileSync(join(this.dataDir, 'keys/operator.token'), 'utf8').trim();
  }

  signal(signal: NodeJS.Signals): void {
    this.#child!.kill(signal);
  }

  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const running = this.#child;
    if (running !== undefined && running.exitCode === null && running.signalCode === null) {
      const gone = once(running, 'exit');
      running.kill(signal);
      // One that stands still takes no other signal.
      running.kill('SIGCONT');
      await gone;
    }
  }

  /** Requests as the operator of this node. */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${this.token}`);
    headers.set('content-type', 'application/json');
    return await fetch(this.url + path, { ...init, headers });
  }

  async add(text: string): Promise<number> {
    const answer = await this.fetch('/api/v1/notes', {
      method: 'POST',
      body: JSON.stringify({ text }),
    });
    await answer.arrayBuffer();
    return answer.status;
  }

  async notes(): Promise<{ readonly texts: string[]; readonly ip: string; readonly pid: number }> {
    const answer = await this.fetch('/api/v1/notes');
    assert.equal(answer.status, 200, this.#said);
    return (await answer.json()) as { texts: string[]; ip: string; pid: number };
  }
}

/** Runs a command of svc; returns what it printed and how it ended. */
export async function svc(
  ...words: readonly string[]
): Promise<{ readonly said: string; readonly code: number | null }> {
  const running = spawn(process.execPath, [...programOf(join(root, 'bin/svc.ts')), ...words], {
    cwd: root,
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [running.stdout, running.stderr]) {
    stream.on('data', (chunk) => (said += String(chunk)));
  }
  await once(running, 'close');
  return { said, code: running.exitCode };
}

export async function until(
  met: () => boolean | Promise<boolean>,
  why: () => string = () => 'it never came to be',
): Promise<void> {
  for (const since = performance.now(); !(await met()); await pause(25)) {
    assert.ok(performance.now() - since < longMs, why());
  }
}

/** Postgres for one file of tests, with a product that nodes run over it. */
export class NodeStand {
  readonly folder: string;
  readonly port: number;
  readonly #server: ChildProcess;
  readonly #product: string;
  readonly #nodes: TestNode[] = [];
  #databases = 0;

  private constructor(folder: string, port: number, server: ChildProcess, product: string) {
    this.folder = folder;
    this.port = port;
    this.#server = server;
    this.#product = product;
  }

  static async open(): Promise<NodeStand> {
    const folder = mkdtempSync(join(tmpdir(), 'svc-nodes-'));
    chmodSync(folder, 0o711);
    const own = join(folder, 'server');
    mkdirSync(own);
    const port = await freePort();
    const server = await startServer(own, port, asUser(own));
    const product = join(folder, 'product');
    for (const shipped of ['plugins/host', 'plugins/nodes']) {
      cpSync(join(root, shipped), join(product, shipped), { recursive: true });
    }
    for (const [name, text] of Object.entries(guest)) {
      mkdirSync(join(product, 'plugins/guest/migrations'), { recursive: true });
      writeFileSync(join(product, 'plugins/guest', name), text);
    }
    return new NodeStand(folder, port, server, product);
  }

  async close(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.end()));
    const gone = once(this.#server, 'exit');
    this.#server.kill('SIGQUIT');
    await gone;
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Makes a database; returns its URL. */
  async database(): Promise<string> {
    this.#databases += 1;
    const name = `nodes${this.#databases}`;
    await this.ask(`create database ${name}`);
    return this.urlOf(name);
  }

  urlOf = (name: string): string => `postgres://svc@127.0.0.1:${this.port}/${name}`;

  async ask<R>(text: string, url = this.urlOf('postgres')): Promise<R[]> {
    const client = new Client(url);
    await client.connect();
    try {
      return (await client.query(text)).rows as R[];
    } finally {
      await client.end();
    }
  }

  /** A node over a database, not started yet; one that is to share the installation gets the key of `like`. */
  async node(
    databaseUrl: string,
    {
      like,
      environment = {},
    }: { readonly like?: TestNode; readonly environment?: Readonly<Record<string, string>> } = {},
  ): Promise<TestNode> {
    const dataDir = mkdtempSync(join(this.folder, 'data-'));
    if (like !== undefined) {
      mkdirSync(join(dataDir, 'keys'), { mode: 0o700 });
      cpSync(join(like.dataDir, 'keys/secret.key'), join(dataDir, 'keys/secret.key'));
    }
    const node = new TestNode(this.#product, dataDir, {
      SVC_HTTP_ADDR: `127.0.0.1:${await freePort()}`,
      SVC_DATABASE_URL: databaseUrl,
      SVC_NODE_ADDR: `127.0.0.1:${await freePort()}`,
      ...environment,
    });
    this.#nodes.push(node);
    return node;
  }
}
