import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

import { tunnelProtocol } from 'svc/tunnel';

import { say } from '../bench/tunnel-stand.ts';
import type { Outcome, Row } from '../exercise.ts';
import { startWholeHouse } from '../whole-house.ts';

/** Time for which one that connects keeps a silent connection. */
const heldMs = 2_000;
const askEveryMs = 100;
const dialMs = 60_000;

const asking = `
  const { parentPort, workerData: { url, token, askEveryMs } } = require('node:worker_threads');
  (async () => {
    for (;;) {
      const began = performance.now();
      const answer = await fetch(url, { headers: { authorization: 'Bearer ' + token, connection: 'close' } }).catch(() => undefined);
      await answer?.arrayBuffer();
      parentPort.postMessage({ ms: performance.now() - began, status: answer?.status ?? 0 });
      await new Promise((resolve) => setTimeout(resolve, askEveryMs));
    }
  })();`;

type End = 'let in' | 'told when to come back' | 'told nothing' | 'reset';

/**
 * Simulates a fleet behind one address that obeys nothing: refused edges reconnect immediately,
 * admitted ones are silent. None is cut without an answer, and people from the same address are
 * served meanwhile. Judges the answers; speed is only reported.
 */
export async function run({ edges = 10_000, seconds = 60 }: Row = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-storm-'));
  const house = await startWholeHouse({ dataDir: join(folder, 'data') });
  const ends = new Map<End, number>();
  const waits: number[] = [];
  /** Failed requests of people: a status, or 0 if the connection broke. */
  const unserved: number[] = [];
  try {
    const until = performance.now() + Number(seconds) * 1_000;
    const fleet = Array.from({ length: Number(edges) }, async (_, n) => {
      // As many as a machine can begin at once; all of them are there after a few seconds.
      await pause(n / 2);
      while (performance.now() < until) {
        const end = await dial(house.url);
        ends.set(end, (ends.get(end) ?? 0) + 1);
      }
    });
    // In a thread of its own: what a busy fleet makes it wait for here is not the manager's doing.
    const people = new Worker(asking, {
      eval: true,
      workerData: { url: `${house.url}/api/v1/devices`, token: house.token, askEveryMs },
    });
    people.on('message', ({ ms, status }: { ms: number; status: number }) => {
      waits.push(ms);
      unserved.push(...(status === 200 ? [] : [status]));
    });
    await Promise.all(fleet);
    await people.terminate();
    say('the storm is over');
  } finally {
    await house.end('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
  const sorted = waits.toSorted((a, b) => a - b);
  const lines = house
    .output()
    .split('\n')
    .filter((line) => line.includes('http.request_unserved')).length;
  return {
    ok:
      !ends.has('reset') &&
      !ends.has('told nothing') &&
      unserved.length === 0 &&
      lines <= Number(seconds) * 2 + 30,
    edges,
    ...Object.fromEntries([...ends].map(([end, count]) => [end, count])),
    'people asked': waits.length,
    'people not served': unserved.length === 0 ? 0 : unserved.join(' '),
    'p50, ms': Math.round(sorted[sorted.length >> 1] ?? 0),
    'p99, ms': Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? 0),
    'lines of the log': lines,
  };
}

/** One attempt at the tunnel, on a connection of its own. */
function dial(url: string): Promise<End> {
  return new Promise((resolve) => {
    const headers = {
      connection: 'upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      'sec-websocket-protocol': tunnelProtocol,
    };
    const asked = request(`${url}/internal/tunnel`, { headers, agent: false, timeout: dialMs });
    asked.once('upgrade', (_response, socket) => {
      socket.on('error', () => undefined);
      setTimeout(() => {
        socket.destroy();
        resolve('let in');
      }, heldMs);
    });
    asked.once('response', (response) => {
      response.resume();
      response.once('end', () =>
        resolve(
          response.statusCode === 503 && response.headers['retry-after'] !== undefined
            ? 'told when to come back'
            : 'told nothing',
        ),
      );
      response.once('error', () => resolve('reset'));
    });
    asked.once('timeout', () => asked.destroy());
    asked.once('error', () => resolve('reset'));
    asked.end();
  });
}
