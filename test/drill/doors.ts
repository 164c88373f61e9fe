import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { Outcome, Row } from '../exercise.ts';
import { programOf } from '../program-of.ts';
import { cpuSeconds, productWithEdges, startWholeHouse, type WholeHouse } from '../whole-house.ts';
import type { Door } from './doors-bodies.ts';
import { inboundDoors } from './doors-inbound.ts';
import { openOutbound } from './doors-outbound.ts';
import type { Watched } from './doors-watch.ts';

const mebibyte = 1024 * 1024;
/** Opens what a door loads once, so that it is not taken for the memory of what is sent. */
const firstBytes = 16 * 1_024;

/**
 * Sends 1, 8 and 64 MB, and the largest that it takes, through every door for data from outside:
 * nobody else waits, and the memory stays. A step counts by the time that the request thread ran, as
 * a machine that is busy with other things stops it for longer.
 */
export async function run({
  sizes = '1,8,64',
  only = '',
  step = 20,
  healthz = 50,
  growth = 64,
  refused = true,
  settle = 500,
}: {
  readonly sizes?: string | number;
  readonly only?: string;
  readonly step?: number;
  readonly healthz?: number;
  readonly growth?: number;
  /** Whether more is sent than a door takes. */
  readonly refused?: boolean;
  readonly settle?: number;
} = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-doors-'));
  const stalls = join(folder, 'stalls');
  const house = await startWholeHouse({
    dataDir: join(folder, 'data'),
    product: productWithEdges(join(folder, 'product')),
    execArgv: preloaded('doors-stalls.ts'),
    startMs: 600_000,
    environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8', DRILL_STALLS: stalls },
  });
  const outbound = await openOutbound(house);
  const watch = watcher(house);
  try {
    await pause(2_000);
    const cases: Row[] = [];
    const asked = String(sizes).split(',').map(Number);
    for (const door of [...inboundDoors(house), ...outbound.doors]) {
      if (
        !String(only)
          .split(',')
          .some((part) => door.name.includes(part))
      ) {
        continue;
      }
      await door.open?.();
      const most = door.mostMb === undefined ? [] : [door.mostMb];
      const each = refused
        ? [...new Set([...asked, ...most])]
        : asked.filter((mb) => mb <= Math.min(...most));
      await (
        await door.send(firstBytes)
      )();
      for (const mb of each.toSorted((a, b) => a - b)) {
        cases.push(await passed(door, mb, { watch, stalls, step, healthz, growth, settle }));
        console.error(JSON.stringify(cases.at(-1)));
      }
    }
    return {
      ok: cases.every(({ ok }) => ok === true),
      'longest step at most, ms': step,
      'healthz p99 at most, ms': healthz,
      'RSS growth at most, MB': growth,
      'processor, s': Math.round(cpuSeconds(house.pid)),
      doors: cases,
    };
  } finally {
    watch.kill();
    await outbound.close();
    await house.end('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Options of node that load a file of this folder before the program. */
function preloaded(file: string): readonly string[] {
  const [option, ...program] = programOf(fileURLToPath(new URL(file, import.meta.url)));
  return option === '--import'
    ? ['--import', 'tsx', '--import', program.at(-1)!]
    : ['--import', program.at(-1)!];
}

const watcher = ({ url, pid }: WholeHouse): ChildProcess =>
  spawn(
    process.execPath,
    [...programOf(fileURLToPath(new URL('doors-watch.ts', import.meta.url))), url, String(pid)],
    { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
  );

async function passed(
  { name, send }: Door,
  mb: number,
  {
    watch,
    stalls,
    step,
    healthz,
    growth,
    settle,
  }: {
    readonly watch: ChildProcess;
    readonly stalls: string;
    readonly step: number;
    readonly healthz: number;
    readonly growth: number;
    readonly settle: number;
  },
): Promise<Row> {
  // What is sent is made before: its maker is busy meanwhile.
  const parcel = await send(mb * mebibyte);
  const { beforeMb } = await told<{ readonly beforeMb: number }>(watch, 'begin');
  const began = Date.now();
  const answer = await parcel();
  const seconds = (Date.now() - began) / 1_000;
  await pause(settle);
  const { p99Ms, slowestMs, peakMb } = await told<Watched>(watch, 'end');
  const longest = longestSince(stalls, began);
  const grownMb = Math.round(peakMb - beforeMb);
  return {
    door: name,
    MB: mb,
    answer,
    'longest stall, ms': Math.round(longest.stallMs),
    'longest step, ms': Math.round(longest.ranMs),
    'healthz p99, ms': p99Ms,
    'slowest, ms': slowestMs,
    'RSS growth, MB': grownMb,
    seconds,
    ok: longest.ranMs <= step && p99Ms <= healthz && grownMb <= growth,
  };
}

async function told<T>(watch: ChildProcess, word: 'begin' | 'end'): Promise<T> {
  watch.send(word);
  return ((await once(watch, 'message')) as [T])[0];
}

function longestSince(
  stalls: string,
  since: number,
): { readonly stallMs: number; readonly ranMs: number } {
  const lines = existsSync(stalls) ? readFileSync(stalls, 'utf8').trim().split('\n') : [];
  const seen = lines.map((line) => line.split(' ').map(Number)).filter(([end = 0]) => end >= since);
  return {
    stallMs: Math.max(0, ...seen.map(([, ms = 0]) => ms)),
    ranMs: Math.max(0, ...seen.map(([, , ms = 0]) => ms)),
  };
}
