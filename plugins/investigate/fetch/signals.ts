import type { Question } from 'svc/contracts/investigate';
import type { Node, Series, SliKind, Unit } from 'svc/rca';

import { askWithPast } from './earlier.ts';
import type { Gatherer } from './gatherer.ts';
import { type Grid, metricsSource } from './metrics-source.ts';
import { deviceNode, serviceNode } from './symptom.ts';

/** Signal of each node of a kind: one query for all of them. */
interface Signal {
  readonly metric: string;
  /** `$on` becomes the matcher of the nodes. */
  readonly query: string;
  readonly kind: SliKind;
  readonly unit: Unit;
  readonly worse?: Series['worse'];
}

const gauge = (metric: string, kind: SliKind, unit: Unit, more: Partial<Signal> = {}): Signal => ({
  metric,
  query: `max by (device_id) (${metric}{$on})`,
  kind,
  unit,
  ...more,
});

/** Errors, latency and rate of services; use, saturation and errors of hosts. */
const ofHosts: readonly Signal[] = [
  gauge('node_cpu_usage_percent', 'cpu', 'percent'),
  gauge('node_memory_used_percent', 'memory', 'percent'),
  gauge('node_swap_used_percent', 'memory', 'percent'),
  gauge('node_filesystem_used_percent', 'disk', 'percent'),
  gauge('node_disk_io_utilization_percent', 'disk', 'percent'),
  gauge('node_procs_blocked', 'disk', 'count'),
  gauge('node_load1', 'load', 'count'),
  gauge('node_open_fds_percent', 'other', 'percent'),
  gauge('node_network_receive_bytes_per_second', 'network', 'bytes', {
    query: 'sum by (device_id) (node_network_receive_bytes_per_second{$on})',
    worse: 'either',
  }),
  gauge('node_network_transmit_bytes_per_second', 'network', 'bytes', {
    query: 'sum by (device_id) (node_network_transmit_bytes_per_second{$on})',
    worse: 'either',
  }),
  {
    metric: 'tcp_retransmitted_percent',
    kind: 'network',
    unit: 'percent',
    query:
      '100 * sum by (device_id) (rate(node_netstat_Tcp_RetransSegs{$on}[5m])) / sum by (device_id) (rate(node_netstat_Tcp_OutSegs{$on}[5m]) > 0)',
  },
  {
    metric: 'network_errors_per_second',
    kind: 'network',
    unit: 'per_second',
    query:
      'sum by (device_id) (rate(node_network_receive_errs_total{$on}[5m]) + rate(node_network_transmit_errs_total{$on}[5m]))',
  },
  {
    metric: 'cpu_steal_percent',
    kind: 'cpu',
    unit: 'percent',
    query: '100 * avg by (device_id) (rate(node_cpu_seconds_total{mode="steal",$on}[5m]))',
  },
  {
    metric: 'cpu_iowait_percent',
    kind: 'disk',
    unit: 'percent',
    query: '100 * avg by (device_id) (rate(node_cpu_seconds_total{mode="iowait",$on}[5m]))',
  },
  {
    metric: 'memory_stalled_percent',
    kind: 'memory',
    unit: 'percent',
    query: '100 * max by (device_id) (rate(node_pressure_memory_stalled_seconds_total{$on}[5m]))',
  },
  {
    metric: 'io_stalled_percent',
    kind: 'disk',
    unit: 'percent',
    query: '100 * max by (device_id) (rate(node_pressure_io_stalled_seconds_total{$on}[5m]))',
  },
];

const served = 'span_kind=~"SPAN_KIND_SERVER|SPAN_KIND_CONSUMER"';
const calls = `sum by (service) (rate(traces_spanmetrics_calls_total{${served},$on}[5m]))`;

const ofServices: readonly Signal[] = [
  {
    metric: 'error_ratio',
    kind: 'error_ratio',
    unit: 'ratio',
    query: `(sum by (service) (rate(traces_spanmetrics_calls_total{${served},status_code="STATUS_CODE_ERROR",$on}[5m])) or 0 * ${calls}) / ${calls}`,
  },
  {
    metric: 'latency_p95_seconds',
    kind: 'latency',
    unit: 'seconds',
    query: `histogram_quantile(0.95, sum by (service, le) (rate(traces_spanmetrics_latency_bucket{${served},$on}[5m])))`,
  },
  { metric: 'calls_per_second', kind: 'rate', unit: 'per_second', worse: 'either', query: calls },
];

/** Series of the nodes, asked once for all nodes of a kind. */
export async function signalsOf(
  gatherer: Gatherer,
  { devices, services, window }: Asked,
): Promise<readonly Series[]> {
  const hosts =
    devices.length === 0
      ? []
      : ofHosts.map((signal) =>
          read(gatherer, signal, {
            label: 'device_id',
            names: devices,
            nodeOf: deviceNode,
            window,
          }),
        );
  const others =
    services.length === 0
      ? []
      : ofServices.map((signal) =>
          read(gatherer, signal, {
            label: 'service',
            names: services,
            nodeOf: serviceNode,
            window,
          }),
        );
  return (await Promise.all([...hosts, ...others])).flat();
}

export interface Asked {
  readonly devices: readonly string[];
  readonly services: readonly string[];
  readonly window: Question['window'];
}

async function read(
  gatherer: Gatherer,
  { metric, query, kind, unit, worse }: Signal,
  {
    label,
    names,
    nodeOf,
    window,
  }: {
    readonly label: string;
    readonly names: readonly string[];
    readonly nodeOf: (name: string) => Node['id'];
  } & Pick<Asked, 'window'>,
): Promise<readonly Series[]> {
  const question: Question = {
    kind: 'metric',
    source: metricsSource(),
    query: on(query, label, names),
    window,
  };
  // What hosts have changes little from hour to hour; the load of services follows the day.
  const { found, earlierOf } =
    label === 'service'
      ? await askWithPast(gatherer, question)
      : { found: await gatherer.ask(question), earlierOf: () => ({}) };
  const { from, step_ms, series } = (found?.value ?? { from: 0, step_ms: 1, series: [] }) as Grid;
  return series.flatMap(({ labels, values }) => {
    const name = labels[label];
    return name === undefined
      ? []
      : [
          {
            id: `${nodeOf(name)}/${metric}`,
            evidence: found!.id,
            node: nodeOf(name),
            metric,
            kind,
            unit,
            labels,
            from,
            step_ms,
            values,
            ...(worse !== undefined && { worse }),
            ...earlierOf(labels),
          },
        ];
  });
}

/** The query with the matcher of some nodes in it. */
export const on = (query: string, label: string, names: readonly string[]): string =>
  query.replaceAll('$on', `${label}=~${JSON.stringify(names.map(quoted).join('|'))}`);

const quoted = (name: string): string => name.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
