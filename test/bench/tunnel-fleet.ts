import { connect, openSweeper, sweepMs, type TunnelSession } from 'svc/tunnel';
import { accessKeyOf, bareClock, bareIds, bareLog, keysOfEdge } from './tunnel-edges.ts';

export interface FleetFigures {
  readonly sessions: number;
  readonly rssMb: number;
}

const [port, edges, perSecond] = process.argv.slice(2).map(Number) as [number, number, number];
const snapshotMs = 15_000;
const sweeper = openSweeper(bareClock, bareLog.fail);
setInterval(() => sweeper.tick(), sweepMs);

/** About as large as the real one. */
const snapshot = (edge: number): object => ({
  sampled_at: bareClock.now(),
  metrics: Object.fromEntries(
    Array.from({ length: 13 }, (_, at) => [`node_some_canonical_metric_${at}`, edge * 1.37 + at]),
  ),
});

const handlersOf = (edge: number) => ({
  methods: new Map([['host_snapshot', { handle: () => snapshot(edge) }]]),
});
let sessions = 0;

async function come(edge: number): Promise<void> {
  const accessKey = accessKeyOf(edge);
  const { session } = await connect({
    dial: { url: `ws://127.0.0.1:${port}/internal/tunnel`, timeoutMs: 30_000 },
    handshake: {
      sweeper,
      ids: bareIds,
      accessKey,
      secretKey: keysOfEdge(accessKey).secret_key,
      hello: {
        agent_id: `agent-${edge}`,
        boot_id: 'boot-1',
        agent_version: '0.1.0',
        caps: ['hostmetrics'],
        purpose: 'serve',
      },
    },
    session: { log: bareLog, random: Math.random, handlers: handlersOf(edge) },
  });
  sessions += 1;
  report(session, edge, Math.random() * snapshotMs);
  void session.closed.then(() => (sessions -= 1));
}

function report(session: TunnelSession, edge: number, inMs: number): void {
  sweeper.after(inMs, () => {
    if (session.live) {
      session.emit('host_snapshot', snapshot(edge));
      report(session, edge, snapshotMs);
    }
  });
}

async function ramp(): Promise<void> {
  const from = performance.now();
  for (let edge = 0; edge < edges; edge += 1) {
    const wait = from + (edge / perSecond) * 1_000 - performance.now();
    if (wait > 5) {
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
    come(edge).catch(bareLog.fail);
  }
}

process.on('message', () =>
  process.send!({
    sessions,
    rssMb: Math.round(process.memoryUsage.rss() / 2 ** 20),
  } satisfies FleetFigures),
);
process.on('disconnect', () => process.exit());
process.send!({ ready: true });
void ramp();
