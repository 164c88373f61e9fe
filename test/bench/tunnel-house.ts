import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';

import {
  type Credentials,
  maxMessageBytes,
  openSession,
  openSweeper,
  serverHandshake,
  sweepMs,
  tunnelProtocol,
  type TunnelSession,
} from 'svc/tunnel';
import { type WebSocket, WebSocketServer } from 'ws';

import { WebSocketTransport } from '../../plugins/lib/tunnel/message/web-socket.ts';
import { bareClock, bareIds, bareLog, keysOfEdge } from './tunnel-edges.ts';

export interface ManagerFigures {
  readonly sessions: number;
  readonly rssMb: number;
  readonly cpuMs: number;
  readonly events: number;
  /** Event loop lag since the last query. */
  readonly loopP99Ms: number;
}

export interface Sample {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly failed: number;
}

export interface Broadcast {
  readonly ms: number;
  readonly failed: number;
}

const sessions = new Set<TunnelSession>();
const sweeper = openSweeper(bareClock, bareLog.fail);
setInterval(() => sweeper.tick(), sweepMs);
const delay = monitorEventLoopDelay({ resolution: 10 });
delay.enable();
let events = 0;

const handlers = { events: new Map([['host_snapshot', () => void (events += 1)]]) };
const server = createServer();
const sockets = new WebSocketServer({
  noServer: true,
  perMessageDeflate: false,
  maxPayload: maxMessageBytes,
  clientTracking: false,
  handleProtocols: () => tunnelProtocol,
});

async function greet(ws: WebSocket): Promise<void> {
  const transport = new WebSocketTransport(ws);
  await serverHandshake<Credentials>(transport, {
    sweeper,
    ids: bareIds,
    find: (accessKey) => [keysOfEdge(accessKey)],
    admit: () => ({}),
  });
  const session = openSession(transport, {
    side: 'manager',
    sweeper,
    log: bareLog,
    random: Math.random,
    handlers,
  });
  sessions.add(session);
  await session.closed;
  sessions.delete(session);
}

server.on('upgrade', (req, socket, head) => {
  sockets.handleUpgrade(req, socket, head, (ws) => {
    ws.on('error', bareLog.fail);
    greet(ws).catch(bareLog.fail);
  });
});

async function timed(session: TunnelSession): Promise<number | undefined> {
  const from = performance.now();
  try {
    await session.call('host_snapshot', {}, { timeoutMs: 10_000 });
    return performance.now() - from;
  } catch {
    return undefined; // Counted as failed by whoever asked.
  }
}

async function sample(calls: number): Promise<Sample> {
  const all = [...sessions];
  const times: (number | undefined)[] = [];
  const lane = async (): Promise<void> => {
    while (times.length < calls) {
      times.push(await timed(all[Math.floor(Math.random() * all.length)]!));
    }
  };
  await Promise.all(Array.from({ length: 8 }, lane));
  const sorted = times.filter((ms) => ms !== undefined).sort((a, b) => a - b);
  const at = (part: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Infinity;
  return { p50Ms: at(0.5), p99Ms: at(0.99), failed: times.length - sorted.length };
}

async function all(): Promise<Broadcast> {
  const from = performance.now();
  const times = await Promise.all([...sessions].map(timed));
  return { ms: performance.now() - from, failed: times.filter((ms) => ms === undefined).length };
}

function figures(): ManagerFigures {
  const { user, system } = process.cpuUsage();
  const loopP99Ms = delay.percentile(99) / 1e6 - 10;
  delay.reset();
  return {
    sessions: sessions.size,
    rssMb: Math.round(process.memoryUsage.rss() / 2 ** 20),
    cpuMs: (user + system) / 1_000,
    events,
    loopP99Ms,
  };
}

process.on('message', (what: string) => {
  const [verb, count] = what.split(' ');
  const answer =
    verb === 'sample' ? sample(Number(count)) : verb === 'all' ? all() : Promise.resolve(figures());
  void answer.then((told) => process.send!(told));
});
process.on('disconnect', () => process.exit());
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () =>
  process.send!({ port: (server.address() as AddressInfo).port }),
);
