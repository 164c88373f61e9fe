import type { Outcome, Row } from '../exercise.ts';
import {
  type Loop,
  type Manager,
  pause,
  say,
  type Simulator,
  type Timed,
  withStand,
} from './tunnel-stand.ts';

/** Max time that edges are awaited after a restart; only then missing ones are reported offline. */
const awaitedMs = 65_000;
const intervalSeconds = 15;
const enrolMs = 900_000;

/**
 * A whole fleet at the real manager, as shipped: every edge enrolled, bound to a device, pinging each 20 s and pushing a snapshot of its
 * host each 15 s into the metrics store. Manager and simulator have a process each. `--metrics full` pushes about forty series instead of a snapshot's thirteen; `--profile folder` writes CPU profiles of the manager.
 */
export async function run({
  count = 10_000,
  seconds = 30,
  ramp = 0,
  calls = 2_000,
  profile = '',
  metrics = 'snapshot',
}: Row = {}): Promise<Outcome> {
  const edges = Number(count);
  const nodeArgs =
    profile === ''
      ? []
      : ['--cpu-prof', `--cpu-prof-dir=${String(profile)}`, '--cpu-prof-interval=500'];
  return await withStand(nodeArgs, async ({ manager, simulate }) => {
    const empty = manager.usage();
    const begun = performance.now();
    // First they enrol and get their devices, which happens once in the life of a fleet; what they push then would only be in the way.
    const newcomers = await simulate(edges, {
      ramp: Number(ramp) || Math.ceil(edges / 200),
      interval: 3_600,
      metrics: String(metrics),
    });
    await newcomers.until('the first enrolment', ({ enrolled }) => enrolled > 0, 120_000);
    const first = performance.now();
    const atFirst = newcomers.told.enrolled;
    await newcomers.until(
      'the enrolment of all edges',
      ({ enrolled }) => enrolled === edges,
      enrolMs,
    );
    const enrolledPerSecond = round1((edges - atFirst) / ((performance.now() - first) / 1_000));
    await newcomers.until(
      'a tunnel for each edge',
      ({ connected }) => connected === edges,
      enrolMs,
    );
    await introduced(manager);
    const boundSeconds = seconds1(performance.now() - begun);
    await newcomers.end();
    const again = performance.now();
    const simulator = await simulate(edges, {
      ramp: Math.ceil(edges / 500),
      interval: intervalSeconds,
      metrics: String(metrics),
    });
    await simulator.until(
      'the arrival of all edges',
      ({ connected }) => connected === edges,
      600_000,
    );
    const allInSeconds = seconds1(performance.now() - again);
    // Every host has pushed twice by then, and what has changed by its coming is written down.
    await pause(2 * intervalSeconds * 1_000);
    say(
      `measuring while nothing happens; ${JSON.stringify((await manager.ask<Loop>('/api/v1/tunnel-probe')).memory)}`,
    );
    const steady = await watch(manager, simulator, Number(seconds));
    say('asking edges');
    const sample = await manager.ask<Timed>('/api/v1/tunnel-probe/sample', {
      calls: Number(calls),
    });
    const broadcasts: Timed[] = [];
    for (let round = 0; round < 3; round += 1) {
      broadcasts.push(await manager.ask<Timed>('/api/v1/tunnel-probe/all', {}));
    }
    const toAllMs = Math.max(...broadcasts.map(({ all_ms: ms }) => ms));
    const asked = manager.usage();
    const back = profile === '' ? await killed(manager, simulator, edges) : undefined;
    const told = await simulator.end();
    const failed = sample.failed + broadcasts.reduce((sum, { failed: lost }) => sum + lost, 0);
    const inBounds =
      [steady.rssMb, asked.rssMb].every((mb) => mb <= 600) &&
      steady.cpu <= 50 &&
      steady.loop.loop_p99_ms <= 50 &&
      sample.p99_ms <= 100 &&
      toAllMs <= 2_000;
    const isBack =
      back !== undefined && back.seconds <= 60 && back.apiP99Ms < 500 && back.offline === 0;
    return {
      ok:
        failed === 0 &&
        steady.limited + steady.failed === 0 &&
        steady.stored === edges &&
        inBounds &&
        isBack,
      edges,
      'all enrolled and bound to devices, s': boundSeconds,
      'enrolments per second': enrolledPerSecond,
      'all in after s': allInSeconds,
      'manager RSS MB, empty': empty.rssMb,
      'manager RSS MB, steady': steady.rssMb,
      'KiB per edge': Math.round(((steady.rssMb - empty.rssMb) * 1_024) / edges),
      'CPU % of a core, steady, all threads': steady.cpu,
      'CPU % of it, main thread': steady.main,
      'pushes per second': steady.perSecond,
      'pushes limited, failed or skipped': steady.limited + steady.failed,
      'hosts with a sample of the last 30 s': steady.stored,
      'push p99 ms, as the simulator saw it': steady.pushP99Ms,
      'event loop p99 ms, steady': round1(steady.loop.loop_p99_ms),
      'event loop max ms, steady': round1(steady.loop.loop_max_ms),
      'RPC p50 ms': round1(sample.p50_ms),
      'RPC p99 ms': round1(sample.p99_ms),
      'RPC to all ms': Math.round(toAllMs),
      'each of three': broadcasts.map(({ all_ms: ms }) => Math.round(ms)).join(', '),
      'failed calls': failed,
      'RSS after them MB': asked.rssMb,
      ...(back && {
        'ready after kill -9, s': back.readySeconds,
        'all back after kill -9, s': back.seconds,
        'API p99 ms meanwhile': round1(back.apiP99Ms),
        'API calls meanwhile': back.apiCalls,
        'false offline states': back.offline,
        'RSS after it MB': back.rssMb,
      }),
      'simulator CPU % of a core': steady.simulator,
      'pushes of the simulator, all': told?.pushes.ok ?? -1,
      busiest: steady.threads,
    };
  });
}

/** Until every machine that introduced itself has its device. */
async function introduced(manager: Manager): Promise<void> {
  for (const deadline = performance.now() + 600_000; ; await pause(1_000)) {
    const { total } = await manager.ask<{ total: number }>('/api/v1/devices?limit=1');
    const { total: online } = await manager.ask<{ total: number }>(
      '/api/v1/edges?limit=1&status=online',
    );
    if (total >= online) {
      return;
    }
    if (performance.now() > deadline) {
      throw new Error(`only ${total} of ${online} edges have a device: ${manager.said}`);
    }
  }
}

async function watch(manager: Manager, simulator: Simulator, seconds: number) {
  await manager.ask<Loop>('/api/v1/tunnel-probe');
  const before = {
    ...manager.usage(),
    threads: manager.threads(),
    told: simulator.told,
    simulator: simulator.cpuMs,
    at: performance.now(),
  };
  await pause(seconds * 1_000);
  const after = {
    ...manager.usage(),
    threads: manager.threads(),
    told: simulator.told,
    simulator: simulator.cpuMs,
    at: performance.now(),
  };
  const loop = await manager.ask<Loop>('/api/v1/tunnel-probe');
  const percent = (ms: number): number => round1((100 * ms) / (after.at - before.at));
  const told = after.told.seconds - before.told.seconds;
  const threads = [...after.threads].map(([thread, ms]) => ({
    thread,
    'CPU %': percent(ms - (before.threads.get(thread) ?? 0)),
  }));
  return {
    loop,
    rssMb: after.rssMb,
    cpu: percent(after.cpuMs - before.cpuMs),
    main: percent(after.mainMs - before.mainMs),
    simulator: percent(after.simulator - before.simulator),
    perSecond: round1((after.told.pushes.ok - before.told.pushes.ok) / told),
    limited: after.told.pushes.limited - before.told.pushes.limited,
    failed:
      after.told.pushes.failed -
      before.told.pushes.failed +
      after.told.pushes.skipped -
      before.told.pushes.skipped,
    pushP99Ms: after.told.push_p99_ms ?? -1,
    stored:
      (await manager.value(
        'count(count by (edge_id) (last_over_time(node_load1{device_id!=""}[30s])))',
      )) ?? 0,
    threads: threads.sort((a, b) => b['CPU %'] - a['CPU %']).slice(0, 6),
  };
}

/** The manager dies at once and is started again, and all edges come back at the same moment. */
async function killed(manager: Manager, simulator: Simulator, edges: number) {
  const began = performance.now();
  await manager.end('SIGKILL');
  await manager.start();
  const readyMs = performance.now() - began;
  const times: number[] = [];
  let over = false;
  const asking = (async () => {
    while (!over) {
      const asked = performance.now();
      await manager.askAnew(
        times.length % 2 === 0 ? '/api/v1/edges?limit=20' : '/api/v1/devices?limit=20',
      );
      times.push(performance.now() - asked);
      await pause(50);
    }
  })();
  const { connects } = simulator.told;
  await simulator.until(
    'the loss of all',
    ({ lost, connects: now }) => lost >= edges || now > connects,
    60_000,
  );
  await simulator.until('the return of all edges', ({ connected }) => connected === edges, 300_000);
  const backMs = performance.now() - began;
  over = true;
  await asking;
  await pause(Math.max(0, awaitedMs + readyMs - (performance.now() - began)));
  const { offline } = await manager.ask<Loop>('/api/v1/tunnel-probe');
  const { total: shownOffline } = await manager.ask<{ total: number }>(
    '/api/v1/edges?limit=1&status=offline',
  );
  const storedOffline =
    (await manager.value('count(min_over_time(svc_edge_online[2m]) == 0)')) ?? 0;
  times.sort((a, b) => a - b);
  return {
    readySeconds: seconds1(readyMs),
    seconds: seconds1(backMs),
    apiCalls: times.length,
    apiP99Ms: times[Math.min(times.length - 1, Math.floor(times.length * 0.99))] ?? Infinity,
    offline: offline + shownOffline + storedOffline,
    rssMb: manager.usage().rssMb,
  };
}

const round1 = (value: number): number => Math.round(value * 10) / 10;
const seconds1 = (ms: number): number => round1(ms / 1_000);
