import type { ProcessUse } from 'svc/rca';

import type { Gatherer } from '../fetch/gatherer.ts';
import { type Grid, metricsSource } from '../fetch/metrics-source.ts';
import { plain } from '../fetch/process-source.ts';
import { on } from '../fetch/signals.ts';
import type { Discovered } from './discovered-signals.ts';

const hourMs = 3_600_000;
const prefix = 'namedprocess_namegroup_';
/** Groups of one host. */
const mostGroups = 200;

/** Percent of a core, resident bytes, and bytes read and written a second, in the order of `ProcessUse`. */
const measures = [
  `100 * sum by ($by, groupname) (rate(${prefix}cpu_seconds_total{$on}[2m]))`,
  `sum by ($by, groupname) (${prefix}memory_bytes{$on,memtype="resident"})`,
  `sum by ($by, groupname) (rate(${prefix}read_bytes_total{$on}[2m])) + sum by ($by, groupname) (rate(${prefix}write_bytes_total{$on}[2m]))`,
];

/** Returns what groups of processes use of the hosts that are near, where process_exporter measures them and no agent does. */
export async function processGroups(
  gatherer: Gatherer,
  { unknown, entities, nodes, window }: Discovered,
  firedAt: number,
): Promise<readonly ProcessUse[]> {
  const near = new Set(nodes.map(({ id }) => id));
  const hosts = new Map<string, Map<string, string>>();
  for (const row of unknown.get(`${prefix}cpu_seconds_total`) ?? []) {
    const host = entities.resolve(row, 'host', { known: true });
    if (host !== undefined && host.label !== 'device_id' && near.has(host.id)) {
      hosts.set(host.label, (hosts.get(host.label) ?? new Map()).set(host.value, host.id));
    }
  }
  const found = [...hosts].map(async ([label, places]) => {
    const answers = await Promise.all(
      measures.map((measure) =>
        gatherer.ask({
          kind: 'metric',
          source: metricsSource(),
          query: on(measure.replaceAll('$by', label), label, [...places.keys()].toSorted()),
          window: { from: firedAt - hourMs, to: window.to },
        }),
      ),
    );
    const grids = answers.map(
      (answer) => (answer?.value ?? { from: 0, step_ms: 1, series: [] }) as Grid,
    );
    const evidence = answers.find((answer) => answer !== undefined)?.id ?? '';
    return [...places].flatMap(([value, node]) => usesOf(grids, { label, value, node, evidence }));
  });
  return (await Promise.all(found)).flat();
}

interface Place {
  readonly label: string;
  readonly value: string;
  readonly node: string;
  readonly evidence: string;
}

function usesOf(
  [cpu, ...others]: readonly Grid[],
  { label, value, node, evidence }: Place,
): readonly ProcessUse[] {
  const own = (cpu?.series ?? []).filter(({ labels }) => labels[label] === value);
  return own.slice(0, mostGroups).map(({ labels: { groupname = '' }, values }) => {
    const rest = others.map(
      ({ series }) =>
        series.find(({ labels }) => labels[label] === value && labels['groupname'] === groupname)
          ?.values ?? [],
    );
    return {
      evidence,
      node,
      pid: null,
      name: plain(groupname),
      user: null,
      started_at: null,
      uses: values.flatMap((used, at): ProcessUse['uses'] =>
        used === null
          ? []
          : [[cpu!.from + at * cpu!.step_ms, used, rest[0]?.[at] ?? 0, rest[1]?.[at] ?? 0]],
      ),
    };
  });
}
