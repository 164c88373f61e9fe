import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { databaseOf } from './kit/database.ts';
import { programOf } from './program-of.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

export interface WholeHouseOptions {
  readonly dataDir: string;
  /** A product folder; what stands in the checkout otherwise, as `npm start` serves it. */
  readonly product?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * Time limit of a start; three minutes by default, since a machine may have ten times more to do
   * than it can.
   */
  readonly startMs?: number;
  /** Options of node itself. */
  readonly execArgv?: readonly string[];
}

/** The product with every shipped plugin, as a process of its own. */
export interface WholeHouse {
  readonly url: string;
  /** The operator's: may do everything. */
  readonly token: string;
  readonly pid: number;
  /** Time from the start of the process until /readyz succeeded. */
  readonly readyMs: number;
  output(): string;
  /** Requests as the operator, unless `init` brings an Authorization header of its own. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Resolves when the process is gone. */
  end(signal?: NodeJS.Signals): Promise<void>;
}

/** Edge `number` of the fixture `edge-keeper`, as a sender says it. */
export const edge = (number: number): string =>
  `Basic ${Buffer.from(`svc_ak_${number}:svc_sk_${number}`).toString('base64')}`;

/** A product folder at `folder`: all shipped plugins, but a stand-in for edges. */
export function productWithEdges(folder: string): string {
  for (const part of ['plugins', 'config']) {
    cpSync(join(root, part), join(folder, part), { recursive: true });
  }
  rmSync(join(folder, 'plugins/edge'), { recursive: true });
  cpSync(join(root, 'test/fixtures/edge-keeper'), join(folder, 'plugins/edge-keeper'), {
    recursive: true,
  });
  return folder;
}

export async function startWholeHouse({
  dataDir,
  product,
  environment,
  execArgv = [],
  startMs = 180_000,
}: WholeHouseOptions): Promise<WholeHouse> {
  const began = performance.now();
  const program =
    product === undefined
      ? [join(root, 'bin/svc'), 'serve']
      : [...programOf(join(root, 'test/boot/serving-child.ts')), product];
  // Whoever is killed leaves the agent beside it, which is no part of what is measured.
  const alone = product === undefined ? { SVC_EDGE_LOCAL: 'false' } : {};
  // What a process that was killed has left behind.
  rmSync(join(dataDir, 'run.json'), { force: true });
  const child = spawn(process.execPath, [...execArgv, ...program], {
    cwd: root,
    env: {
      PATH: process.env['PATH'],
      SVC_DATA_DIR: dataDir,
      SVC_HTTP_ADDR: '127.0.0.1:0',
      SVC_LOG_LEVEL: 'warn',
      ...(await databaseOf(dataDir)),
      ...alone,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => (output = (output + String(chunk)).slice(-100_000)));
  }
  const gone = once(child, 'exit');
  const end = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
    child.kill(signal);
    await gone;
  };
  try {
    for (const deadline = began + startMs; ; await pause(5)) {
      if (child.exitCode !== null || performance.now() > deadline) {
        throw new Error(`svc did not become ready: ${output}`);
      }
      const reached = await reachable(dataDir);
      if (reached) {
        const { url, token } = reached;
        return {
          url,
          token,
          pid: child.pid!,
          readyMs: performance.now() - began,
          output: () => output,
          fetch: fetcher(url, token),
          end,
        };
      }
    }
  } catch (error) {
    await end('SIGKILL');
    throw error;
  }
}

async function reachable(dataDir: string): Promise<{ url: string; token: string } | undefined> {
  if (!existsSync(join(dataDir, 'run.json'))) {
    return undefined;
  }
  const { url } = JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as { url: string };
  const { ok } = await fetch(`${url}/readyz`).catch(() => ({ ok: false }));
  return ok
    ? { url, token: readFileSync(join(dataDir, 'keys/operator.token'), 'utf8').trim() }
    : undefined;
}

const fetcher =
  (url: string, token: string) =>
  (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (!headers.has('authorization')) {
      headers.set('authorization', `Bearer ${token}`);
    }
    return fetch(url + path, { ...init, headers });
  };

/** Returns the CPU time of all threads of a process so far. */
export const cpuSeconds = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + threadCpuSeconds(pid, thread), 0);

/** Returns the CPU time of one thread; the main one has the number of its process. */
export function threadCpuSeconds(pid: number, thread: string | number): number {
  const fields = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')
    .split(') ')[1]!
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
