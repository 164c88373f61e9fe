import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

import { messageOf } from 'svc/sdk';

/**
 * Order to the prober of `npm run bench front`: a separate process that does nothing else, so that
 * it never delays an answer that has arrived.
 */

export interface ProbeOrder {
  readonly url: string;
  readonly token: string;
  readonly forMs: number;
}

export interface Probed {
  readonly p50: number;
  readonly p99: number;
  readonly slowest: number;
  readonly count: number;
  /** Time in which this process was ready to run and had no core. */
  readonly waitedMs: number;
}

const cheap = [
  '/healthz',
  '/api/v1/version',
  '/api/v1/plugins/monitor',
  '/api/v1/observability/dashboards?limit=20',
  '/api/v1/users?limit=20',
];

/** Asks cheap routes a hundred times a second on a few connections. */
async function probe({ url, token, forMs }: ProbeOrder): Promise<Probed> {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const took: number[] = [];
  const open: Promise<unknown>[] = [];
  const failures: unknown[] = [];
  const waited = waitedMs();
  const end = performance.now() + forMs;
  for (let number = 0; performance.now() < end; number++) {
    const path = cheap[number % cheap.length]!;
    const began = performance.now();
    open.push(
      get(agent, url + path, token).then(
        () => took.push(performance.now() - began),
        (error: unknown) => failures.push(error),
      ),
    );
    await pause(10);
  }
  await Promise.all(open);
  agent.destroy();
  if (failures.length > 0) {
    throw new Error(
      `${failures.length} of ${open.length} cheap requests failed: ${messageOf(failures[0])}`,
    );
  }
  took.sort((a, b) => a - b);
  const at = (share: number): number =>
    took[Math.min(took.length - 1, Math.floor(took.length * share))]!;
  return {
    p50: at(0.5),
    p99: at(0.99),
    slowest: at(1),
    count: took.length,
    waitedMs: waitedMs() - waited,
  };
}

function get(agent: Agent, url: string, token: string): Promise<void> {
  return new Promise((resolve, reject) => {
    request(url, { agent, headers: { authorization: `Bearer ${token}` } }, (res) => {
      if (res.statusCode !== 200) {
        reject(new Error(`${url} answered ${res.statusCode}`));
      }
      res.resume().once('end', resolve);
    })
      .once('error', reject)
      .end();
  });
}

const waitedMs = (): number =>
  Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1e6;

process.on('message', (order) => {
  probe(order as ProbeOrder).then(
    (probed) => process.send!({ t: 'probed', ...probed }),
    (error: unknown) => process.send!({ t: messageOf(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
