import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { loadavg } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { counted } from '../counted.ts';
import type { Outcome, Row } from '../exercise.ts';

const child = fileURLToPath(new URL('./chat-child.ts', import.meta.url));
const mostAddedMs = 50;
const mebibyte = 2 ** 20;
/** Max growth of memory from the first round to the last, after garbage collection. */
const mostKept = 10 * mebibyte;

interface Usage extends NodeJS.MemoryUsage {
  readonly cpu: NodeJS.CpuUsage;
}

/**
 * Measures the delay of a token from model to reader, with many concurrent streams, of which some
 * are never read; round after round in the same sessions, so that leaks show as growth.
 */
export async function run({
  streams = 1_000,
  unread = 100,
  tokens = 200,
  rate = 20,
  rounds = 5,
}: Row = {}): Promise<Outcome> {
  const server = fork(child, [String(tokens), String(rate)], {
    execArgv: ['--expose-gc', '--import', 'tsx'],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const [url] = (await once(createInterface({ input: server.stdout! }), 'line')) as [string];
  const agent = new Agent({ keepAlive: false });
  try {
    const sessions: string[] = [];
    for (let at = 0; at < Number(streams); at++) {
      sessions.push(await openSession(url, `${at + 1}`));
    }
    const before = await usageOf(server, 'collected');
    const late: number[] = [];
    const began = performance.now();
    // The readers are one process as well: what it is behind by itself is in every figure.
    const behind = monitorEventLoopDelay({ resolution: 5 });
    behind.enable();
    const after: Usage[] = [];
    let kept: Usage | undefined;
    for (const _ of counted(Number(rounds), 'rounds')) {
      const reading = sessions.map((session, at) =>
        follow(url, agent, session, `${at + 1}`, at >= Number(unread), late),
      );
      await Promise.all(reading);
      after.push(await usageOf(server, 'usage'));
      kept ??= await usageOf(server, 'collected');
    }
    const tookMs = performance.now() - began;
    const end = await usageOf(server, 'collected');
    late.sort((a, b) => a - b);
    const at = (share: number): number =>
      Math.round((late[Math.floor(late.length * share)] ?? Number.NaN) * 10) / 10;
    const cpu =
      (after.at(-1)!.cpu.user + after.at(-1)!.cpu.system - before.cpu.user - before.cpu.system) /
      1_000;
    const said = (Number(streams) - Number(unread)) * Number(tokens) * Number(rounds);
    return {
      ok:
        at(0.99) < mostAddedMs && late.length === said && end.heapUsed < kept!.heapUsed + mostKept,
      streams: Number(streams),
      'never read': Number(unread),
      'tokens said to readers': said,
      'tokens read': late.length,
      'later, p50 ms': at(0.5),
      'later, p99 ms': at(0.99),
      'slowest ms': at(0.9999),
      'readers behind by themselves, p99 ms': Math.round(behind.percentile(99) / 1e5) / 10,
      'load of the machine': Math.round(loadavg()[0]!),
      'goal, p99 ms': mostAddedMs,
      'CPU, % of a core': Math.round((cpu / tookMs) * 100),
      'kept before, MiB': mebibytes(before.heapUsed),
      'kept after the first round, MiB': mebibytes(kept!.heapUsed),
      'kept after the last round, MiB': mebibytes(end.heapUsed),
      memory: after.map(({ rss, heapTotal, heapUsed, external }, round) => ({
        'after round': round + 1,
        'rss, MiB': mebibytes(rss),
        'heap, MiB': mebibytes(heapTotal),
        'in use, MiB': mebibytes(heapUsed),
        'outside, MiB': mebibytes(external),
      })),
    };
  } finally {
    agent.destroy();
    server.kill('SIGKILL');
  }
}

const mebibytes = (bytes: number): number => Math.round(bytes / mebibyte);

async function usageOf(server: ChildProcess, asked: 'usage' | 'collected'): Promise<Usage> {
  server.send(asked);
  return ((await once(server, 'message')) as [Usage])[0];
}

async function openSession(url: string, who: string): Promise<string> {
  const answer = await fetch(`${url}/api/v1/chat/sessions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${who}`, 'content-type': 'application/json' },
    body: '{}',
  });
  return ((await answer.json()) as { id: string }).id;
}

/** Reads one reply to its end, or only its head. */
function follow(
  url: string,
  agent: Agent,
  session: string,
  who: string,
  isRead: boolean,
  late: number[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/api/v1/chat/sessions/${session}/messages/stream`, {
      method: 'POST',
      agent,
      // One address may hold a few hundred connections.
      localAddress: `127.0.${1 + (Number(who) % 100)}.1`,
      headers: { authorization: `Bearer ${who}`, 'content-type': 'application/json' },
    });
    asked.on('error', reject);
    asked.on('response', (response) => {
      if (response.statusCode !== 200) {
        response
          .setEncoding('utf8')
          .on('data', (said: string) =>
            reject(new Error(`a message was answered with ${response.statusCode}: ${said}`)),
          );
        return;
      }
      if (!isRead) {
        response.pause();
        resolve();
        return;
      }
      let rest = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        const now = performance.timeOrigin + performance.now();
        rest += piece;
        for (const [, said] of rest.matchAll(/(\d{13}\.?\d*) /g)) {
          late.push(now - Number(said));
        }
        rest = rest.slice(rest.lastIndexOf('\n') + 1);
      });
      response.on('end', resolve);
    });
    asked.end(JSON.stringify({ content: 'Count.' }));
  });
}
