import type { DeviceReports, ReportedDevice, ReportedHost } from 'svc/contracts/device';
import type { MetricsIngest } from 'svc/contracts/metricsdb';

import { readFigures } from './figures/read-figures.ts';
import {
  findHosts,
  type FoundHost,
  hostSeries,
  hostSeriesBefore,
  targetAges,
  targetAgesBefore,
} from './hosts/find-hosts.ts';
import type { Written } from './history/history.ts';
import type { NamingRule } from './hosts/host-rules.ts';
import type { Asking, Course, Labels, PrometheusServer, Sample } from './prometheus/server.ts';
import { RowWriter } from './row-writer.ts';

/** Dependencies of one read of a store. */
export interface ReadingParts {
  readonly name: string;
  readonly server: PrometheusServer;
  readonly rules: readonly NamingRule[];
  readonly copied: readonly string[];
  readonly reports: DeviceReports;
  readonly ingest: MetricsIngest;
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Figures of a device are copied from one store alone; false: another one has it. */
  readonly takes: (deviceId: number) => boolean;
  /** Copies what the store had before, first; false: it is under way, and figures of now wait for it. */
  readonly isCaughtUp: (source: HistorySource) => boolean;
}

/** Source and destination of the history of a store. */
export interface HistorySource {
  readonly hosts: number;
  readonly server: PrometheusServer;
  readonly instances: readonly string[];
  readonly copied: readonly string[];
  readonly write: (courses: readonly Course[]) => Promise<Written>;
}

export interface Read {
  readonly hosts: number;
  readonly series: number;
  /** Series beyond the limit, which are not copied. */
  readonly leftOut: number;
}

const queryMs = 10_000;

/** Series by which hosts are known, remembered from read to read: a host that is down has none now. */
export class HostMemory {
  readonly #seen = new Map<string, Sample>();
  /** Times of the newest samples of instances. */
  readonly #times = new Map<string, number>();
  #isFresh = true;

  /** The series of hosts that are there now, and of those that were and whose targets are still scraped. */
  async look(
    server: PrometheusServer,
    asking: Asking,
    now: () => number,
  ): Promise<{
    readonly series: readonly Sample[];
    readonly ups: readonly Sample[];
    readonly seen: ReadonlyMap<string, number>;
  }> {
    const [ups, before, series, ofUp, ofHosts, agesBefore] = await Promise.all([
      server.now('up', asking),
      this.#isFresh ? server.now(hostSeriesBefore, asking) : [],
      server.now(hostSeries, asking),
      ...targetAges.map((query) => server.now(query, asking)),
      this.#isFresh ? server.now(targetAgesBefore, asking) : [],
    ]);
    this.#isFresh = false;
    const down = new Set(
      ups.flatMap(({ labels, value }) => (value === 0 ? instanceOf(labels) : [])),
    );
    // A scrape that failed is a sample of `up` as well.
    const answered = ofUp.filter(({ labels }) => !down.has(instanceOf(labels)));
    this.#time([...agesBefore!, ...ofHosts!, ...answered], now());
    const scraped = new Set(ups.map(({ labels: { instance = '' } }) => instance));
    for (const sample of [...before, ...series]) {
      const key = keyOf(sample.labels);
      this.#seen.delete(key);
      this.#seen.set(key, sample);
    }
    const there = new Set(series.map(({ labels }) => keyOf(labels)));
    for (const [key, { labels }] of this.#seen) {
      if (!there.has(key) && !scraped.has(labels['instance'] ?? '')) {
        this.#seen.delete(key);
      }
    }
    const instances = new Set([...this.#seen.values()].map(({ labels }) => instanceOf(labels)));
    for (const instance of this.#times.keys()) {
      if (!instances.has(instance)) {
        this.#times.delete(instance);
      }
    }
    return { series: [...this.#seen.values()], ups, seen: this.#times };
  }

  /** Keeps times by the own clock: that of the server may be another one. */
  #time(ages: readonly Sample[], now: number): void {
    for (const { labels, value: seconds } of ages) {
      const instance = instanceOf(labels);
      if (instance !== '' && Number.isFinite(seconds)) {
        const at = Math.round(now - Math.max(0, seconds) * 1_000);
        this.#times.set(instance, Math.max(at, this.#times.get(instance) ?? 0));
      }
    }
  }
}

const instanceOf = ({ instance = '' }: Labels): string => instance;

const keyOf = ({ __name__: name = '', instance = '', job = '', ...labels }: Labels): string =>
  instance === '' ? JSON.stringify(labels) : JSON.stringify([name, instance, job]);

/** Finds the hosts of a store, reports them as devices, and copies their figures. */
export async function readStore(parts: ReadingParts, memory: HostMemory): Promise<Read> {
  const { name, server, rules, copied, reports, signal, takes } = parts;
  const asking = { timeoutMs: queryMs, signal };
  const { series, ups, seen } = await memory.look(server, asking, parts.now);
  const found = findHosts(series, ups, rules, seen);
  const devices = await reports.report(name, found.hosts.map(reportOf));
  const wanted = found.hosts.filter((host) => isCopied(devices.get(host.name)));
  const online = new Set(found.hosts.flatMap((host) => (host.online ? host.name : [])));
  const writer = new RowWriter(parts, found, (host) => {
    const device = devices.get(host);
    // A rate of the last minutes goes on for minutes after its host is down, and is wrong by then.
    return online.has(host) && isCopied(device) ? device : undefined;
  });
  writer.online(
    wanted.map(({ name: host, online: isUp }) => ({ device: devices.get(host)!, online: isUp })),
  );
  const history = new RowWriter(parts, found, (host) => {
    const device = devices.get(host);
    return isCopied(device) ? device : undefined;
  });
  const isCaughtUp = parts.isCaughtUp({
    hosts: found.hosts.length,
    server,
    instances: wanted.flatMap(({ instances: own }) => own),
    copied,
    write: (courses) => history.writeCourses(courses),
  });
  if (!isCaughtUp) {
    // A sample older than those its series already has would be refused.
    await writer.flush();
    return { hosts: found.hosts.length, series: 0, leftOut: 0 };
  }
  const instances = wanted.filter((host) => host.online).flatMap(({ instances: own }) => own);
  const take = (samples: readonly Sample[]): Promise<void> => writer.write(samples);
  await readFigures({ server, instances, copied, take, ...asking });
  await writer.flush();
  return { hosts: found.hosts.length, series: writer.written, leftOut: writer.leftOut };

  function isCopied(device: ReportedDevice | undefined): device is ReportedDevice {
    return device !== undefined && !device.has_agent && takes(device.device_id);
  }
}

export const reportOf = ({ name, addresses, online, seenAt, info }: FoundHost): ReportedHost => ({
  name,
  addresses,
  online,
  seen_at: seenAt,
  info,
});
