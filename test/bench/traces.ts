import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { ProtoWriter } from 'svc/store';

import type { Outcome } from '../exercise.ts';
import { openTraces } from '../../plugins/traces/open-traces.ts';
import { pushBodies } from '../plugins/logs/lines.ts';
import { noCall, quiet } from '../plugins/traces/store-house.ts';
import { cpuSeconds, ReferenceLoad } from './reference-load.ts';

setFlagsFromString('--expose-gc');
/**
 * Collects the garbage of making the bodies, which is not the store's. Only once: a forced
 * collection also discards compiled code.
 */
const collectGarbage = runInNewContext('gc') as () => void;

const services = [
  'frontend',
  'checkout',
  'cart',
  'payment',
  'catalog',
  'shipping',
  'email',
  'postgres',
];
const startMs = 1_795_200_000_000;
const mostGrownMiB = 150;

/** Numbers that look random and are the same in every run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Made {
  readonly bodies: Uint8Array[];
  readonly spans: number;
  readonly ids: string[];
}

/** Bodies of traces with about eight spans of six attributes and now and then an exception. */
export function bodiesOf(traces: number, from: number, seed: number): Made {
  const random = numbers(seed);
  const pick = (count: number): number => Math.floor(random() * count);
  const bytes = (size: number): Buffer =>
    Buffer.from(Array.from({ length: size }, () => pick(256)));
  const bodies: Uint8Array[] = [];
  const ids: string[] = [];
  let spans = 0;
  for (let done = 0; done < traces;) {
    const byService = new Map<string, ((writer: ProtoWriter) => void)[]>();
    for (let trace = 0; trace < 50 && done < traces; trace++, done++) {
      const traceId = bytes(16);
      const count = 2 + pick(13);
      const spanIds = Array.from({ length: count }, () => bytes(8));
      const start = BigInt(startMs) * 1_000_000n + BigInt(Math.floor((from + done) * 3.6e6 * 0.1));
      ids.push(traceId.toString('hex'));
      for (let i = 0; i < count; i++) {
        const service = i === 0 ? services[0]! : services[pick(services.length)]!;
        const at = start + BigInt(i * 1_000_000 + pick(900_000));
        const duration = BigInt(Math.floor(2_000_000 * 2 ** (random() * 7)));
        const error = random() < 0.04;
        const status = [200, 200, 200, 201, 404, 500][pick(6)]!;
        const parent = spanIds[pick(i)];
        const write = (span: ProtoWriter): void => {
          span.bytes(1, traceId).bytes(2, spanIds[i]!);
          if (i > 0) {
            span.bytes(4, parent!);
          }
          span
            .string(5, `${['GET', 'POST', 'SELECT', 'UPDATE'][i % 4]!} /${service}/op${i % 5}`)
            .uint(6, 1 + (i % 3))
            .fixed64(7, at)
            .fixed64(8, at + duration);
          attribute(span, 'http.method', (value) => value.string(1, i % 3 === 0 ? 'POST' : 'GET'));
          attribute(span, 'http.status_code', (value) => value.int64(3, status));
          attribute(span, 'http.url', (value) =>
            value.string(1, `https://shop.example/${service}/${pick(100_000)}`),
          );
          attribute(span, 'user.id', (value) => value.string(1, `u${pick(20_000)}`));
          attribute(span, 'net.peer.ip', (value) =>
            value.string(1, `10.0.${pick(3)}.${pick(250)}`),
          );
          attribute(span, 'db.rows', (value) => value.int64(3, pick(100)));
          if (error) {
            span.message(11, (event) => {
              event.fixed64(1, at + duration).string(2, 'exception');
              attribute(
                event,
                'exception.message',
                (value) => value.string(1, `boom ${pick(30)}`),
                3,
              );
            });
            span.message(15, (code) => code.uint(3, 2));
          }
        };
        byService.set(service, [...(byService.get(service) ?? []), write]);
        spans++;
      }
    }
    const body = new ProtoWriter(64 * 1024);
    for (const [service, writes] of byService) {
      body.message(1, (resourceSpans) => {
        resourceSpans.message(1, (resource) => {
          attribute(resource, 'service.name', (value) => value.string(1, service), 1);
          attribute(resource, 'host.name', (value) => value.string(1, `node-${service}`), 1);
        });
        resourceSpans.message(2, (scopeSpans) => {
          scopeSpans.message(1, (scope) => scope.string(1, 'otel-go').string(2, '1.0'));
          writes.forEach((write) => scopeSpans.message(2, write));
        });
      });
    }
    bodies.push(Uint8Array.from(body.finish()));
  }
  return { bodies, spans, ids };
}

function attribute(
  writer: ProtoWriter,
  key: string,
  write: (value: ProtoWriter) => void,
  field = 9,
): void {
  writer.message(field, (pair) => pair.string(1, key).message(2, write));
}

/**
 * Takes in traces, then asks for them: spans a CPU second, bytes a span, times of questions, and memory at a tenth and at
 * all of the data. The goals are for an idle box: the rate is checked after it was scaled by what a reference load in
 * the same run, JSON.parse of push bodies, tells of this one; the time of a trace by id is checked as it was measured.
 */
export async function run({
  traces = 100_000,
}: { readonly traces?: number } = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-traces-'));
  const service = await openTraces({
    data: { folder: join(folder, 'store') },
    log: quiet,
    notify: () => undefined,
    now: () => startMs + traces * 0.4,
    every: () => () => undefined,
  });
  const { methods } = service;
  try {
    let spans = 0;
    let wire = 0;
    let cpu = 0;
    let wall = 0;
    const ids: string[] = [];
    const memory: number[] = [];
    const lengths: number[][] = [];
    const parts = 10;
    const load = new ReferenceLoad();
    const loadBody = [...pushBodies(500)][0]!;
    for (let part = 0; part < parts; part++) {
      const made = bodiesOf(traces / parts, (traces / parts) * part, part + 1);
      spans += made.spans;
      ids.push(...made.ids.slice(0, 20));
      lengths.push(made.bodies.map(({ length }) => length));
      writeFileSync(join(folder, `part-${part}`), Buffer.concat(made.bodies));
    }
    collectGarbage();
    for (let part = 0; part < parts; part++) {
      const bodies = bodiesIn(readFileSync(join(folder, `part-${part}`)), lengths[part]!);
      load.run(loadBody, bodies[0]!);
      const began = performance.now();
      const before = process.cpuUsage();
      for (let i = 0; i < bodies.length; i += 4) {
        const batch = bodies.slice(i, i + 4);
        wire += batch.reduce((sum, { length }) => sum + length, 0);
        await Promise.all(batch.map((body) => pushPatiently(methods, body)));
      }
      if (part === parts - 1) {
        await methods.tend({ now: true });
      }
      cpu += cpuSeconds(before);
      wall += (performance.now() - began) / 1e3;
      memory.push(process.memoryUsage().rss / 1024 ** 2);
    }
    const { blocks, blockBytes, residentBytes, metricSeries } = methods.stats();
    const window = { start: startMs - 1000, end: startMs + traces };
    const byId = await times(ids, (traceId) => methods.trace({ traceId, form: 'v1' }, noCall));
    const asked: Record<string, string> = {
      'newest 20 of a service over 50 ms':
        '{ resource.service.name = "checkout" && duration > 50ms }',
      'all rows: duration > 254 ms':
        '{ duration > 254ms && span.db.rows = 7 && resource.service.name = "email" }',
      'one user': '{ span.user.id = "u123" }',
      'one that nobody is': '{ span.user.id = "nobody" }',
      structural:
        '{ resource.service.name = "frontend" } >> { status = error && span.http.status_code = 500 }',
      'count() > 3': '{ status = error } | count() > 3',
    };
    const cases: { case: string; ms: number; traces: number }[] = [];
    for (const [label, query] of Object.entries(asked)) {
      const began = performance.now();
      const { traces: found } = await methods.search({ query, ...window }, noCall);
      cases.push({ case: label, ms: performance.now() - began, traces: found.length });
    }
    const began = performance.now();
    const { labels } = await methods.metrics(
      { query: '{ } | rate() by (resource.service.name)', ...window, step: 10_000 },
      noCall,
    );
    cases.push({
      case: 'rate() by service, all spans',
      ms: performance.now() - began,
      traces: labels.length,
    });
    const rate = spans / cpu;
    const calibrated = rate * load.factor('parse');
    const grown = memory.at(-1)! - memory[0]!;
    return {
      ok: calibrated >= 150_000 && byId.median <= 10 && grown < mostGrownMiB,
      spans,
      'spans a CPU second, measured': Math.round(rate),
      'spans a CPU second, of an idle box (goal 150,000)': Math.round(calibrated),
      calibration: [load.row],
      'spans a second': Math.round(spans / wall),
      'wire bytes a span': wire / spans,
      'bytes a span': blockBytes / spans,
      blocks,
      'resident KiB of blocks and caches': Math.round(residentBytes / 1024),
      'series of span metrics': metricSeries,
      'trace by id, median ms': byId.median,
      'trace by id, p95 ms': byId.p95,
      'RSS MiB at a tenth': Math.round(memory[0]!),
      'RSS MiB at the end': Math.round(memory.at(-1)!),
      cases,
    };
  } finally {
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function bodiesIn(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  let at = 0;
  return lengths.map((length) => bytes.subarray(at, (at += length)));
}

/** Pushes as a sender does: when told to wait, it waits. */
async function pushPatiently(
  methods: { push(input: { format: 'otlp-proto'; body: Uint8Array }): Promise<unknown> },
  body: Uint8Array,
): Promise<void> {
  for (;;) {
    try {
      await methods.push({ format: 'otlp-proto', body });
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== 'rate_limited') {
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

async function times<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<{ median: number; p95: number }> {
  const took: number[] = [];
  for (const item of items) {
    const began = performance.now();
    await work(item);
    took.push(performance.now() - began);
  }
  took.sort((a, b) => a - b);
  return { median: took[Math.floor(took.length / 2)]!, p95: took[Math.floor(took.length * 0.95)]! };
}
