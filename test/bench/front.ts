import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import type { Outcome } from '../exercise.ts';
import {
  productWithEdges,
  startWholeHouse,
  threadCpuSeconds,
  type WholeHouse,
} from '../whole-house.ts';
import type { LoadOrder, Sent } from './front-load.ts';
import type { Probed, ProbeOrder } from './front-probe.ts';

const seeded = ['overview', 'device', 'manager', 'alerts'];

/**
 * Measures the latency of cheap routes while everything is pushed at once and the heaviest
 * dashboard is open. The server, the senders and the prober are three processes. On a machine
 * without idle cores the wall time of an answer is that of waiting for a core; the lag of the
 * server's own event loop, and the time that its main thread and the prober waited for a core, tell
 * the two apart.
 */
export async function run({
  seconds = 15,
  samples = 200_000,
  lines = 20_000,
  spans = 10_000,
  devices = 100,
  profile = '',
}: {
  readonly seconds?: number;
  readonly samples?: number;
  readonly lines?: number;
  readonly spans?: number;
  readonly devices?: number;
  /** Folder for CPU profiles of the server. */
  readonly profile?: string;
} = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-front-'));
  const execArgv = profile === '' ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
  const house = await startWholeHouse({
    dataDir: join(folder, 'data'),
    product: productWithEdges(join(folder, 'product')),
    execArgv,
  });
  const load = helper('front-load.ts');
  // In earnest they are elsewhere: they must not take a core from whoever answers. That all of it arrives is looked at below.
  setPriority(load.pid!, sendersStandBack);
  const asking = helper('front-probe.ts');
  const probe = (forMs: number): Promise<Probed> => {
    asking.send({ url: house.url, token: house.token, forMs } satisfies ProbeOrder);
    return told(asking, 'probed', forMs + 60_000);
  };
  try {
    load.send({
      url: house.url,
      seconds,
      devices,
      rates: { samples, lines, spans },
    } satisfies LoadOrder);
    await told(load, 'ready', 300_000);
    const heaviest = await heaviestOf(house);
    const idle = await probe(2_000);
    const before = cpuOf(house.pid);
    const mainWaited = waitedMs(house.pid);
    const boxBefore = boxCpu();
    const began = performance.now();
    load.send('go');
    const sending = told<{ sent: readonly Sent[]; cpuSeconds: number }>(
      load,
      'sent',
      (seconds + 120) * 1_000,
    );
    const watching = new AbortController();
    const [busy, loop, polls, { sent, cpuSeconds: senders }] = await Promise.all([
      probe(seconds * 1_000),
      watchLoop(house, seconds),
      openDashboard(house, heaviest.path, watching.signal),
      sending.finally(() => watching.abort()),
    ]);
    const lasted = (performance.now() - began) / 1_000;
    const after = cpuOf(house.pid);
    const waited = waitedMs(house.pid) - mainWaited;
    const box = boxCpu() - boxBefore;
    const all = after.all - before.all;
    const threads = [...after.threads]
      .map(([thread, used]) => ({ thread, seconds: used - (before.threads.get(thread) ?? 0) }))
      .sort((a, b) => b.seconds - a.seconds)
      .slice(0, 6)
      .map((row) => ({
        thread: row.thread === house.pid ? 'main' : String(row.thread),
        'CPU seconds': round(row.seconds),
        cores: round(row.seconds / lasted),
      }));
    const kept = sent.every(
      ({ acknowledged, offered, failed }) => failed === 0 && acknowledged > offered * 0.8,
    );
    return {
      ok: kept && busy.p99 < 50,
      seconds: Math.round(lasted * 10) / 10,
      'API p50, ms': round(busy.p50),
      'API p99, ms (goal 50)': round(busy.p99),
      'API slowest, ms': round(busy.slowest),
      'API p99 without load, ms': round(idle.p99),
      'API answers': busy.count,
      'main thread waited for a core, ms a second': round(waited / lasted),
      'whoever asks waited for one, ms a second': round(busy.waitedMs / seconds),
      'event loop late, p99 of each second: median, ms': loop.median,
      'the same, worst second, ms': loop.worst,
      'CPU of the server, cores': round(all / lasted),
      'CPU of the senders, cores': round(senders / lasted),
      'CPU of others on this machine, cores': round((box - all - senders) / lasted),
      'load average': round(loadavg()[0]!),
      'RSS at the end, MB': rssMb(house.pid),
      'heaviest dashboard': `${heaviest.path.split('/').at(-1)}: ${heaviest.ms} ms, ${heaviest.kb} kB without load`,
      'dashboards drawn': polls.length,
      'dashboard p50 under load, ms': at(polls, 0.5),
      'dashboard slowest, ms': at(polls, 1),
      signals: sent.map((row) => ({ ...row })),
      threads,
    };
  } finally {
    load.disconnect();
    asking.disconnect();
    await house.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Niceness of senders, below the server's request thread. */
const sendersStandBack = 10;

/** Another process of this bench. */
const helper = (file: string): ChildProcess =>
  spawn(process.execPath, ['--import', 'tsx', join(import.meta.dirname, file)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });

async function told<T>(child: ChildProcess, kind: string, withinMs: number): Promise<T> {
  const [message] = (await once(child, 'message', { signal: AbortSignal.timeout(withinMs) })) as [
    T & { t: string },
  ];
  if (message.t !== kind) {
    throw new Error(`a helper said ${message.t} instead of ${kind}`);
  }
  return message;
}

async function heaviestOf(house: WholeHouse): Promise<{ path: string; ms: number; kb: number }> {
  const found: { path: string; ms: number; kb: number }[] = [];
  for (const uid of seeded) {
    const path = `/api/v1/observability/dashboards/${uid}`;
    const began = performance.now();
    const answer = await house.fetch(path);
    const text = await answer.text();
    if (!answer.ok) {
      throw new Error(`${path} answered ${answer.status}: ${text.slice(0, 300)}`);
    }
    found.push({
      path,
      ms: Math.round(performance.now() - began),
      kb: Math.round(text.length / 1_000),
    });
  }
  return found.sort((a, b) => b.ms - a.ms)[0]!;
}

/** Returns the event loop lag of the server, by its own report, second by second. */
async function watchLoop(
  house: WholeHouse,
  seconds: number,
): Promise<{ median: number; worst: number }> {
  const late: number[] = [];
  for (let second = 0; second < seconds; second++) {
    await pause(1_000);
    const text = await (await house.fetch('/metrics')).text();
    late.push(1_000 * Number(/^svc_process_event_loop_delay_p99_seconds (\S+)$/m.exec(text)?.[1]));
  }
  late.sort((a, b) => a - b);
  return { median: at(late, 0.5), worst: at(late, 1) };
}

/** Somebody looks at it all the time, as a page that refreshes each second. */
async function openDashboard(
  house: WholeHouse,
  path: string,
  until: AbortSignal,
): Promise<number[]> {
  const took: number[] = [];
  while (!until.aborted) {
    const began = performance.now();
    const answer = await house.fetch(path);
    await answer.arrayBuffer();
    if (answer.ok) {
      took.push(performance.now() - began);
    }
    await pause(1_000, undefined, { signal: until }).catch(() => undefined);
  }
  return took.sort((a, b) => a - b);
}

const ticksPerSecond = 100;

/** Seconds of CPU that a process and each of its threads have used. */
function cpuOf(pid: number): { all: number; threads: ReadonlyMap<number, number> } {
  const threads = new Map(
    readdirSync(`/proc/${pid}/task`).map((thread) => [
      Number(thread),
      threadCpuSeconds(pid, thread),
    ]),
  );
  return { all: [...threads.values()].reduce((sum, used) => sum + used, 0), threads };
}

/** Returns the time in which the main thread of a process was ready to run and had no core. */
const waitedMs = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;

function boxCpu(): number {
  const [user, nice, system, , , irq, softirq] = readFileSync('/proc/stat', 'utf8')
    .split('\n')[0]!
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user! + nice! + system! + irq! + softirq!) / ticksPerSecond;
}

const rssMb = (pid: number): number =>
  Math.round(
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
  );

const at = (sorted: readonly number[], share: number): number =>
  round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);

const round = (value: number): number => Math.round(value * 10) / 10;
