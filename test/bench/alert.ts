import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { AlertEvaluator } from 'svc/contracts/alert';
import { MetricsIngest } from 'svc/contracts/metricsdb';
import { startTestHost, type TestHost } from 'svc/testing';

import type { Outcome, Row } from '../exercise.ts';
import { HandClock } from '../plugins/alert/engine-house.ts';

interface Cycle {
  readonly wallMs: number;
  /** CPU time of all threads. */
  readonly cpuMs: number;
  readonly apiP99Ms: number;
}

/** Limit of CPU time of all threads, while this many rules are evaluated twice a minute. */
const judged = { rules: 5_000, cpuSecondsPerMinute: 5 };

/**
 * Evaluates one rule for each device over one cycle of 30 s in a real host with the real metrics
 * store, while every device pushes and somebody uses the API; then raises thousands of incidents at
 * once, until a channel has been notified of all. Repeats it with as many recording rules, in a
 * host of their own.
 */
export async function run({
  rules = 10_000,
  storm = 5_000,
  recordings = 10_000,
}: {
  readonly rules?: number;
  readonly storm?: number;
  readonly recordings?: number;
} = {}): Promise<Outcome> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-bench-alert-'));
  const clock = new HandClock();
  const hook = createServer((request, response) =>
    request.resume().on('end', () => response.end('ok')),
  );
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  const ends: (() => void | Promise<void>)[] = [];
  const t = { after: (end: () => void | Promise<void>) => void ends.push(end) };
  try {
    const house = await startTestHost(t, {
      plugins: ['metricsdb', 'alert', 'notify'],
      clock,
      dataDir: dir,
      environment: {
        SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
        SVC_NOTIFY_WEBHOOK_URL: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`,
      },
    });
    const values = new Float64Array(rules).fill(20);
    const steps = [100, 1_000, judged.rules, 10_000, rules]
      .sort((a, b) => a - b)
      .filter((count, at, all) => count <= rules && all.indexOf(count) === at);
    const cycles: Row[] = [];
    let made = 0;
    for (const count of steps) {
      await addRules(house, made, count);
      made = count;
      await cycle(house, clock, values, count);
      const { wallMs, cpuMs, apiP99Ms } = await cycle(house, clock, values, count);
      cycles.push({
        rules: count,
        'cycle, ms': Math.round(wallMs),
        'CPU of all threads, s a minute': (cpuMs * 2) / 1_000,
        'µs a rule': (wallMs * 1_000) / count,
        'API p99, ms': apiP99Ms,
      });
    }
    const firing = Math.min(storm, rules);
    values.fill(97, 0, firing);
    const began = performance.now();
    let total = 0;
    let cyclesOfStorm = 0;
    let stormP99 = 0;
    // What a busy machine does not manage in time in one cycle, the next one finds.
    while (total < firing && cyclesOfStorm < 3) {
      cyclesOfStorm += 1;
      const { apiP99Ms } = await cycle(house, clock, values, rules);
      stormP99 = Math.max(stormP99, apiP99Ms);
      ({ total } = await house.json<{ total: number }>(
        '/api/v1/alerts/incidents?status=open&q=device%20rule&limit=1',
      ));
    }
    const storedMs = performance.now() - began;
    const trouble = house.lines.filter((line) => line.includes('could not'));
    let ended = await outcomes(house);
    while (ended.all < firing && performance.now() - began < 120_000) {
      await pause(100);
      // What waits by the clock waits as long as that.
      clock.advance(100);
      ended = await outcomes(house);
    }
    const toldMs = performance.now() - began;
    const last = cycles.at(-1)!;
    const cheap = cycles.find((row) => row['rules'] === judged.rules)?.[
      'CPU of all threads, s a minute'
    ];
    const isCheap = cheap === undefined || Number(cheap) <= judged.cpuSecondsPerMinute;
    const recorded = recordings > 0 ? [await recordingCycle(t, recordings)] : [];
    return {
      ok:
        isCheap &&
        total === firing &&
        ended.all === firing &&
        ended.failed === 0 &&
        toldMs < 60_000 &&
        Number(last['cycle, ms']) < 30_000,
      [`CPU s a minute of ${judged.rules} rules (at most ${judged.cpuSecondsPerMinute})`]: Number(
        cheap ?? Number.NaN,
      ),
      'incidents stored': total,
      'cycles it took': cyclesOfStorm,
      warnings: trouble.length,
      ...(trouble[0] !== undefined && { 'first warning': trouble[0].slice(0, 300) }),
      'storm stored after, ms': Math.round(storedMs),
      'all told after, ms': Math.round(toldMs),
      'told alone': ended.sent,
      'told in digests': ended.folded,
      'API p99 in the storm, ms': stormP99,
      cycles,
      recorded,
    };
  } finally {
    for (const end of ends) {
      await end();
    }
    hook.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Evaluates recording rules, a hundred to a group, each over a series of its own. */
async function recordingCycle(
  t: { readonly after: (end: () => void | Promise<void>) => void },
  count: number,
): Promise<Row> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-bench-recording-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const clock = new HandClock();
  const house = await startTestHost(t, { plugins: ['metricsdb', 'alert'], clock, dataDir: dir });
  const values = new Float64Array(count).fill(20);
  for (let from = 0; from < count; from += 2_000) {
    const numbers = Array.from({ length: Math.min(2_000, count - from) }, (_, at) => from + at + 1);
    const groups = Array.from({ length: Math.ceil(numbers.length / 100) }, (_, group) => {
      const own = numbers.slice(group * 100, group * 100 + 100);
      return [
        `  - name: group ${from / 100 + group}`,
        '    rules:',
        ...own.flatMap(recordingOf),
      ].join('\n');
    });
    await house.json('/api/v1/alert-rules/import', {
      method: 'POST',
      body: JSON.stringify({ content: `groups:\n${groups.join('\n')}\n` }),
    });
  }
  await cycle(house, clock, values, count);
  const { wallMs, cpuMs, apiP99Ms } = await cycle(house, clock, values, count);
  const { items, total } = await house.json<{
    items: { series: number; error: string | null }[];
    total: number;
  }>('/api/v1/recording-rules?limit=200');
  return {
    'recording rules': total,
    'of the first 200 written': items.filter(({ series, error }) => series === 1 && error === null)
      .length,
    'cycle, ms': Math.round(wallMs),
    'CPU of all threads, s a minute': (cpuMs * 2) / 1_000,
    'API p99, ms': apiP99Ms,
  };
}

const recordingOf = (device: number): readonly string[] => [
  `      - record: device:bench_load:${device}`,
  `        expr: bench_load{device_id="${device}"} * 2`,
];

/** Returns the outcomes of notices so far. */
async function outcomes(
  house: TestHost,
): Promise<{ sent: number; failed: number; folded: number; all: number }> {
  const text = await (await house.fetch('/metrics')).text();
  const of = (result: string): number =>
    Number(
      new RegExp(`^svc_notify_outcomes_total\\{result="${result}"\\} (\\d+)`, 'm').exec(
        text,
      )?.[1] ?? 0,
    );
  const [sent, failed, folded] = [of('sent'), of('failed'), of('folded')];
  return { sent, failed, folded, all: sent + failed + folded };
}

/**
 * Runs thirty ticks, a second apart by the host's clock, with a push of all devices before every
 * tenth.
 */
async function cycle(
  house: TestHost,
  clock: HandClock,
  values: Float64Array,
  devices: number,
): Promise<Cycle> {
  const ingest = house.service(MetricsIngest);
  const evaluator = house.service(AlertEvaluator);
  const times: number[] = [];
  let over = false;
  const asking = (async () => {
    while (!over) {
      const began = performance.now();
      await (await house.fetch('/api/v1/alerts/runtime-info')).arrayBuffer();
      times.push(performance.now() - began);
      await pause(10);
    }
  })();
  const cpu = process.cpuUsage();
  const began = performance.now();
  for (let second = 0; second < 30; second++) {
    // Before the clock moves: the house looks at it by itself, too, and must find the samples of that second.
    if (second % 10 === 0) {
      const time = clock.now() + 1_000;
      await ingest.write(
        Array.from({ length: devices }, (_, at) => ({
          labels: { __name__: 'bench_load', device_id: String(at + 1) },
          time,
          value: values[at]!,
        })),
      );
    }
    clock.advance(1_000);
    await evaluator.tick();
  }
  const wallMs = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  over = true;
  await asking;
  times.sort((a, b) => a - b);
  return {
    wallMs,
    cpuMs: (user + system) / 1_000,
    apiP99Ms: times[Math.floor(times.length * 0.99)] ?? 0,
  };
}

async function addRules(house: TestHost, from: number, to: number): Promise<void> {
  let next = from;
  const adder = async (): Promise<void> => {
    while (next < to) {
      const device = ++next;
      await house.json('/api/v1/alert-rules', {
        method: 'POST',
        body: JSON.stringify({
          rule_key: `device_${device}`,
          name: `device rule ${device}`,
          kind: 'metric_raw',
          source_type: 'svc_builtin',
          scope_type: 'host',
          join_mode: 'all',
          severity: 'warning',
          conditions: [{ expr: `bench_load{device_id="${device}"} > 90` }],
          annotations: { summary: 'load {{ $value }} on {{ $labels.device_id }}' },
        }),
      });
    }
  };
  await Promise.all(Array.from({ length: 16 }, adder));
}
