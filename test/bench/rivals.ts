import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import type { Outcome, Row } from '../exercise.ts';
import { findPeer, type Peer } from '../peers.ts';
import { startWholeHouse } from '../whole-house.ts';
import { counter, each, fleet, type Kind, noise, numbered, same, walk } from './metrics-fleet.ts';
import {
  cpuSeconds,
  residentMiB,
  sizeOf,
  startPrometheus,
  startVictoria,
} from './metrics-rivals.ts';

const scrapeMs = 60_000;
const hour = 3_600_000;
const agent = new Agent({ keepAlive: true, maxSockets: 8 });
/** Our share of the time of the fastest, above which a query counts as slow. */
const slowest = 1.3;
const fewestAhead = 9;

/** A whole product under measurement, as its users reach it. */
interface Rival {
  readonly name: string;
  readonly pid: number;
  readonly folder: string;
  readonly write: string;
  readonly api: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Parameters that make it compute an answer that it may have kept. */
  readonly anew: string;
  stop(): Promise<unknown>;
}

interface Asked {
  readonly name: string;
  readonly query: string;
  readonly stepS?: number;
  readonly instant?: true;
}

interface Answered {
  readonly ms: number;
  readonly firstMs: number;
  readonly cpuMs: number;
  readonly body: Buffer;
}

const questions = (hosts: number): readonly Asked[] => [
  { name: 'rate of every counter', query: 'rate(fleet_requests_total[5m])' },
  { name: 'sum of rates by dc', query: 'sum by (dc) (rate(fleet_cpu_seconds_total[5m]))' },
  {
    name: 'quantile of a histogram by dc',
    query:
      'histogram_quantile(.95, sum by (le, dc) (rate(fleet_request_duration_seconds_bucket[5m])))',
  },
  { name: 'a gauge as it is', query: 'fleet_load1' },
  {
    name: 'the ten largest ratios',
    query: 'topk(10, fleet_memory_MemAvailable_bytes / fleet_memory_MemTotal_bytes)',
  },
  { name: 'maximum over an hour', query: 'max_over_time(fleet_load1[1h])' },
  { name: 'quantile over half an hour', query: 'quantile_over_time(.9, fleet_load1[30m])' },
  {
    name: 'regular expression, ten series',
    query: `fleet_load1{instance=~"host-${String(hosts - 1).slice(0, -1)}[0-9].example.org:9100"}`,
  },
  { name: 'everything of one host', query: '{instance="host-7.example.org:9100"}' },
  { name: 'count by name', query: 'count by (__name__) ({job="fleet"})', stepS: 600 },
  {
    name: 'busy share of each host',
    query: '1 - avg by (instance) (rate(fleet_cpu_seconds_total{mode="idle"}[5m]))',
  },
  {
    name: 'sum of rates now',
    query: 'sum by (dc) (rate(fleet_cpu_seconds_total[5m]))',
    instant: true,
  },
];

/**
 * The same data, remote-written to this product, Prometheus and VictoriaMetrics side by side: what taking and keeping it costs, and how
 * long each is asked. They are asked by turns, so every ratio is one of the same minutes; answers kept from before are not used.
 */
export async function run({
  hosts = 1_000,
  hours = 6,
  rounds = 9,
  seed = randomInt(2 ** 31),
  only = '',
  profile = '',
}: {
  readonly hosts?: number;
  readonly hours?: number;
  readonly rounds?: number;
  readonly seed?: number;
  /** Part of the names of the queries to ask. */
  readonly only?: string;
  /** Folder for CPU profiles of this product. */
  readonly profile?: string;
} = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-rivals-'));
  const rivals: Rival[] = [];
  try {
    rivals.push(await ours(join(folder, 'svc'), profile));
    rivals.push(await others(startPrometheus, installed('prometheus'), folder));
    rivals.push(await others(startVictoria, installed('victoria-metrics'), folder));
    const end = Math.floor(Date.now() / scrapeMs) * scrapeMs - scrapeMs;
    const begin = end - hours * hour;
    const taken = await pour(rivals, hosts, seed, begin, end);
    const asked: Row[] = [];
    for (const question of questions(hosts)) {
      if (question.name.includes(only)) {
        asked.push(await compare(rivals, question, { begin, end }, rounds));
      }
    }
    const ahead = asked.filter((row) => (row['of VictoriaMetrics'] as number) < 1).length;
    return {
      ok:
        ahead >= (asked.length * fewestAhead) / 12 &&
        asked.every((row) => (row['of VictoriaMetrics'] as number) <= slowest) &&
        asked.every((row) => row['alike'] === 'yes'),
      seed,
      series: hosts * seriesOf(0).reduce((sum, { labels }) => sum + labels.length, 0),
      ahead: `${ahead} of ${asked.length}`,
      taken,
      asked,
    };
  } finally {
    await Promise.all(rivals.map((rival) => rival.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}

function installed(name: Peer): string {
  const binary = findPeer(name);
  if (binary === undefined) {
    throw new Error(`install the Debian package of ${name} first`);
  }
  return binary;
}

async function ours(dataDir: string, profile: string): Promise<Rival> {
  const house = await startWholeHouse({
    dataDir,
    execArgv: profile === '' ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`],
  });
  return {
    name: 'svc',
    pid: house.pid,
    folder: join(dataDir, 'plugins', 'metricsdb'),
    write: `${house.url}/api/v1/write`,
    api: `${house.url}/prometheus/api/v1`,
    headers: { authorization: `Bearer ${house.token}` },
    anew: '',
    stop: () => house.end(),
  };
}

async function others(
  start: typeof startPrometheus,
  binary: string,
  parent: string,
): Promise<Rival> {
  const folder = mkdtempSync(join(parent, 'rival-'));
  const engine = await start(binary, folder);
  return {
    name: engine.name,
    pid: engine.process.pid!,
    folder: join(folder, 'data'),
    write: `${engine.url}/api/v1/write`,
    api: `${engine.url}/api/v1`,
    headers: {},
    anew: '&nocache=1',
    stop: () => engine.stop(),
  };
}

const buckets = ['0.005', '0.01', '0.025', '0.05', '0.1', '0.25', '0.5', '1', '2.5', '+Inf'];

/** Twenty series of a host, by names that no rule looks at, since data that ends would raise incidents; three hosts of ten serve requests, the others tell of ten file systems. */
const seriesOf = (number: number): readonly Kind[] => [
  { name: 'fleet_load1', labels: [[]], start: () => 0.5, next: [noise(4, 2)] },
  {
    name: 'fleet_cpu_seconds_total',
    labels: each('mode', ['idle', 'iowait', 'system', 'user']),
    start: (random) => Math.round(random() * 1e8) / 100,
    next: [counter(1, 60, 2), counter(0.3, 0.2, 2), counter(0.9, 2, 2), counter(0.9, 9, 2)],
  },
  {
    name: 'fleet_requests_total',
    labels: [[]],
    start: (random) => Math.round(random() * 1e8),
    next: [counter(0.98, 4_000)],
  },
  {
    name: 'fleet_memory_MemAvailable_bytes',
    labels: [[]],
    // No two alike, or which of them is among the largest would be a matter of taste.
    start: (random) => Math.round(random() * 2e6) * 4_096 + number,
    next: [walk(0.8, 400, 4_096)],
  },
  {
    name: 'fleet_memory_MemTotal_bytes',
    labels: [[]],
    start: () => 4e6 * 4_096,
    next: [same],
  },
  {
    name: 'fleet_network_receive_bytes_total',
    labels: [[['device', 'eth0']]],
    start: (random) => Math.round(random() * 1e10),
    next: [counter(1, 9e5)],
  },
  { name: 'fleet_boot_time_seconds', labels: [[]], start: () => 1_795_000_000, next: [same] },
  number % 10 < 3
    ? {
        name: 'fleet_request_duration_seconds_bucket',
        labels: each('le', buckets),
        start: (random) => Math.round(random() * 10),
        // Cumulative: each bucket grows at least as fast as the one below it.
        next: buckets.map((_, i) => (value: number) => value + (i + 1) * (3 + (number % 7))),
      }
    : {
        name: 'fleet_filesystem_avail_bytes',
        labels: each('mountpoint', numbered('/data', 10)),
        start: (random) => Math.round(random() * 2e7) * 4_096,
        next: [walk(0.4, 60, 4_096), same],
      },
];

const dcOf = (number: number): string => `dc-${number % 8}`;

/** Each request goes to all of them, one after the other, so that none has the machine for itself longer. */
async function pour(
  rivals: readonly Rival[],
  hosts: number,
  seed: number,
  begin: number,
  end: number,
): Promise<Row[]> {
  const all = fleet(
    hosts,
    seed,
    (number) => [
      ['dc', dcOf(number)],
      ['instance', `host-${number}.example.org:9100`],
      ['job', 'fleet'],
    ],
    seriesOf,
  );
  const before = rivals.map((rival) => cpuSeconds(rival));
  const took = rivals.map(() => 0);
  let samples = 0;
  for (let at = begin; at < end; at += scrapeMs) {
    for (const { body, samples: count } of all.requests(at)) {
      for (const [i, rival] of rivals.entries()) {
        const began = performance.now();
        await send(rival, rival.write, body);
        took[i]! += performance.now() - began;
      }
      samples += count;
    }
  }
  // What it costs to put it into its final form belongs to it; Prometheus looks for work once a minute.
  await pause(settleMs);
  return rivals.map((rival, i): Row => {
    const cpu = cpuSeconds(rival) - before[i]!;
    return {
      product: rival.name,
      'M samples/CPU-s': samples / cpu / 1e6,
      'M samples/s': samples / took[i]! / 1e3,
      'bytes/sample': sizeOf(rival.folder) / samples,
      'RSS, MiB': residentMiB(rival),
    };
  });
}

const settleMs = 45_000;
/** Rounds, and time, that do not count: a server that runs for months is warm. */
const warmUps = 3;
const warmMs = 2_000;

async function compare(
  rivals: readonly Rival[],
  question: Asked,
  window: { readonly begin: number; readonly end: number },
  rounds: number,
): Promise<Row> {
  const found = rivals.map((): Answered[] => []);
  const began = performance.now();
  for (let round = 0, warm = false; found[0]!.length < rounds; round++) {
    warm ||= round >= warmUps && performance.now() - began > warmMs;
    for (const i of rivals.keys()) {
      const place = (i + round) % rivals.length;
      const answered = await ask(rivals[place]!, question, window);
      if (warm) {
        found[place]!.push(answered);
      }
    }
  }
  const ms = found.map((answers) => middle(answers.map((answer) => answer.ms)));
  const cpu = found.map((answers) => mean(answers.map((answer) => answer.cpuMs)));
  const shapes = found.map((answers) => shapeOf(answers.at(-1)!.body));
  return {
    query: question.name,
    svc: ms[0],
    Prometheus: ms[1],
    VictoriaMetrics: ms[2],
    'of VictoriaMetrics': middle(found[0]!.map((answer, i) => answer.ms / found[2]![i]!.ms)),
    'CPU of it': cpu[0]! / cpu[2]!,
    'first byte': middle(found[0]!.map((answer) => answer.firstMs)),
    kB: Math.round(found[0]![0]!.body.length / 1_024),
    alike: differs(shapes[0]!, shapes[1]!, 1e-9) ?? loosely(shapes[0]!, shapes[2]!) ?? 'yes',
  };
}

type Points = ReadonlyMap<string, ReadonlyMap<number, number>>;

function shapeOf(body: Buffer): Points {
  const { data } = JSON.parse(body.toString()) as {
    data: {
      result: {
        metric: Record<string, string>;
        value?: [number, string];
        values?: [number, string][];
      }[];
    };
  };
  return new Map(
    data.result.map(({ metric, value, values = [value!] }) => [
      JSON.stringify(Object.entries(metric).sort(([a], [b]) => (a < b ? -1 : 1))),
      new Map(values.map(([time, text]) => [time, Number(text)])),
    ]),
  );
}

/** Returns what tells two answers of the same language apart, beyond rounding. */
function differs(ours: Points, theirs: Points, within: number): string | undefined {
  if (ours.size !== theirs.size) {
    return `${ours.size} series, Prometheus ${theirs.size}`;
  }
  for (const [key, points] of ours) {
    const other = theirs.get(key);
    if (other?.size !== points.size) {
      return `${key}: ${points.size} points, Prometheus ${other?.size ?? 0}`;
    }
    for (const [time, value] of points) {
      const expected = other.get(time) ?? NaN;
      const near = Math.abs(value - expected) <= within * Math.max(1, Math.abs(expected));
      if (!near && !Object.is(value, expected)) {
        return `${key} at ${time}: ${value}, Prometheus ${expected}`;
      }
    }
  }
  return undefined;
}

/**
 * VictoriaMetrics computes rates over one interval more, without extrapolation, and drops names elsewhere: its series must be ours, and
 * most values near.
 */
function loosely(ours: Points, theirs: Points): string | undefined {
  const ratios: number[] = [];
  const nameless = (key: string): string => key.replace(/\["__name__","[^"]*"\],?/, '');
  const named = theirs.size === ours.size && [...theirs.keys()].every((key) => ours.has(key));
  const known = named ? ours : new Map([...ours].map(([key, points]) => [nameless(key), points]));
  for (const [key, points] of theirs) {
    const own = known.get(key);
    points.forEach((value, time) => {
      const other = own?.get(time);
      if (other !== undefined) {
        ratios.push(Math.abs(other - value) / Math.max(1e-9, Math.abs(value), Math.abs(other)));
      }
    });
  }
  const off = ratios.length === 0 ? Infinity : middle(ratios);
  return off < 0.25 ? undefined : `VictoriaMetrics is ${off} away`;
}

async function ask(
  rival: Rival,
  { query, stepS = 60, instant }: Asked,
  { begin, end }: { readonly begin: number; readonly end: number },
): Promise<Answered> {
  const text = encodeURIComponent(query);
  // Between two scrapes: what lies on the start of a range is in it for Prometheus 2, and not for Prometheus 3 and this product.
  const [from, to] = [begin / 1_000 + 30, end / 1_000 - 30];
  const path = instant
    ? `/query?query=${text}&time=${to}`
    : `/query_range?query=${text}&start=${from}&end=${to}&step=${stepS}`;
  const before = cpuSeconds(rival);
  const answered = await send(rival, `${rival.api}${path}${rival.anew}`);
  return { ...answered, cpuMs: (cpuSeconds(rival) - before) * 1_000 };
}

function send(
  { name, headers }: Rival,
  url: string,
  body?: Uint8Array,
): Promise<{ readonly ms: number; readonly firstMs: number; readonly body: Buffer }> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const request = httpRequest(
      url,
      {
        agent,
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          ...headers,
          ...(body !== undefined && {
            'content-encoding': 'snappy',
            'content-type': 'application/x-protobuf',
            'x-prometheus-remote-write-version': '0.1.0',
          }),
        },
      },
      (response) => {
        const parts: Buffer[] = [];
        let firstMs = 0;
        response.on('data', (part: Buffer) => {
          firstMs ||= performance.now() - began;
          parts.push(part);
        });
        response.on('end', () => {
          const ms = performance.now() - began;
          const answer = Buffer.concat(parts);
          if (response.statusCode! >= 300) {
            reject(
              new Error(
                `${name} answered ${response.statusCode} to ${url.slice(0, 90)}: ${answer.toString('utf8', 0, 300)}`,
              ),
            );
          } else {
            resolve({ ms, firstMs, body: answer });
          }
        });
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

const middle = (figures: readonly number[]): number =>
  [...figures].sort((a, b) => a - b)[figures.length >> 1]!;

const mean = (figures: readonly number[]): number =>
  figures.reduce((sum, figure) => sum + figure, 0) / figures.length;
