import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import type { Outcome, Row } from '../exercise.ts';
import { findPeer, type Peer } from '../peers.ts';
import { fleet, seriesPerHost } from './metrics-fleet.ts';
import {
  cpuSeconds,
  residentMiB,
  startOurs,
  startPrometheus,
  startVictoria,
  type Engine,
} from './metrics-rivals.ts';

const scrapeMs = 15_000;
const hour = 3_600_000;
const agent = new Agent({ keepAlive: true, maxSockets: 8 });

interface Found {
  readonly engine: string;
  readonly msamplesPerCpuS: number;
  readonly bytesPerSample: number | undefined;
  readonly rssMiB: number;
  readonly rateMs: number;
  readonly rateCpuMs: number;
  readonly instantMs: number;
}

/** Span that fills a head: a window of two hours plus late samples. */
const fullMs = 2 * hour + 10 * 60_000 - scrapeMs;
const readyWithinS = 5;
const instantWithinMs = 10;
const mostBytesPerSample = 1.3;

/** The same remote-written fleet to this store, Prometheus and VictoriaMetrics, each alone: what taking, keeping and asking costs. */
export async function run({
  hosts = 63,
  hours = 6,
  growth = 10,
}: {
  readonly hosts?: number;
  readonly hours?: number;
  readonly growth?: number;
} = {}): Promise<Outcome> {
  const found: Found[] = [];
  for (const start of starters()) {
    found.push(await measure(start, hosts, hours));
  }
  const [ours, ...others] = found;
  const ready = await measureReady(hosts, fullMs);
  const grown =
    growth > 1 ? await measure(startOurs, hosts * growth, Math.min(hours, 1)) : undefined;
  const prometheus = others.find(({ engine }) => engine === 'Prometheus');
  const targets = [
    target('bytes a sample', ours!.bytesPerSample ?? Infinity, mostBytesPerSample),
    target('instant, ms', ours!.instantMs, instantWithinMs),
    target('ready with a full head, s', ready.seconds, readyWithinS),
    ...(prometheus === undefined
      ? []
      : [
          target(
            'CPU to take samples, of Prometheus',
            prometheus.msamplesPerCpuS / ours!.msamplesPerCpuS,
            1 / 3,
          ),
          target(
            'bytes a sample, of Prometheus',
            ours!.bytesPerSample! / prometheus.bytesPerSample!,
            1 / 2,
          ),
          target('rate() wall, of Prometheus', ours!.rateMs / prometheus.rateMs, 1),
          target('RSS, of Prometheus', ours!.rssMiB / prometheus.rssMiB, 1),
        ]),
  ];
  return {
    ok: targets.every(({ met }) => met),
    series: hosts * seriesPerHost,
    samples: (hosts * seriesPerHost * hours * hour) / scrapeMs,
    'full head, samples': ready.samples,
    'ready, s': ready.seconds,
    engines: found.map(shown),
    ratios: others.map((other): Row => ({
      'ours to': other.engine,
      'samples per CPU second': ours!.msamplesPerCpuS / other.msamplesPerCpuS,
      'bytes a sample': (ours!.bytesPerSample ?? NaN) / (other.bytesPerSample ?? NaN),
      RSS: ours!.rssMiB / other.rssMiB,
      'rate() wall': ours!.rateMs / other.rateMs,
      instant: ours!.instantMs / other.instantMs,
    })),
    targets,
    ...(grown === undefined
      ? {}
      : { grown: [{ series: hosts * growth * seriesPerHost, ...shown(grown) }] }),
  };
}

const target = (
  of: string,
  is: number,
  atMost: number,
): { of: string; is: number; 'at most': number; met: boolean } => ({
  of,
  is,
  'at most': atMost,
  met: is <= atMost,
});

const shown = (found: Found): Row => ({
  engine: found.engine,
  'M samples/CPU-s': found.msamplesPerCpuS,
  'bytes/sample': found.bytesPerSample,
  'RSS, MiB': found.rssMiB,
  'rate() wall, ms': found.rateMs,
  'rate() CPU, ms': found.rateCpuMs,
  'instant, ms': found.instantMs,
});

function starters(): ((folder: string) => Promise<Engine>)[] {
  const peer = (
    name: Peer,
    start: (binary: string, folder: string) => Promise<Engine>,
  ): ((folder: string) => Promise<Engine>)[] => {
    const binary = findPeer(name);
    return binary === undefined ? [] : [(folder) => start(binary, folder)];
  };
  return [
    startOurs,
    ...peer('prometheus', startPrometheus),
    ...peer('victoria-metrics', startVictoria),
  ];
}

async function measure(
  start: (folder: string) => Promise<Engine>,
  hosts: number,
  hours: number,
): Promise<Found> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-metrics-'));
  const engine = await start(folder);
  try {
    const end = Math.floor(Date.now() / scrapeMs) * scrapeMs - 60_000;
    const begin = end - hours * hour;
    const idle = cpuSeconds(engine.process);
    const samples = await pour(engine, hosts, begin, end);
    const taken = cpuSeconds(engine.process) - idle;
    const rssMiB = residentMiB(engine.process);
    const bytesPerSample = await settledSize(engine, samples);
    // 32 series a host: about a thousand.
    const some = Math.min(hosts, 32);
    const instance = `instance=~"host-(${Array.from({ length: some }, (_, i) => i).join('|')})\\\\.example\\\\.org:9100"`;
    const query = `rate(node_cpu_seconds_total{${instance}}[5m])`;
    const before = cpuSeconds(engine.process);
    const rateMs = await median(7, 3, () =>
      send(
        engine,
        `/api/v1/query_range?query=${encodeURIComponent(query)}&start=${begin / 1_000}&end=${end / 1_000}&step=60`,
      ),
    );
    // Three rounds go before the seven that count.
    const rateCpuMs = ((cpuSeconds(engine.process) - before) / 10) * 1_000;
    const instantMs = await median(15, 30, () =>
      send(
        engine,
        `/api/v1/query?query=${encodeURIComponent(`sum by (mode) (${query})`)}&time=${end / 1_000}`,
      ),
    );
    return {
      engine: engine.name,
      msamplesPerCpuS: samples / taken / 1e6,
      bytesPerSample,
      rssMiB,
      rateMs,
      rateCpuMs,
      instantMs,
    };
  } finally {
    await engine.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function pour(engine: Engine, hosts: number, begin: number, end: number): Promise<number> {
  const all = fleet(hosts);
  let samples = 0;
  for (let at = begin; at < end; at += scrapeMs) {
    await Promise.all(
      all.requests(at).map(async ({ body, samples: count }) => {
        await send(engine, '/api/v1/write', body);
        samples += count;
      }),
    );
  }
  return samples;
}

/** A head that is about to be cut, killed and started again. */
async function measureReady(
  hosts: number,
  span: number,
): Promise<{ readonly seconds: number; readonly samples: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-metrics-'));
  const engine = await startOurs(folder);
  try {
    const begin = Math.floor(Date.now() / (2 * hour)) * 2 * hour - 4 * hour;
    const samples = await pour(engine, hosts, begin, begin + span);
    const took = [await engine.again(), await engine.again(), await engine.again()];
    return { samples, seconds: Math.min(...took) / 1_000 };
  } finally {
    await engine.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Prometheus writes its blocks once a minute at most. */
async function settledSize(engine: Engine, samples: number): Promise<number | undefined> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const size = await engine.bytesPerSample(samples);
    if (size !== undefined) {
      return size;
    }
    await pause(5_000);
  }
  return undefined;
}

/** Returns the median time after uncounted warm-up runs: a server that runs for months is warm. */
async function median(
  times: number,
  before: number,
  work: () => Promise<unknown>,
): Promise<number> {
  const took: number[] = [];
  for (let i = 0; i < before; i++) {
    await work();
  }
  for (let i = 0; i < times; i++) {
    const began = performance.now();
    await work();
    took.push(performance.now() - began);
  }
  return took.sort((a, b) => a - b)[times >> 1]!;
}

function send(engine: Engine, path: string, body?: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${engine.url}${path}`,
      {
        agent,
        method: body === undefined ? 'GET' : 'POST',
        headers:
          body === undefined
            ? {}
            : {
                'content-encoding': 'snappy',
                'content-type': 'application/x-protobuf',
                'x-prometheus-remote-write-version': '0.1.0',
              },
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () => {
          const answer = Buffer.concat(parts);
          if (response.statusCode! >= 300) {
            reject(
              new Error(
                `${engine.name} answered ${response.statusCode} to ${path.slice(0, 60)}: ${answer.toString('utf8', 0, 300)}`,
              ),
            );
          } else {
            resolve(answer);
          }
        });
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}
