import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type Budget, budget, matcher } from 'svc/query';

import { lines } from '../../plugins/logs/logql/index.ts';
import { type LogStore, openLogStore } from '../../plugins/logs/store/store.ts';
import type { Outcome } from '../exercise.ts';
import { lineMaker, pushBodies } from '../plugins/logs/lines.ts';
import { cpuSeconds, ReferenceLoad } from './reference-load.ts';

const quiet = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
const endMs = 1_795_200_000_000;
const now = (): number => endMs;
const megabyte = 1e6;

/**
 * Measures lines ingested per second of CPU time, their size on disk, search speed, and memory with
 * ten times as many. The goals are for an idle machine: rates are checked after scaling by a
 * reference load in the same run, ingest by JSON.parse and search by unpacking; the measured ones
 * are shown next to them.
 */
export async function run({
  thousands = 200,
}: { readonly thousands?: number } = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-logs-'));
  const store = await openLogStore({ folder: join(folder, 'store'), log: quiet, now });
  const load = new ReferenceLoad();
  try {
    const first = await ingest(store, thousands * 1_000, 1, folder, load);
    await search(store, load);
    const small = process.memoryUsage().rss;
    const rest = await ingest(store, thousands * 9_000, 2, folder, load);
    const scans = await search(store, load);
    const large = process.memoryUsage().rss;
    const { blockBytes, blocks } = store.status();
    const count = thousands * 10_000;
    const seconds = first.seconds + rest.seconds;
    const perSecond = count / seconds;
    const perLine = blockBytes / count;
    const scan = scans.find(({ case: name }) => name.startsWith('absent'))!;
    const calibrated = {
      lines: perSecond * load.factor('parse'),
      scan: scan['MB/s'] * load.factor('unpack'),
    };
    return {
      ok:
        calibrated.lines >= 400_000 &&
        perLine <= 40 &&
        calibrated.scan >= 300 &&
        large - small < 150 * megabyte,
      lines: count,
      'mean line, bytes': (first.bytes + rest.bytes) / count,
      'k lines/cpu-s, measured': Math.round(perSecond / 1_000),
      'k lines/cpu-s, of an idle box (goal 400)': Math.round(calibrated.lines / 1_000),
      'MB/s of searching by the clock, measured': scan['MB/s'],
      'MB/s of searching by the clock, of an idle box (goal 300)': Math.round(calibrated.scan),
      'MB/cpu-s of searching, measured': scan['MB/cpu-s'],
      'bytes/line on disk (goal 40)': Math.round(perLine * 10) / 10,
      blocks,
      'MB resident, a tenth of it': Math.round(small / megabyte),
      'MB resident, all of it': Math.round(large / megabyte),
      calibration: [load.row],
      searches: scans,
    };
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Pushes bodies of 500 lines, eight at a time, until all of it is in blocks. They are made in
 * another process, and reading them is not counted.
 */
async function ingest(
  store: LogStore,
  count: number,
  seed: number,
  folder: string,
  load: ReferenceLoad,
): Promise<{ seconds: number; bytes: number }> {
  let seconds = 0;
  let bytes = 0;
  const timed = async (work: () => Promise<unknown>): Promise<void> => {
    const before = process.cpuUsage();
    await work();
    seconds += cpuSeconds(before);
  };
  const path = join(folder, 'bodies');
  const maker = join(import.meta.dirname, 'logs-child.ts');
  execFileSync(
    process.execPath,
    ['--import', 'tsx', maker, path, String(count), String(seed), String(endMs)],
    { stdio: 'inherit' },
  );
  for (const bodies of bodiesIn(path)) {
    load.run(bodies[0]!, sample);
    await timed(async () => {
      for (let i = 0; i < bodies.length; i += 8) {
        await Promise.all(bodies.slice(i, i + 8).map((body) => store.push('loki-json', body, {})));
      }
    });
  }
  await timed(() => store.flush());
  const ample = budget({ timeoutMs: 600_000, now: () => performance.now() });
  for await (const size of store.directory.sizes(
    [],
    { start: { ms: 0, ns: 0 }, end: { ms: 2e12, ns: 0 } },
    ample,
  )) {
    bytes += size.bytes;
  }
  return {
    seconds,
    bytes: seed === 1 ? bytes : bytes - (bytes / (count + count / 9)) * (count / 9),
  };
}

/** Forty at a time, in the same memory every time. */
function* bodiesIn(path: string): Generator<Buffer[]> {
  const file = openSync(path, 'r');
  const memory = Buffer.allocUnsafeSlow(16 * megabyte);
  try {
    for (let at = 0, bodies: Buffer[] = []; ; bodies = []) {
      for (let used = 0; bodies.length < 40 && readSync(file, memory, used, 4, at) === 4;) {
        const length = memory.readUInt32LE(used);
        readSync(file, memory, used, length, at + 4);
        bodies.push(memory.subarray(used, used + length));
        used += length;
        at += 4 + length;
      }
      if (bodies.length === 0) {
        return;
      }
      yield bodies;
    }
  } finally {
    closeSync(file);
  }
}

/** Sample of lines as one stream has them in a chunk. */
const sample = ((): Buffer => {
  const maker = lineMaker(7);
  const lines: string[] = [];
  for (let bytes = 0; bytes < 256 * 1024;) {
    const { stream, line } = maker.next();
    if (stream === 1) {
      bytes += lines.push(line) > 0 ? line.length : 0;
    }
  }
  return Buffer.from(lines.join('')).subarray(0, 256 * 1024);
})();

interface Search {
  readonly [name: string]: string | number;
  readonly case: string;
  readonly 'MB/s': number;
  readonly 'MB/cpu-s': number;
}

async function search(store: LogStore, load: ReferenceLoad): Promise<Search[]> {
  const cases: [string, (limits: Budget) => Promise<number>][] = [
    ['absent text', (limits) => selected(store, ['no such text in any line'], limits)],
    ['rare text', (limits) => selected(store, ['10.1.2.3'], limits)],
    ['every line', (limits) => selected(store, [], limits)],
    ['newest 100 of a text', (limits) => newest(store, '{app=~".+"} |= "refused"', limits)],
    ['newest 100 of a pattern', (limits) => newest(store, '{app=~".+"} |~ "trace_id.*00"', limits)],
  ];
  const found: Search[] = [];
  const body = [...pushBodies(500)][0]!;
  for (const [name, work] of cases) {
    load.run(body, sample);
    const limits = budget({
      timeoutMs: 600_000,
      maxSamples: Infinity,
      maxBytes: Infinity,
      now: () => performance.now(),
    });
    const before = process.cpuUsage();
    const began = performance.now();
    const count = await work(limits);
    const ms = performance.now() - began;
    found.push({
      case: name,
      lines: count,
      'MB/s': Math.round(limits.spent.bytes / megabyte / (ms / 1_000)),
      'MB/cpu-s': Math.round(limits.spent.bytes / megabyte / cpuSeconds(before)),
      'wall, ms': Math.round(ms),
    });
  }
  return found;
}

async function selected(
  store: LogStore,
  contains: readonly string[],
  limits: Budget,
): Promise<number> {
  let count = 0;
  const everything = store
    .source()
    .select(
      [matcher('app', '=~', '.+')],
      { ms: 0, ns: 0 },
      { ms: 2e12, ns: 0 },
      { direction: 'backward', contains },
      limits,
    );
  for await (const { entries } of everything) {
    count += entries.length;
  }
  return count;
}

const newest = async (store: LogStore, query: string, limits: Budget): Promise<number> =>
  (
    await lines(
      store.source(),
      { query, start: { ms: 0, ns: 0 }, end: { ms: 2e12, ns: 0 }, limit: 100, now },
      limits,
    )
  ).lines.length;
