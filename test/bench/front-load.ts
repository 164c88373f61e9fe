import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

import { history, type Parcel, parcels, type Rates } from './front-bodies.ts';

/** The senders of `npm run bench front`, in a process of their own: each signal at its pace, whatever the server does. */

export interface LoadOrder {
  readonly url: string;
  readonly seconds: number;
  readonly devices: number;
  readonly rates: Rates;
}

export interface Sent {
  readonly signal: Parcel['signal'];
  /** Samples, lines or spans a second, as acknowledged. */
  readonly acknowledged: number;
  readonly offered: number;
  readonly pushes: number;
  /** Pushes that were told to come back, and did. */
  readonly deferred: number;
  readonly failed: number;
  readonly 'p50 ms': number;
  readonly 'p99 ms': number;
}

/** A sender of one signal does not wait for those of another. */
const agents = { metrics: anAgent(), logs: anAgent(), traces: anAgent() };

async function serve({ url, seconds, devices, rates }: LoadOrder): Promise<void> {
  for (const parcel of history(devices, Date.now())) {
    await deliver(url, parcel);
  }
  // A server that runs knows its series, and its code is compiled.
  const first = parcels(rates, 1, Date.now() - 60_000);
  for (const parcel of [...first.metrics, ...first.logs, ...first.traces]) {
    await deliver(url, parcel);
  }
  const made = parcels(rates, seconds, Date.now());
  process.send!({ t: 'ready' });
  await new Promise((resolve) => process.once('message', resolve));
  const cpu = process.cpuUsage();
  const sent = await Promise.all(
    (['metrics', 'logs', 'traces'] as const).map((signal) => send(url, made[signal], seconds)),
  );
  const { user, system } = process.cpuUsage(cpu);
  process.send!({ t: 'sent', sent, cpuSeconds: (user + system) / 1e6 });
}

async function send(url: string, list: readonly Parcel[], seconds: number): Promise<Sent> {
  const began = performance.now();
  const took: number[] = [];
  let acknowledged = 0;
  let deferred = 0;
  let failed = 0;
  await Promise.all(
    list.map(async (parcel, at) => {
      await pause((at / list.length) * seconds * 1_000);
      const from = performance.now();
      try {
        deferred += await deliver(url, parcel);
        acknowledged += parcel.count;
      } catch (error) {
        failed += 1;
        if (failed === 1) {
          console.error(String(error));
        }
      }
      took.push(performance.now() - from);
    }),
  );
  const lasted = (performance.now() - began) / 1_000;
  const offered = list.reduce((sum, { count }) => sum + count, 0) / seconds;
  took.sort((a, b) => a - b);
  const at = (share: number): number => Math.round(took[Math.floor(took.length * share)] ?? 0);
  return {
    signal: list[0]!.signal,
    acknowledged: Math.round(acknowledged / lasted),
    offered: Math.round(offered),
    pushes: list.length,
    deferred,
    failed,
    'p50 ms': at(0.5),
    'p99 ms': at(0.99),
  };
}

/** Pushes until it is acknowledged; resolves with the number of retries requested. */
async function deliver(url: string, parcel: Parcel): Promise<number> {
  for (let tries = 0; ; tries++) {
    const { status, retryAfter, text } = await post(url, parcel);
    if (status < 300) {
      return tries;
    }
    if ((status !== 429 && status !== 503) || tries > 60) {
      throw new Error(`${parcel.path} answered ${status}: ${text.slice(0, 300)}`);
    }
    await pause(retryAfter * 1_000);
  }
}

function post(
  url: string,
  { signal, path, headers, body }: Parcel,
): Promise<{ status: number; retryAfter: number; text: string }> {
  return new Promise((resolve, reject) => {
    const req = request(
      url + path,
      {
        method: 'POST',
        agent: agents[signal],
        headers: { ...headers, 'content-length': body.length },
      },
      (res) => {
        let text = '';
        res.on('data', (chunk) => (text += String(chunk)));
        res.on('end', () =>
          resolve({
            status: res.statusCode!,
            retryAfter: Number(res.headers['retry-after'] ?? 1),
            text,
          }),
        );
        res.on('error', reject);
      },
    );
    req.on('error', reject).end(body);
  });
}

function anAgent(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 16 });
}

process.once('message', (order) => void serve(order as LoadOrder));
process.on('disconnect', () => process.exit(0));
