import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import type { Figures } from '../../plugins/edge/cli/sim/tally.ts';

export type Told = Figures & { readonly seconds: number };

export interface Loop {
  readonly loop_p99_ms: number;
  readonly loop_max_ms: number;
  readonly loop_busy: number;
  readonly offline: number;
  readonly heap_mb: number;
  /** `process.memoryUsage()` in megabytes. */
  readonly memory: Readonly<Record<string, number>>;
}

export interface Timed {
  readonly calls: number;
  readonly failed: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly all_ms: number;
}

/** CPU in milliseconds since the process began. */
export interface Usage {
  readonly rssMb: number;
  readonly cpuMs: number;
  readonly mainMs: number;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const jiffyMs = 10;
const bootMs = 120_000;

const sayMs = 10_000;
const begun = performance.now();

/** Prints the progress. */
export const say = (text: string): void =>
  console.error(`${((performance.now() - begun) / 1_000).toFixed(0).padStart(5)} s  ${text}`);

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

/** The product with one plugin more, which tells the bench what happens inside. */
export function productWithProbe(folder: string): string {
  const copy = join(folder, 'svc');
  for (const name of [
    'bin',
    'core',
    'config',
    'plugins',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
  ]) {
    cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  cpSync(join(root, 'test', 'bench', 'tunnel-probe'), join(copy, 'plugins', 'tunnel-probe'), {
    recursive: true,
  });
  mkdirSync(join(copy, 'node_modules'));
  const installed = join(root, 'node_modules');
  for (const name of readdirSync(installed).filter((entry) => entry !== '.cache')) {
    symlinkSync(join(installed, name), join(copy, 'node_modules', name));
  }
  return copy;
}

/** The real manager in a process of its own, which may be killed and started again at the same address. */
export class Manager {
  readonly #product: string;
  readonly #dataDir: string;
  readonly #nodeArgs: readonly string[];
  readonly url: string;
  #child: ChildProcess | undefined;
  #said = '';

  constructor(product: string, dataDir: string, port: number, nodeArgs: readonly string[]) {
    this.#product = product;
    this.#dataDir = dataDir;
    this.#nodeArgs = nodeArgs;
    this.url = `http://127.0.0.1:${port}`;
  }

  async start(): Promise<void> {
    const env = {
      ...environment(),
      SVC_HTTP_ADDR: this.url.slice('http://'.length),
      SVC_EDGE_LOCAL: 'false',
      SVC_LOG_LEVEL: 'error',
      SVC_LOG_FORMAT: 'json',
    };
    const args = [
      ...this.#nodeArgs,
      join(this.#product, 'bin', 'svc'),
      'serve',
      '--data',
      this.#dataDir,
    ];
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    const note = (chunk: Buffer): void =>
      void (this.#said = (this.#said + chunk.toString('utf8')).slice(-20_000));
    child.stdout.on('data', note);
    child.stderr.on('data', note);
    for (const deadline = performance.now() + bootMs; ; await pause(20)) {
      if (child.exitCode !== null || performance.now() > deadline) {
        throw new Error(`the manager did not become ready: ${this.#said}`);
      }
      if (existsSync(join(this.#dataDir, 'run.json')) && (await this.#isReady())) {
        return;
      }
    }
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child && child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill(signal);
      await ended;
    }
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  /** Warnings and errors that it wrote. */
  get said(): string {
    return this.#said;
  }

  async ask<T>(path: string, body?: object): Promise<T> {
    const token = readFileSync(join(this.#dataDir, 'keys', 'operator.token'), 'utf8').trim();
    const response = await fetch(this.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    });
    if (!response.ok) {
      throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    }
    return (response.status === 204 ? undefined : await response.json()) as T;
  }

  /**
   * Requests like a person who opens the page now: on a connection of its own, which queues with
   * those of all edges.
   */
  async askAnew(path: string): Promise<void> {
    const token = readFileSync(join(this.#dataDir, 'keys', 'operator.token'), 'utf8').trim();
    const asked = request(this.url + path, {
      agent: false,
      headers: { authorization: `Bearer ${token}` },
      timeout: 60_000,
    }).end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    await once(response.resume(), 'end');
    if (response.statusCode !== 200) {
      throw new Error(`${path} answered ${response.statusCode}`);
    }
  }

  /** The value of an instant query that has one. */
  async value(query: string): Promise<number | undefined> {
    const answer = await this.ask<{ data: { result: { value: [number, string] }[] } }>(
      `/prometheus/api/v1/query?query=${encodeURIComponent(query)}`,
    );
    const [first] = answer.data.result;
    return first && Number(first.value[1]);
  }

  usage(): Usage {
    const pid = this.#child!.pid!;
    const ticks = (file: string): number => {
      const fields = readFileSync(file, 'utf8').split(') ')[1]!.split(' ');
      return (Number(fields[11]) + Number(fields[12])) * jiffyMs;
    };
    const rssKb = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
    return {
      rssMb: Math.round(rssKb / 1_024),
      cpuMs: ticks(`/proc/${pid}/stat`),
      mainMs: ticks(`/proc/${pid}/task/${pid}/stat`),
    };
  }

  /** CPU of each thread by its name and id, in milliseconds. */
  threads(): ReadonlyMap<string, number> {
    const pid = this.#child!.pid!;
    return new Map(
      readdirSync(`/proc/${pid}/task`).map((task) => {
        const text = readFileSync(`/proc/${pid}/task/${task}/stat`, 'utf8');
        const fields = text.slice(text.lastIndexOf(') ') + 2).split(' ');
        return [
          `${text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'))} ${task}`,
          (Number(fields[11]) + Number(fields[12])) * jiffyMs,
        ];
      }),
    );
  }

  async #isReady(): Promise<boolean> {
    try {
      return (await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(5_000) })).ok;
    } catch {
      // Not yet.
      return false;
    }
  }
}

/** `svc edge-sim` in a process of its own. */
export class Simulator {
  readonly #child: ChildProcess;
  #told: Told | undefined;
  #said = '';

  constructor(
    product: string,
    dataDir: string,
    options: Readonly<Record<string, string | number>>,
  ) {
    const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
    this.#child = spawn(
      process.execPath,
      [join(product, 'bin', 'svc'), 'edge-sim', '--json', '--data', dataDir, ...flags],
      {
        env: environment(),
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    createInterface(this.#child.stderr!).on('line', (line) => {
      try {
        this.#told = JSON.parse(line) as Told;
      } catch {
        this.#said += `${line}\n`;
      }
    });
    this.#child.stdout!.on('data', (chunk: Buffer) => (this.#said += chunk.toString('utf8')));
  }

  get told(): Told {
    if (this.#child.exitCode !== null || !this.#told) {
      throw new Error(`the simulator says nothing: ${this.#said}`);
    }
    return this.#told;
  }

  get cpuMs(): number {
    const fields = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) * jiffyMs;
  }

  /** Polls until the report meets a condition. */
  async until(what: string, holds: (told: Told) => boolean, withinMs: number): Promise<Told> {
    let saidAt = performance.now();
    for (const deadline = performance.now() + withinMs; ; await pause(100)) {
      if (this.#told && performance.now() - saidAt > sayMs) {
        saidAt = performance.now();
        const { enrolled, connected, refused, pushes, problem } = this.#told;
        say(
          `${what}: ${enrolled} enrolled, ${connected} connected, ${refused} refused, ${pushes.ok} pushes, ${problem ?? 'no problem'}`,
        );
      }
      if (this.#child.exitCode !== null || performance.now() > deadline) {
        throw new Error(
          `${what} did not happen in time: ${JSON.stringify(this.#told)} ${this.#said}`,
        );
      }
      if (this.#told && holds(this.#told)) {
        say(`${what}: done`);
        return this.#told;
      }
    }
  }

  /** Stops it as a person would; resolves with its summary. */
  async end(): Promise<Told | undefined> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = new Promise((resolve) => this.#child.once('close', resolve));
      const giveUp = setTimeout(() => this.#child.kill('SIGKILL'), 30_000);
      this.#child.kill('SIGINT');
      await ended;
      clearTimeout(giveUp);
    }
    return this.#child.exitCode === 0
      ? (JSON.parse(this.#said.slice(this.#said.indexOf('{'))) as Told)
      : undefined;
  }
}

export interface Stand {
  readonly manager: Manager;
  /** Simulates so many hosts, enrolled with a token that takes no more. */
  simulate(count: number, options: Readonly<Record<string, string | number>>): Promise<Simulator>;
}

/** Both processes, and nothing of them is left afterwards. */
export async function withStand<T>(
  nodeArgs: readonly string[],
  work: (stand: Stand) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-tunnel-'));
  const product = productWithProbe(folder);
  const manager = new Manager(product, join(folder, 'manager'), await freePort(), nodeArgs);
  const simulators: Simulator[] = [];
  try {
    await manager.start();
    return await work({
      manager,
      async simulate(count, options) {
        const { token } = await manager.ask<{ token: string }>('/api/v1/edges/enrolments', {
          max_uses: count,
        });
        const simulator = new Simulator(product, join(folder, 'simulator'), {
          manager: manager.url,
          token,
          count,
          ...options,
        });
        simulators.push(simulator);
        return simulator;
      },
    });
  } finally {
    await Promise.all(simulators.map((simulator) => simulator.end()));
    await manager.end('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

const environment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(SVC_|NODE_OPTIONS$)/.test(name)),
  );
