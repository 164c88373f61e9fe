import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

import type { Outcome, Row } from '../exercise.ts';

const kinds = ['bare', 'pipeline'] as const;

interface Reading {
  readonly requests: number;
  readonly cpuMicros: number;
  readonly rssMb: number;
}

interface Round {
  readonly cpuPerRequest: number;
  readonly perSecond: number;
}

/** The same list handler on bare node:http and through the whole pipeline. Both servers live through the same run and take turns; what counts is their CPU time per request, which neighbours cannot spoil. */
export async function run({
  seconds = 3,
  rounds = 4,
  connections = 32,
  limit = 1.4,
}: Row = {}): Promise<Outcome> {
  const servers = new Map(
    await Promise.all(kinds.map(async (kind) => [kind, await start(kind)] as const)),
  );
  const results = new Map(kinds.map((kind) => [kind, [] as Round[]]));
  try {
    for (let round = 0; round <= Number(rounds); round += 1) {
      for (const kind of kinds) {
        const measured = await measure(servers.get(kind)!, Number(seconds), Number(connections));
        // The first turn only warms up.
        if (round > 0) {
          results.get(kind)!.push(measured);
        }
      }
    }
    const figures = await Promise.all(
      kinds.map(async (kind) => ({
        server: kind,
        'CPU µs per request': Math.round(
          median(results.get(kind)!.map((round) => round.cpuPerRequest)),
        ),
        'requests per second': Math.round(
          median(results.get(kind)!.map((round) => round.perSecond)),
        ),
        'RSS MB': (await reading(servers.get(kind)!.child)).rssMb,
      })),
    );
    const [bare, pipeline] = kinds.map((kind) =>
      median(results.get(kind)!.map((round) => round.cpuPerRequest)),
    );
    const ratio = pipeline! / bare!;
    return {
      ok: ratio <= Number(limit),
      'pipeline / bare': ratio,
      'at most': Number(limit),
      servers: figures,
    };
  } finally {
    for (const { child } of servers.values()) {
      child.disconnect();
    }
  }
}

interface Server {
  readonly child: ChildProcess;
  readonly port: number;
}

async function start(kind: (typeof kinds)[number]): Promise<Server> {
  const command = onCore(0, [
    process.execPath,
    '--import',
    'tsx',
    join(import.meta.dirname, 'http-server.ts'),
    kind,
  ]);
  const child = spawn('env', command, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [{ port }] = (await once(child, 'message', { signal: AbortSignal.timeout(30_000) })) as [
    { port: number },
  ];
  return { child, port };
}

async function measure(server: Server, seconds: number, connections: number): Promise<Round> {
  const before = await reading(server.child);
  await load(`http://127.0.0.1:${server.port}/api/v1/devices?limit=50`, seconds, connections);
  const after = await reading(server.child);
  const requests = after.requests - before.requests;
  return {
    cpuPerRequest: (after.cpuMicros - before.cpuMicros) / requests,
    perSecond: requests / seconds,
  };
}

async function reading(child: ChildProcess): Promise<Reading> {
  const answer = once(child, 'message', { signal: AbortSignal.timeout(10_000) });
  child.send('read');
  const [figures] = (await answer) as [Reading];
  return figures;
}

function load(url: string, seconds: number, connections: number): Promise<void> {
  return installed('wrk')
    ? loadByWrk(url, seconds, connections)
    : loadByNode(url, seconds, connections);
}

async function loadByWrk(url: string, seconds: number, connections: number): Promise<void> {
  const command = onCore(1, [
    'wrk',
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '-H',
    'Authorization: Bearer bench-token',
    url,
  ]);
  const wrk = spawn('env', command, { stdio: ['ignore', 'pipe', 'inherit'] });
  let report = '';
  wrk.stdout.on('data', (chunk: Buffer) => (report += chunk.toString()));
  const [code] = (await once(wrk, 'close')) as [number];
  if (code !== 0 || /Non-2xx/.test(report)) {
    throw new Error(`the load generator failed:\n${report}`);
  }
}

async function loadByNode(url: string, seconds: number, connections: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const end = performance.now() + seconds * 1_000;
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      get(url, { agent, headers: { authorization: 'Bearer bench-token' } }, (res) => {
        res.resume().once('end', resolve);
      }).once('error', reject);
    });
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < end) {
        await one();
      }
    }),
  );
  agent.destroy();
}

/** Server and load on a core of their own, where there are two. */
const onCore = (core: number, command: readonly string[]): readonly string[] =>
  availableParallelism() > 1 && installed('taskset')
    ? ['taskset', '-c', String(core), ...command]
    : command;

const installed = (command: string): boolean =>
  spawnSync('sh', ['-c', `command -v ${command}`]).status === 0;

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
