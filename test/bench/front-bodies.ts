import { ProtoWriter, snappyEncode } from 'svc/store';

import { edge } from '../whole-house.ts';
import { pushBodies } from '../plugins/logs/lines.ts';
import { fleet, seriesPerHost } from './metrics-fleet.ts';
import { bodiesOf } from './traces.ts';

/** One push, ready to be sent. */
export interface Parcel {
  readonly signal: 'metrics' | 'logs' | 'traces';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Samples, lines or spans. */
  readonly count: number;
}

export interface Rates {
  readonly samples: number;
  readonly lines: number;
  readonly spans: number;
}

/**
 * Interval of scraping each host: shorter than in production, so that the fleet need not be as
 * large as the rate.
 */
const scrapeMs = 500;

const write = {
  path: '/api/v1/write',
  headers: { 'content-type': 'application/x-protobuf', 'content-encoding': 'snappy' },
};

/**
 * Returns what arrives within `seconds`, for each signal in sending order; the first second is what
 * a server that has just started gets.
 */
export function parcels(
  { samples, lines, spans }: Rates,
  seconds: number,
  startMs: number,
): Readonly<Record<Parcel['signal'], Parcel[]>> {
  const hosts = fleet(Math.max(1, Math.round((samples * scrapeMs) / 1_000 / seriesPerHost)));
  const metrics = Array.from({ length: (seconds * 1_000) / scrapeMs }, (_, round) =>
    hosts
      .requests(startMs + round * scrapeMs)
      .map(
        ({ body, samples: count }, at) =>
          ({ signal: 'metrics', ...as(at + 1, write), body, count }) as const,
      ),
  ).flat();
  const push = { path: '/loki/api/v1/push', headers: { 'content-type': 'application/json' } };
  const logs = [
    ...pushBodies(lines * seconds, {
      each: 500,
      endMs: startMs + seconds * 1_000,
      stepUs: 1e6 / lines,
    }),
  ].map((body, at) => ({ signal: 'logs', ...as((at % 40) + 1, push), body, count: 500 }) as const);
  const { bodies, spans: made } = bodiesOf(Math.round((spans * seconds) / 8), 0, 1);
  const exported = { path: '/v1/traces', headers: { 'content-type': 'application/x-protobuf' } };
  const traces = bodies.map(
    (body, at) =>
      ({
        signal: 'traces',
        ...as((at % 40) + 1, exported),
        body,
        count: made / bodies.length,
      }) as const,
  );
  return { metrics, logs, traces };
}

/** The metrics that the seeded dashboards draw, for the last six hours of so many devices. */
export function history(devices: number, nowMs: number): Parcel[] {
  const stepMs = 60_000;
  const steps = 360;
  return Array.from({ length: devices }, (_, device) => {
    const out = new ProtoWriter(1024 * 1024);
    for (const labels of drawn) {
      out.message(1, (series) => {
        Object.entries(labels).forEach(([name, value]) =>
          series.message(1, (label) => label.string(1, name).string(2, value)),
        );
        for (let step = 0; step < steps; step++) {
          const value = 50 + 40 * Math.sin(step / 30 + device) + ((step * 7 + device) % 10);
          series.message(2, (sample) =>
            sample
              .double(1, Math.round(value * 100) / 100)
              .int64(2, nowMs - (steps - step) * stepMs),
          );
        }
      });
    }
    return {
      signal: 'metrics',
      ...as(device + 1, write),
      body: snappyEncode(out.finish()),
      count: drawn.length * steps,
    } as const;
  });
}

const drawn: readonly Readonly<Record<string, string>>[] = [
  ...[
    'cpu_usage_percent',
    'load1',
    'load5',
    'load15',
    'memory_used_percent',
    'swap_used_percent',
    'uptime_seconds',
    'disk_io_utilization_percent',
    'open_fds_percent',
  ].map((name) => ({ __name__: `node_${name}` })),
  ...['receive', 'transmit'].flatMap((way) =>
    ['eth0', 'eth1'].map((device) => ({
      __name__: `node_network_${way}_bytes_per_second`,
      device,
    })),
  ),
  ...['used_percent', 'avail_bytes'].flatMap((what) =>
    ['/', '/boot', '/var'].map((mountpoint) => ({
      __name__: `node_filesystem_${what}`,
      mountpoint,
    })),
  ),
];

function as(
  number: number,
  { path, headers }: { path: string; headers: Record<string, string> },
): { path: string; headers: Record<string, string> } {
  return { path, headers: { ...headers, authorization: edge(number) } };
}
