import {
  cpSync,
  chmodSync,
  existsSync,
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
import { FakeModel } from '../../plugins/model/cli/fake-model/fake-model.ts';
import { Simulator } from '../bench/tunnel-stand.ts';
import { ledgerEnvironment, ledgerPassword } from './ledger.ts';
import { ServingNode } from './takeover-node.ts';
import type { Ask } from './takeover-pages.ts';
import { Relay } from './takeover-relay.ts';
import { fillDisk, mountSmallDisk, unmount } from './small-disk.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Time for a request, so that a node which stands still is left for the other. */
const answerMs = 8_000;
const startMs = 240_000;
const names = ['one', 'two'];
const diskMb = 900;

export interface Owned {
  readonly epoch: number;
  readonly owner: ServingNode;
  readonly other: ServingNode;
}

/** Two nodes over one Postgres, each with a line of its own to it, and a fleet that is simulated. */
export class TakeoverStand {
  readonly #folder = mkdtempSync(join(tmpdir(), 'svc-takeover-'));
  readonly #cluster = join(this.#folder, 'postgres');
  #server: Awaited<ReturnType<typeof startServer>> | undefined;
  #port = 0;
  #model!: FakeModel;
  #simulator: Simulator | undefined;
  #at = 0;
  /** False if the machine does not let us mount disks for the data folders. */
  #hasDisks = true;
  nodes!: readonly [ServingNode, ServingNode];
  /** Lines to Postgres, in the order of the nodes. */
  lines!: readonly [Relay, Relay];

  static async open(agents: number): Promise<TakeoverStand> {
    const stand = new TakeoverStand();
    try {
      await stand.#begin(agents);
      return stand;
    } catch (error) {
      console.error(
        stand.nodes?.map(({ name, log }) => `${name}: ${log.slice(-3_000)}`).join('\n'),
      );
      await stand.close();
      throw error;
    }
  }

  get fleet(): Simulator {
    return this.#simulator!;
  }

  get hasDisks(): boolean {
    return this.#hasDisks;
  }

  /** Fills the disk of a node; returns what makes the room free again. */
  fill({ name }: ServingNode): () => void {
    return fillDisk(this.#diskOf(name));
  }

  get fleetSays(): string {
    const { connected, connects, refused, problem } = this.fleet.told;
    return `${connected} agents connected, ${connects} connects, ${refused} refused, ${problem ?? 'no problem'}`;
  }

  /** Requests the node that answered last, and turns to the other one when it does not serve. */
  readonly ask: Ask = async (path, init = {}) => {
    const at = this.#at;
    const headers = new Headers(init.headers);
    if (!headers.has('authorization')) {
      headers.set('authorization', `Bearer ${this.nodes[at]!.token}`);
    }
    const turn = (): void => void (this.#at === at && (this.#at = 1 - at));
    try {
      const answer = await fetch(this.nodes[at]!.url + path, {
        ...init,
        headers,
        signal: AbortSignal.timeout(answerMs),
      });
      if (answer.status === 502 || answer.status === 503) {
        turn();
      }
      return answer;
    } catch (error) {
      turn();
      throw error;
    }
  };

  /** Returns the node that owns the data, as the database says; undefined while it does not answer. */
  async owned(): Promise<Owned | undefined> {
    const client = new Client({
      connectionString: `postgres://svc@127.0.0.1:${this.#port}/svc`,
      connectionTimeoutMillis: answerMs,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query(
        'select node, epoch::int as epoch, until > clock_timestamp() as held from svc.core_owner',
      );
      const [row] = rows as { node: string; epoch: number; held: boolean }[];
      const at = this.nodes.findIndex((one) => idOf(one) === row?.node);
      return row?.held === true && at >= 0
        ? { epoch: row.epoch, owner: this.nodes[at]!, other: this.nodes[1 - at]! }
        : undefined;
    } catch {
      return undefined;
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  /** Returns how often the process behind a node has evaluated rules; undefined if it does not say. */
  async evaluations({ url, token }: ServingNode): Promise<number | undefined> {
    const answer = await fetch(`${url}/metrics`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(answerMs),
    }).catch(() => undefined);
    if (answer?.ok !== true) {
      return undefined;
    }
    const text = await answer.text().catch(() => '');
    return [...text.matchAll(/^svc_alert_rule_evaluations_total\S* (\d+)/gm)].reduce(
      (sum, [, count]) => sum + Number(count),
      0,
    );
  }

  async restartPostgres(): Promise<void> {
    await this.#stopPostgres();
    this.#server = await startServer(this.#cluster, this.#port, asUser(this.#cluster));
  }

  async close(): Promise<void> {
    await this.#simulator?.end();
    await Promise.all((this.nodes ?? []).map((node) => node.end('SIGKILL')));
    this.lines?.forEach((line) => line.close());
    await this.#model?.close();
    await this.#stopPostgres();
    names.filter(() => this.#hasDisks).forEach((name) => unmount(this.#diskOf(name)));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #diskOf(name: string): string {
    return join(this.#folder, name);
  }

  async #begin(agents: number): Promise<void> {
    // Postgres runs as another user, who has to come through.
    chmodSync(this.#folder, 0o711);
    mkdirSync(this.#cluster);
    this.#port = await freePort();
    this.#server = await startServer(this.#cluster, this.#port, asUser(this.#cluster));
    const client = new Client(`postgres://svc@127.0.0.1:${this.#port}/postgres`);
    await client.connect();
    await client.query('create database svc');
    await client.end();
    this.#model = await FakeModel.start();
    const passwordFile = join(this.#folder, 'password');
    writeFileSync(passwordFile, ledgerPassword, { mode: 0o600 });
    this.lines = [await Relay.to(this.#port), await Relay.to(this.#port)];
    const nodes = await Promise.all(
      names.map(async (name, at) => {
        mkdirSync(this.#diskOf(name));
        this.#hasDisks &&= mountSmallDisk(this.#diskOf(name), diskMb);
        const port = await freePort();
        return new ServingNode(
          name,
          { dataDir: join(this.#diskOf(name), 'data'), port },
          {
            ...ledgerEnvironment(passwordFile),
            SVC_LLM_COMPATIBLE_BASE_URL: this.#model.url,
            SVC_NODE_ADDR: `127.0.0.1:${await freePort()}`,
            SVC_LLM_DEFAULT_MODEL: 'compatible/demo',
            SVC_DATABASE_URL: `postgres://svc@127.0.0.1:${this.lines[at]!.port}/svc`,
          },
        );
      }),
    );
    this.nodes = nodes as unknown as TakeoverStand['nodes'];
    const [first, second] = this.nodes;
    first.start();
    await this.until('the first node serves', () => this.serves(first));
    this.#join(second);
    second.start();
    await this.until('the second node stands by', () => /node.standing_by/.test(second.log));
    await this.#set(
      '/api/v1/system-settings/edge/addresses',
      this.nodes.map(({ url }) => url),
    );
    await this.#simulate(agents);
  }

  async serves({ url, token }: ServingNode): Promise<boolean> {
    const answer = await fetch(`${url}/api/v1/alerts/incidents?limit=1`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(answerMs),
    }).catch(() => undefined);
    await answer?.body?.cancel();
    return answer?.ok === true;
  }

  async until(what: string, holds: () => boolean | Promise<boolean>, ms = startMs): Promise<void> {
    for (const deadline = performance.now() + ms; !(await holds()); await pause(100)) {
      if (performance.now() > deadline) {
        throw new Error(`${what}: not within ${ms / 1_000} s`);
      }
    }
  }

  /** Gives the second data folder what makes it one of the same installation. */
  #join(second: ServingNode): void {
    mkdirSync(second.dataDir, { mode: 0o700 });
    cpSync(join(this.nodes[0].dataDir, 'keys'), join(second.dataDir, 'keys'), { recursive: true });
  }

  async #simulate(agents: number): Promise<void> {
    const { token } = await this.#post<{ token: string }>('/api/v1/edges/enrolments', {
      max_uses: agents,
    });
    this.#simulator = new Simulator(root, join(this.#folder, 'agents'), {
      manager: this.nodes[0].url,
      token,
      count: agents,
      ramp: 10,
    });
    await this.fleet.until('the fleet is there', ({ connected }) => connected === agents, startMs);
  }

  async #set(path: string, value: unknown): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ value });
    const answer = await this.ask(path, { method: 'PUT', headers, body });
    if (!answer.ok) {
      throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    }
  }

  async #post<T>(path: string, body: object): Promise<T> {
    const headers = { 'content-type': 'application/json' };
    const answer = await this.ask(path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) {
      throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    }
    return (await answer.json()) as T;
  }

  async #stopPostgres(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server && server.exitCode === null) {
      const gone = new Promise((resolve) => server.once('exit', resolve));
      server.kill('SIGINT');
      await gone;
    }
  }
}

function idOf({ dataDir }: ServingNode): string | undefined {
  const file = join(dataDir, 'node.json');
  return existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as { id: string }).id
    : undefined;
}
