import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import type { Outcome } from '../exercise.ts';
import { cpuSeconds, startWholeHouse, type WholeHouse } from '../whole-house.ts';
import { ask, online, RealAgent, until } from './checks-stand.ts';
import type { Asked } from './checks-targets.ts';
import { say } from './tunnel-stand.ts';

/** Limits of what checks cost svc, and of when they begin. */
const goals = { cores: 0.3, memoryMb: 60, spread: 2, lateMs: 1_000 };
/** Checks that are created at a time. */
const lanes = 4;

interface Memory {
  readonly anonymous: number;
  readonly heapUsed: number;
  readonly external: number;
}

/**
 * Measures what checks cost the whole product: processor time and memory of the same process without checks and with them, each from one of
 * the places in turn (svc and real agents). When they begin is seen by the target: the fullest second, and how much later than usual in its
 * interval each check comes. On a busy machine, processor time is what counts; lateness is then that of the machine as well.
 */
export async function run({
  checks = 2_000,
  agents = 10,
  interval = 30,
  seconds = 120,
}: {
  readonly checks?: number;
  readonly agents?: number;
  readonly interval?: number;
  readonly seconds?: number;
} = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-checks-'));
  const memoryFile = join(folder, 'memory.json');
  const places: RealAgent[] = [];
  const targets = fork(join(import.meta.dirname, 'checks-targets.ts'), {
    execArgv: ['--import', 'tsx'],
  });
  let house: WholeHouse | undefined;
  try {
    const [{ port }] = (await once(targets, 'message')) as [{ port: number }];
    house = await startWholeHouse({
      dataDir: join(folder, 'data'),
      environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8', CHECKS_MEMORY: memoryFile },
      execArgv: ['--expose-gc', '--import', join(import.meta.dirname, 'checks-memory.mjs')],
    });
    for (let n = 1; n <= agents; n++) {
      const policy = `skills:\n  probes: ['127.0.0.1:${port}']\n`;
      const own = { folder, name: `place-${n}`, manager: house.url, policy };
      places.push(await RealAgent.start(house, own));
    }
    await online(house, places);
    say(`${agents} agents are connected`);
    await pause(interval * 1_000);
    const before = await measured(house, seconds, memoryFile);
    say(`without checks: ${text(before)}`);

    const manager = house;
    const names = ['svc', ...places.map(({ name }) => `agent:${name}`)];
    let next = 0;
    const create = async (): Promise<void> => {
      for (let n = next++; n < checks; n = next++) {
        await ask(manager, 'POST', '/checks', {
          name: `check-${n}`,
          target: `http://127.0.0.1:${port}/${n}`,
          interval_s: interval,
          places: [names[n % names.length]],
        });
      }
    };
    await Promise.all(Array.from({ length: lanes }, create));
    say(`${checks} checks are created`);
    // The round in which all were created, and one that is like those after it.
    await pause(2 * interval * 1_000);
    await askedOf(targets);
    const after = await measured(house, seconds, memoryFile);
    const asked = await askedOf(targets);
    say(`with checks: ${text(after)}`);

    const times = Object.values(asked.times).flat();
    const late = p99(lateness(asked.times, interval * 1_000));
    const machineLate = p99(asked.late);
    const { spread, inFullest } = spreadOf(times);
    const { items } = await ask<{ items: { state: string }[] }>(house, 'GET', '/checks?limit=1000');
    const figures = {
      cores: after.cores - before.cores,
      'memory MB': after.memoryMb - before.memoryMb,
      'p99 of lateness ms': late,
      'of any timer here': machineLate,
    };
    return {
      ok:
        figures.cores <= goals.cores &&
        figures['memory MB'] <= goals.memoryMb &&
        spread <= goals.spread &&
        late - machineLate <= goals.lateMs &&
        items.every(({ state }) => state === 'up'),
      checks,
      places: names.length,
      'checks per second': times.length / seconds,
      ...figures,
      'fullest second': inFullest,
      'fullest second / mean': spread,
      'rounds due': (checks * seconds) / interval,
      'rounds seen': times.length,
      'not up, of the first 1,000': items.filter(({ state }) => state !== 'up').length,
      cases: [
        { with: 'no checks', ...before },
        { with: `${checks} checks`, ...after },
      ],
    };
  } finally {
    await Promise.all(places.map((place) => place.end()));
    await house?.end();
    targets.disconnect();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Cost {
  readonly cores: number;
  readonly series: number;
  /** Memory of the metrics store for their samples and labels. */
  readonly storeMb: number;
  /** Memory of its own after its garbage is collected. */
  readonly memoryMb: number;
  readonly heapMb: number;
}

async function measured(house: WholeHouse, seconds: number, file: string): Promise<Cost> {
  const { pid } = house;
  const [from, cpu] = [performance.now(), cpuSeconds(pid)];
  await pause(seconds * 1_000);
  const cores = (cpuSeconds(pid) - cpu) / ((performance.now() - from) / 1_000);
  rmSync(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  await until('the memory in use', () => existsSync(file));
  const { anonymous, heapUsed } = JSON.parse(readFileSync(file, 'utf8')) as Memory;
  const own = await (await house.fetch('/metrics')).text();
  const value = (name: string): number =>
    Number(new RegExp(`^svc_metricsdb_${name} (\\S+)$`, 'm').exec(own)?.[1]);
  return {
    cores,
    memoryMb: anonymous / 2 ** 20,
    heapMb: heapUsed / 2 ** 20,
    series: value('series'),
    storeMb: value('head_bytes') / 2 ** 20,
  };
}

const text = ({ cores, memoryMb, heapMb, series, storeMb }: Cost): string =>
  `${cores.toFixed(3)} cores, ${memoryMb.toFixed(0)} MB: ${heapMb.toFixed(0)} MB in the heap of the main thread, ${storeMb.toFixed(0)} MB in ${series} series`;

/** Returns when what was asked since the last call. */
async function askedOf(targets: ChildProcess): Promise<Asked> {
  const answer = once(targets, 'message');
  targets.send('asked');
  return ((await answer) as [Asked])[0];
}

/** Returns how many checks came in the fullest second, and how many times the mean that is; the first and last second are cut off. */
function spreadOf(times: readonly number[]): {
  readonly spread: number;
  readonly inFullest: number;
} {
  const sorted = times.toSorted((a, b) => a - b);
  const counts = new Map<number, number>();
  for (const time of sorted) {
    const second = Math.floor((time - sorted[0]!) / 1_000);
    counts.set(second, (counts.get(second) ?? 0) + 1);
  }
  const last = Math.max(...counts.keys());
  const whole = Array.from({ length: last }, (_, second) => counts.get(second) ?? 0);
  const inFullest = Math.max(...whole);
  return {
    inFullest,
    spread: inFullest / (whole.reduce((sum, count) => sum + count, 0) / whole.length),
  };
}

/** Returns how much later in its interval than at its earliest each check came. */
function lateness(asked: Asked['times'], intervalMs: number): readonly number[] {
  return Object.values(asked).flatMap((times) => {
    const first = times[0]!;
    const places = times.map((time) => {
      const off = time - first;
      return off - Math.round(off / intervalMs) * intervalMs;
    });
    const earliest = Math.min(...places);
    return places.map((place) => place - earliest);
  });
}

const p99 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)]!;
