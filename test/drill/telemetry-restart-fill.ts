import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

import { ProtoWriter, snappyEncode } from 'svc/store';

import { openLogStore } from '../../plugins/logs/store/store.ts';
import { openMetricsStore } from '../../plugins/metricsdb/store/open-store.ts';
import { openTracesStore } from '../../plugins/traces/store/store.ts';
import { bodyOf } from '../plugins/traces/bodies.ts';
import { lineMaker } from '../plugins/logs/lines.ts';

export interface Filled {
  readonly blocks: number;
  readonly blockBytes: number;
  readonly walBytes: number;
  /** Bytes of the log that are not in blocks yet. */
  readonly pendingBytes: number;
  /** Median time of the data. */
  readonly middleMs: number;
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const hourMs = 3_600_000;
/** Lines and spans are spread over this time. */
const oldMs = 5 * 24 * hourMs;

const folderOf = (dataDir: string, plugin: string): string => join(dataDir, 'plugins', plugin);

/** Two thousand gauges that cannot be packed, an hour a push. */
export async function fillMetrics(dataDir: string, bytes: number, endMs: number): Promise<Filled> {
  const [series, perHour] = [2_000, 240];
  const hours = Math.ceil(bytes / (series * perHour * 8));
  let now = endMs - hours * hourMs;
  const store = await openMetricsStore({
    folder: folderOf(dataDir, 'metricsdb'),
    now: () => now,
    log: silent,
  });
  for (let hour = 0; hour < hours; hour++) {
    for (let from = 0; from < series; from += 250) {
      const out = new ProtoWriter(4 * 1024 * 1024);
      for (let one = from; one < from + 250; one++) {
        out.message(1, (message) => {
          message.message(1, (label) => label.string(1, '__name__').string(2, 'filled'));
          message.message(1, (label) => label.string(1, 'n').string(2, String(one)));
          for (let at = 0; at < perHour; at++) {
            message.message(2, (sample) =>
              sample.double(1, Math.random()).int64(2, now - hourMs + at * 15_000),
            );
          }
        });
      }
      await store.push('remote-write', snappyEncode(out.finish()), { encoding: 'snappy' });
    }
    now += hourMs;
    await store.maintain();
  }
  await store.maintain();
  const { blocks, blockBytes, walBytes, accepted, blockSamples } = store.stats();
  await store.close();
  return {
    blocks,
    blockBytes,
    walBytes,
    pendingBytes: Math.max(0, accepted - blockSamples) * 20,
    middleMs: endMs - (hours * hourMs) / 2,
  };
}

/** Lines of four kinds with a token that cannot be packed. */
export async function fillLogs(dataDir: string, bytes: number, endMs: number): Promise<Filled> {
  let now = endMs - oldMs;
  const store = await openLogStore({
    folder: folderOf(dataDir, 'logs'),
    now: () => now,
    log: silent,
  });
  const maker = lineMaker(7);
  const wanted = (): number => store.status().blockBytes;
  // About what a line of them takes in a block.
  const stepMs = oldMs / (bytes / (1_000 * 230));
  while (wanted() < bytes) {
    now = Math.min(endMs - 1, now + stepMs);
    const values = new Map<number, [string, string][]>();
    for (let at = 0; at < 1_000; at++) {
      const { stream, line } = maker.next();
      values.set(stream, [
        ...(values.get(stream) ?? []),
        [
          `${Math.floor(now)}${String(at).padStart(6, '0')}`,
          `${line} ${randomBytes(150).toString('base64')}`,
        ],
      ]);
    }
    const streams = [...values].map(([stream, own]) => ({
      stream: { ...maker.streams[stream]!, filled: 'yes' },
      values: own,
    }));
    await store.push('loki-json', Buffer.from(JSON.stringify({ streams })), {});
  }
  const { blocks, blockBytes, walBytes, heldBytes } = store.status();
  await store.close();
  return { blocks, blockBytes, walBytes, pendingBytes: heldBytes, middleMs: endMs - oldMs / 2 };
}

/** Traces of eight spans with a token that cannot be packed. */
export async function fillTraces(dataDir: string, bytes: number, endMs: number): Promise<Filled> {
  let now = endMs - oldMs;
  const store = await openTracesStore({
    folder: folderOf(dataDir, 'traces'),
    now: () => Math.floor(now),
    log: silent,
  });
  const stepMs = oldMs / (bytes / (50 * 8 * 260));
  let sent = 0;
  let spans = 0;
  while (store.stats().blockBytes < bytes) {
    now = Math.min(endMs - 1, now + stepMs);
    const made = Array.from({ length: 50 }, () => randomBytes(16).toString('hex')).flatMap(
      (trace) =>
        Array.from({ length: 8 }, (_, at) => ({
          trace,
          id: randomBytes(8).toString('hex'),
          name: `op ${at}`,
          startMs: Math.floor(now) - at,
          attributes: { 'http.status_code': 200 + at, token: randomBytes(180).toString('base64') },
        })),
    );
    const body = bodyOf({ 'service.name': `filled-${spans % 7}` }, ...made);
    sent += body.length;
    spans += made.length;
    await store.push('otlp-proto', body);
    await store.tend();
  }
  const { blocks, blockBytes, walBytes, headSpans } = store.stats();
  await store.close();
  return {
    blocks,
    blockBytes,
    walBytes,
    pendingBytes: Math.round((sent / spans) * headSpans),
    middleMs: endMs - oldMs / 2,
  };
}
