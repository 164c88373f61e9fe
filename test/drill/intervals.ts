import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { Outcome, Row } from '../exercise.ts';
import { programOf } from '../program-of.ts';

const child = fileURLToPath(new URL('./intervals-child.ts', import.meta.url));
const usual = [1, 5, 15, 60];
/** Min share of the expected samples. */
const leastShare = 0.99;

/**
 * Lets an agent measure its machine and scrape an exporter at several intervals while every core has two endless loops: the samples
 * that come, and how far their times have moved against the clock by the end.
 */
export async function run({
  minutes = 10,
  busy = 2,
}: { readonly minutes?: number; readonly busy?: number } = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-intervals-'));
  const exporter = createServer((_request, reply) => reply.end('a 1\n')).listen(0, '127.0.0.1');
  await once(exporter, 'listening');
  const intervals = usual.filter((seconds) => seconds <= minutes * 60);
  const url = `http://127.0.0.1:${(exporter.address() as AddressInfo).port}/metrics`;
  const loops = Array.from({ length: busy * availableParallelism() }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  const agent = spawn(
    process.execPath,
    [...programOf(child), folder, url, ...intervals.map(String)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  try {
    const times = await timesOf(agent, minutes * 60_000);
    const until = Math.min(...[...times.values()].map(([at]) => at!)) + minutes * 60_000;
    const rows = [...times].map(([what, at]) => judged(what, at, until));
    const complete = rows.length === intervals.length + 1;
    return {
      ok: complete && rows.every(({ ok }) => ok === true),
      minutes,
      'load at the end': Math.round(loadavg()[0]! * 10) / 10,
      intervals: rows,
    };
  } finally {
    await Promise.all([agent, ...loops].map(gone));
    exporter.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Times of the samples by what took them, from the first sample on for so long. */
async function timesOf(
  agent: ChildProcess,
  ms: number,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const times = new Map<string, number[]>();
  const lines = createInterface({ input: agent.stdout! });
  const begun = once(lines, 'line');
  lines.on('line', (line) => {
    const [what, time] = JSON.parse(line) as [string, number];
    times.set(what, [...(times.get(what) ?? []), time]);
  });
  await begun;
  await pause(ms);
  // What comes now was due before, or is the next one.
  await pause(2_000);
  return times;
}

/** The first look at once, and the second of the machine soon after it, are no part of the rhythm. */
function judged(what: string, all: readonly number[], until: number): Row {
  const seconds = Number(/\d+$/.exec(what)![0]);
  const period = seconds * 1_000;
  const times = what.startsWith('measured') ? withoutSecondLook(all, period) : all.slice(1);
  const first = times[0] ?? NaN;
  // Against the first one: the phase of each sample, and the slot that it fills.
  const late = times.map((time) => time - first - Math.round((time - first) / period) * period);
  const due = Math.floor((until - first) / period) + 1;
  const slots = new Set(
    times.map((time) => Math.round((time - first) / period)).filter((slot) => slot < due),
  );
  const drift =
    median(late.slice(-Math.max(1, Math.floor(late.length / 10)))) -
    median(late.slice(0, Math.max(1, Math.floor(late.length / 10))));
  const share = slots.size / due;
  return {
    what,
    due,
    came: slots.size,
    share,
    'drift, ms': Math.round(drift),
    'latest, ms': Math.max(...late),
    ok: share >= leastShare && Math.abs(drift) < period,
  };
}

/** Drops the sample out of rhythm, of two that follow each other too soon. */
const withoutSecondLook = (times: readonly number[], period: number): readonly number[] =>
  times
    .slice(1)
    .filter(
      (time, at, kept) => at === kept.length - 1 || at > 5 || kept[at + 1]! - time > period / 2,
    );

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

async function gone(process: ChildProcess): Promise<void> {
  if (process.exitCode === null && process.signalCode === null) {
    const ended = once(process, 'exit');
    process.kill('SIGKILL');
    await ended;
  }
}
