import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { loadavg } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { Outcome, Row } from '../exercise.ts';

const child = fileURLToPath(new URL('./chat-child.ts', import.meta.url));
const mostAddedMs = 50;
const mebibyte = 2 ** 20;

interface Usage {
  readonly rss: number;
  readonly cpu: { readonly user: number; readonly system: number };
}

/** How much later a token reaches its reader than the model has said it, with many streams at once, of which some are never read. */
export async function run({ streams = 1_000, unread = 100, tokens = 200, rate = 20 }: Row = {}): Promise<Outcome> {
  const server = fork(child, [String(tokens), String(rate)], { execArgv: ['--import', 'tsx'], stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const [url] = (await once(createInterface({ input: server.stdout! }), 'line')) as [string];
  const agent = new Agent({ keepAlive: false });
  try {
    const sessions: string[] = [];
    for (let at = 0; at < Number(streams); at++) {
      sessions.push(await openSession(url, `${at + 1}`));
    }
    const before = await usageOf(server);
    const late: number[] = [];
    const began = performance.now();
    // The readers are one process as well: what it is behind by itself is in every figure.
    const behind = monitorEventLoopDelay({ resolution: 5 });
    behind.enable();
    const reading = sessions.map((session, at) => follow(url, agent, session, `${at + 1}`, at >= Number(unread), late));
    await pause(3_000);
    const middle = await usageOf(server);
    await Promise.all(reading.slice(Number(unread)));
    const after = await usageOf(server);
    late.sort((a, b) => a - b);
    const at = (share: number): number => Math.round((late[Math.floor(late.length * share)] ?? Number.NaN) * 10) / 10;
    const cpu = (after.cpu.user + after.cpu.system - before.cpu.user - before.cpu.system) / 1_000;
    return {
      ok: at(0.99) < mostAddedMs,
      streams: Number(streams),
      'never read': Number(unread),
      'tokens read': late.length,
      'later, p50 ms': at(0.5),
      'later, p99 ms': at(0.99),
      'slowest ms': at(0.9999),
      'readers behind by themselves, p99 ms': Math.round(behind.percentile(99) / 1e5) / 10,
      'load of the machine': Math.round(loadavg()[0]!),
      'goal, p99 ms': mostAddedMs,
      'CPU, % of a core': Math.round((cpu / (performance.now() - began)) * 100),
      'memory after 3 s, MiB': Math.round(middle.rss / mebibyte),
      'memory at the end, MiB': Math.round(after.rss / mebibyte),
    };
  } finally {
    agent.destroy();
    server.kill('SIGKILL');
  }
}

async function usageOf(server: ChildProcess): Promise<Usage> {
  server.send('usage');
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
function follow(url: string, agent: Agent, session: string, who: string, isRead: boolean, late: number[]): Promise<void> {
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
