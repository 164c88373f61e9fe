import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { parcels } from '../bench/front-bodies.ts';
import type { Outcome, Row } from '../exercise.ts';
import { cpuSeconds, startWholeHouse, threadCpuSeconds, type WholeHouse } from '../whole-house.ts';
import { fillUp } from './telemetry-crash.ts';
import { parcelOf, readBack, type Signal, signals } from './telemetry-crash-model.ts';
import { type Filled, fillLogs, fillMetrics, fillTraces } from './telemetry-restart-fill.ts';

const mebibyte = 1024 * 1024;
const mostMs = 5_000;
const mostSlackBytes = 64 * mebibyte;
const markers = 5;
const events: Readonly<Record<Signal, string>> = {
  metrics: 'metricsdb.opened',
  logs: 'logs.opened',
  traces: 'traces.opened',
};
const plugins: Readonly<Record<Signal, string>> = {
  metrics: 'metricsdb',
  logs: 'logs',
  traces: 'traces',
};

/**
 * Kills svc amid pushes while each store has so many megabytes of blocks: measures the time until
 * it is ready and all three stores return old data and what was acknowledged last, and how much of
 * the log is no longer needed.
 */
export async function run({
  megabytes = 1024,
  fill = 10,
  kills = 3,
}: {
  readonly megabytes?: number;
  readonly fill?: number;
  readonly kills?: number;
} = {}): Promise<Outcome> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-telemetry-restart-'));
  const now = Date.now();
  let house: WholeHouse | undefined;
  try {
    const filled: Readonly<Record<Signal, Filled>> = {
      metrics: await fillMetrics(dataDir, megabytes * mebibyte, now),
      logs: await fillLogs(dataDir, megabytes * mebibyte, now),
      traces: await fillTraces(dataDir, megabytes * mebibyte, now),
    };
    const starts: Row[] = [];
    const steps: Row[] = [];
    house = await startWholeHouse({ dataDir });
    await fillUp(house, fill);
    for (let kill = 1; kill <= kills; kill++) {
      const epoch = now + kill * 1_000;
      await pushMarkers(house, epoch);
      const logBytes = Object.fromEntries(
        signals.map((signal) => [
          `${signal} log, MB`,
          Math.round(bytesIn(dataDir, signal) / mebibyte),
        ]),
      );
      await killAmidPushes(house);
      const began = performance.now();
      const beganAt = Date.now();
      house = await startWholeHouse({ dataDir, environment: { SVC_LOG_LEVEL: 'info' } });
      const cpu = cpuSeconds(house.pid);
      const answered = await Promise.all(
        signals.map(async (signal) => {
          await demandAnswers(house!, signal, epoch, filled[signal].middleMs);
          return [signal, performance.now() - began] as const;
        }),
      );
      const answeredMs = performance.now() - began;
      const allCpu = cpuSeconds(house.pid);
      steps.push(
        ...answered.map(([signal, ms]) => ({
          kill,
          ...stepsOf(house!.output(), signal, beganAt),
          'answers, ms': Math.round(ms),
        })),
      );
      starts.push({
        kill,
        'ready, ms': Math.round(house.readyMs),
        'all three answer, ms': Math.round(answeredMs),
        'CPU until ready, s': cpu,
        'CPU until they answer, s': allCpu,
        'of it the thread of requests, s': threadCpuSeconds(house.pid, house.pid),
        ...logBytes,
      });
    }
    const rows = signals.map((signal): Row => {
      const { blocks, blockBytes, walBytes, pendingBytes } = filled[signal];
      const slack = walBytes - pendingBytes;
      return {
        store: signal,
        blocks,
        'MB of blocks': Math.round(blockBytes / mebibyte),
        'MB of log beyond what is not in blocks': mb(slack),
        ok: slack <= mostSlackBytes,
      };
    });
    const slowest = Math.max(...starts.map((start) => start['all three answer, ms'] as number));
    return {
      ok: slowest <= mostMs && rows.every(({ ok }) => ok === true),
      megabytes,
      kills,
      'slowest until all three answer, ms (goal 5000)': slowest,
      stores: rows,
      starts,
      steps,
    };
  } finally {
    await house?.end('SIGKILL');
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/**
 * Returns a store's report on its opening: its end after the start of the process, and the
 * durations of its steps.
 */
function stepsOf(output: string, signal: Signal, beganAt: number): Row {
  const line = output.split('\n').find((text) => text.includes(`"event":"${events[signal]}"`));
  assert.ok(line !== undefined, `${signal}: the store told of its opening`);
  const told = JSON.parse(line.slice(line.indexOf('{'))) as Readonly<
    Record<string, string | number>
  >;
  const steps = ['open', 'catalogue', 'wal', 'blocks', 'streams', 'replay'].map(
    (step) => [`${step}, ms`, told[`${step}_ms`] ?? 0] as const,
  );
  return {
    store: signal,
    'open at, ms': new Date(told['time']!).getTime() - beganAt,
    records: told['records'] ?? 0,
    ...Object.fromEntries(steps),
  };
}

const mb = (bytes: number): number => Math.round((bytes / mebibyte) * 10) / 10;

function bytesIn(dataDir: string, signal: Signal): number {
  const folder = join(dataDir, 'plugins', plugins[signal], 'wal');
  return readdirSync(folder).reduce(
    (sum, file) => sum + (statSync(join(folder, file), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

async function pushMarkers(house: WholeHouse, epoch: number): Promise<void> {
  for (const signal of signals) {
    for (let number = 0; number < markers; number++) {
      const { path, type, encoding, body } = parcelOf(signal, number, epoch);
      const headers = {
        'content-type': type,
        ...(encoding !== undefined && { 'content-encoding': encoding }),
      };
      const answer = await house.fetch(path, { method: 'POST', headers, body });
      const text = await answer.text();
      assert.ok(answer.ok, `${path} answered ${answer.status}: ${text}`);
    }
  }
}

/** Kills svc amid pushes, whose acknowledgement is irrelevant. */
async function killAmidPushes(house: WholeHouse): Promise<void> {
  const made = parcels({ samples: 50_000, lines: 5_000, spans: 2_000 }, 1, Date.now());
  const sent = signals
    .flatMap((signal) => made[signal])
    .map(({ path, headers, body }) =>
      house
        .fetch(path, {
          method: 'POST',
          headers: { ...headers, authorization: `Bearer ${house.token}` },
          body,
        })
        .then(
          async (answer) => void (await answer.arrayBuffer()),
          () => undefined,
        ),
    );
  await pause(100);
  await house.end('SIGKILL');
  await Promise.allSettled(sent);
}

/** Queries the blocks, and what was acknowledged last. */
async function demandAnswers(
  house: WholeHouse,
  signal: Signal,
  epoch: number,
  old: number,
): Promise<void> {
  const found = await readBack(house, signal, { from: 0, to: markers, epoch });
  assert.equal(found.size, markers, `${signal}: what was acknowledged last is there`);
  const [path, query, told] = questions(old)[signal];
  const answer = await house.fetch(`${path}?${String(new URLSearchParams(query))}`);
  const text = await answer.text();
  assert.ok(
    answer.ok && told.test(text),
    `${path} answered ${answer.status}: ${text.slice(0, 300)}`,
  );
}

const questions = (
  at: number,
): Readonly<
  Record<Signal, readonly [path: string, query: Record<string, string>, told: RegExp]>
> => {
  const seconds = (ms: number): string => String(Math.floor(ms / 1_000));
  const window = { start: seconds(at - 1_800_000), end: seconds(at + 1_800_000) };
  return {
    metrics: [
      '/prometheus/api/v1/query',
      { query: 'count(filled)', time: seconds(at) },
      /"value":\[\d+,"2000"\]/,
    ],
    logs: [
      '/loki/api/v1/query_range',
      { ...window, query: '{filled="yes"}', limit: '10' },
      /"totalEntriesReturned":10/,
    ],
    traces: [
      '/tempo/api/search',
      { ...window, q: '{ resource.service.name =~ "filled.*" }', limit: '5' },
      /"traceID"/,
    ],
  };
};
