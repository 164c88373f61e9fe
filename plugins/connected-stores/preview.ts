import { type ConnectionAddress, prometheus, testConnection } from 'svc/connection';
import type { DeviceReports, ReportedDevice } from 'svc/contracts/device';
import type { Clock, Handle, PluginContext } from 'svc/sdk';

import { findHosts, type FoundHosts } from './hosts/find-hosts.ts';
import type { NamingRule } from './hosts/host-rules.ts';
import { PrometheusServer, type Sample } from './prometheus/server.ts';
import { HostMemory, reportOf } from './reading.ts';
import type { Preview } from './schema.ts';

export interface PreviewParts {
  readonly fetch: PluginContext['fetch'];
  readonly clock: Clock;
  readonly reports: Handle<DeviceReports>;
}

const queryMs = 10_000;
/** Counting every series takes a large server long. */
const countMs = 20_000;
const maxHosts = 1_000;
const maxTargets = 20;
const count = 'count by (instance, job) ({__name__!=""})';

/** Tells what a store would bring: whether it answers, its hosts, and what its rules leave without one. */
export async function preview(
  { fetch, clock, reports }: PreviewParts,
  {
    name,
    address,
    rules,
    signal,
  }: {
    readonly name: string;
    readonly address: ConnectionAddress;
    readonly rules: readonly NamingRule[];
    readonly signal: AbortSignal;
  },
): Promise<Preview> {
  const test = await testConnection({ fetch, clock }, prometheus, address, signal);
  if (!test.ok) {
    return { ...nothing, test: { ...test } };
  }
  const server = new PrometheusServer(fetch, address);
  const { series, ups } = await new HostMemory().look(server, { timeoutMs: queryMs, signal }, () =>
    clock.now(),
  );
  const found = findHosts(series, ups, rules);
  const devices: ReadonlyMap<string, ReportedDevice> = reports.available
    ? await reports.get().match(name, found.hosts.map(reportOf))
    : new Map();
  const counted = await server.now(count, { timeoutMs: countMs, signal }).catch(() => undefined);
  const perHost = counted && seriesByHost(counted, found);
  return {
    test: { ...test },
    hosts: found.hosts.slice(0, maxHosts).map(({ name: host, by, instances, online }) => {
      const device = devices.get(host);
      return {
        name: host,
        by,
        instances: [...instances],
        online,
        device_id: device?.device_id ?? null,
        device_name: device?.display_name ?? null,
        has_agent: device?.has_agent ?? false,
        series: perHost === undefined ? null : (perHost.get(host) ?? 0),
      };
    }),
    host_count: found.hosts.length,
    rules: labelsOf(found),
    ...totals(counted, found),
  };
}

const nothing = {
  hosts: [],
  host_count: 0,
  rules: [],
  series: null,
  series_without_host: null,
  without_host: [],
};

function labelsOf({ hosts }: FoundHosts): Preview['rules'] {
  const labels = new Map<string, number>();
  for (const { by } of hosts) {
    labels.set(by, (labels.get(by) ?? 0) + 1);
  }
  return [...labels].map(([label, number]) => ({ label, hosts: number }));
}

function seriesByHost(
  counted: readonly Sample[],
  { hostOf }: FoundHosts,
): ReadonlyMap<string | undefined, number> {
  const numbers = new Map<string | undefined, number>();
  for (const { labels, value } of counted) {
    const host = hostOf(labels);
    numbers.set(host, (numbers.get(host) ?? 0) + value);
  }
  return numbers;
}

function totals(
  counted: readonly Sample[] | undefined,
  { hostOf }: FoundHosts,
): Pick<Preview, 'series' | 'series_without_host' | 'without_host'> {
  if (counted === undefined) {
    return { series: null, series_without_host: null, without_host: [] };
  }
  const sum = (samples: readonly Sample[]): number =>
    samples.reduce((total, { value }) => total + value, 0);
  const without = counted.filter(({ labels }) => hostOf(labels) === undefined);
  return {
    series: sum(counted),
    series_without_host: sum(without),
    without_host: without
      .toSorted((a, b) => b.value - a.value)
      .slice(0, maxTargets)
      .map(({ labels: { job = '', instance = '' }, value }) => ({ job, instance, series: value })),
  };
}
