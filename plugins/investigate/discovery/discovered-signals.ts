import type { LabelRecord } from 'svc/contracts/metricsdb';
import type { Node, Period, Series, SliKind } from 'svc/rca';

import type { Binding } from './bindings.ts';
import { peerOf, subjectOf } from './measured-graph.ts';
import type { Entities } from './entities.ts';
import type { Found, Gatherer } from '../fetch/gatherer.ts';
import { type Grid, metricsSource } from '../fetch/metrics-source.ts';
import { on } from '../fetch/signals.ts';

export interface Discovered {
  readonly bindings: readonly Binding[];
  readonly unknown: ReadonlyMap<string, readonly LabelRecord[]>;
  readonly entities: Entities;
  /** Nodes that are looked at, nearest first. */
  readonly nodes: readonly Node[];
  readonly window: Period;
}

/** Metrics of spans that svc counts itself, for which it has signals of its own. */
const ownSpans = 'traces_spanmetrics_';
/** Questions at most: of what is understood, and of what only behaves. */
const mostKnown = 90;
const mostUnknown = 24;
/** Series of one signal of one node. */
const mostAlike = 12;
const unknownWeight = 0.35;

/** Signals that belong to the peer, though its caller measures them. */
const ofPeer: ReadonlySet<string> = new Set(['latency', 'error_ratio', 'rate']);

/** One question: a signal of every thing that one label names. */
export interface Asking {
  readonly binding: Binding;
  readonly label: string;
  /** Nodes by the value of the label; of calls, by that and the peer's. */
  readonly nodes: ReadonlyMap<string, string>;
  readonly peer?: string;
  /** Place of its nearest node. */
  readonly nearest: number;
}

/** Asks for every signal that the conventions know and the store has, once for all things that are near. */
export async function discoveredSignals(
  gatherer: Gatherer,
  discovered: Discovered,
): Promise<readonly Series[]> {
  const places = new Map(discovered.nodes.map(({ id }, at) => [id, at]));
  const known = discovered.bindings
    .filter(
      ({ metric, convention: { kind } }) =>
        kind !== 'start' && kind !== 'version' && !metric.startsWith(ownSpans),
    )
    .flatMap((binding) => askingsOf(binding, discovered.entities, places));
  const answering = new Set(
    known.flatMap(({ binding: { convention }, peer, nodes }) =>
      peer === undefined && (convention.kind === 'latency' || convention.kind === 'error_ratio')
        ? [...nodes.values()]
        : [],
    ),
  );
  // What others see of a thing counts where it says nothing itself.
  const needed = known.filter(
    ({ peer, nodes }) => peer === undefined || [...nodes.values()].some((id) => !answering.has(id)),
  );
  const asked = [...inTurn(needed, mostKnown), ...unknownOf(discovered, places)];
  const found = asked.map(async (asking) => {
    const answer = await gatherer.ask({
      kind: 'metric',
      source: metricsSource(),
      query: queryOf(asking),
      window: discovered.window,
    });
    return answer === undefined ? [] : seriesOf(asking, answer, answering);
  });
  return (await Promise.all(found)).flat();
}

/** Kinds in the order in which they tell most of a thing: how it answers, what it is short of, what happened to it. */
const telling: readonly SliKind[] = [
  'error_ratio',
  'latency',
  'errors',
  'saturation',
  'events',
  'cpu',
  'memory',
  'disk',
  'network',
  'queue',
  'rate',
];

const rankOf = ({ binding: { convention } }: Asking): number => {
  const at = telling.indexOf(convention.kind as SliKind);
  return at === -1 ? telling.length : at;
};

/**
 * Returns as many questions as may be asked: each thing has its turn, nearest first, so that one of which much is measured leaves something
 * for the others.
 */
export function inTurn(some: readonly Asking[], most: number): readonly Asking[] {
  const ofNode = new Map<string, Asking[]>();
  const ordered = some.toSorted((a, b) => a.nearest - b.nearest || rankOf(a) - rankOf(b));
  for (const asking of ordered) {
    for (const id of new Set(asking.nodes.values())) {
      ofNode.set(id, [...(ofNode.get(id) ?? []), asking]);
    }
  }
  const waiting = [...ofNode.values()].map((own) => own.toSorted((a, b) => rankOf(a) - rankOf(b)));
  const chosen = new Set<Asking>();
  for (let before = -1; chosen.size > before && chosen.size < most;) {
    before = chosen.size;
    for (const own of waiting) {
      const next = own.find((asking) => !chosen.has(asking));
      if (next !== undefined && chosen.size < most) {
        chosen.add(next);
      }
    }
  }
  return [...chosen];
}

export function queryOf({ binding, label, peer, nodes }: Asking): string {
  const values = [...new Set([...nodes.keys()].map((key) => key.split('\n', 1)[0]!))].toSorted();
  return on(
    binding.query.replaceAll('$by', peer === undefined ? label : `${label}, ${peer}`),
    label,
    values,
  );
}

/** Returns the questions of a convention: one for each label that names things which are near. */
export function askingsOf(
  binding: Binding,
  entities: Entities,
  places: ReadonlyMap<string, number>,
): readonly Asking[] {
  const { convention, rows } = binding;
  const groups = new Map<
    string,
    { nodes: Map<string, string>; nearest: number; label: string; peer?: string }
  >();
  for (const row of rows) {
    const subject =
      convention.client === true
        ? subjectOf(row, entities, true)
        : entities.resolve(row, convention.of);
    // A pool is its owner's, whomever it leads to.
    const called =
      convention.client === true && ofPeer.has(convention.kind) ? peerOf(row, entities) : undefined;
    const id = called?.node?.id ?? subject?.id;
    const place = id === undefined ? undefined : places.get(id);
    if (
      subject === undefined ||
      id === undefined ||
      place === undefined ||
      isOwn(convention.of, subject.label)
    ) {
      continue;
    }
    const key = `${subject.label} ${called?.label ?? ''}`;
    const group = groups.get(key) ?? {
      nodes: new Map<string, string>(),
      nearest: place,
      label: subject.label,
      ...(called !== undefined && called.node !== undefined && { peer: called.label }),
    };
    group.nodes.set(
      group.peer === undefined ? subject.value : `${subject.value}\n${row[group.peer] ?? ''}`,
      id,
    );
    group.nearest = Math.min(group.nearest, place);
    groups.set(key, group);
  }
  return [...groups.values()].map((group) => ({ binding, ...group }));
}

/** Agents of svc have signals of their own for what they send. */
const isOwn = (of: Binding['convention']['of'], label: string): boolean =>
  of === 'host' && label === 'device_id';

function seriesOf(
  { binding: { convention, name }, label, nodes, peer }: Asking,
  { id, value }: Found,
  answering: ReadonlySet<string>,
): readonly Series[] {
  const { kind, unit, worse, weight } = convention;
  const outside = convention.outside === true || peer !== undefined;
  const { from, step_ms, series } = value as Grid;
  const alike = new Map<string, number>();
  return series.flatMap(({ labels, values }): Series[] => {
    const key =
      peer === undefined ? (labels[label] ?? '') : `${labels[label]}\n${labels[peer] ?? ''}`;
    const node = nodes.get(key);
    if (
      node === undefined ||
      (peer !== undefined && answering.has(node)) ||
      kind === 'start' ||
      kind === 'version'
    ) {
      return [];
    }
    const at = alike.get(node) ?? 0;
    alike.set(node, at + 1);
    return at >= mostAlike
      ? []
      : [
          {
            id: `${node}/${name}${at === 0 ? '' : `#${at}`}@${id}`,
            evidence: id,
            node,
            metric: name,
            kind,
            unit,
            labels,
            from,
            step_ms,
            values,
            ...(outside && { outside }),
            ...(worse !== undefined && { worse }),
            ...(weight !== undefined && { weight }),
          },
        ];
  });
}

const unfit =
  /_(?:bucket|sum|count|created|info|quantile)$|^(?:go_|python_|promhttp_|prometheus_|scrape_|node_|ALERTS|svc_|process_|jvm_|nodejs_|dotnet_|traces_|probe_|otelcol_|kube_|net_conntrack_|machine_|container_(?:spec|start|last))/;

/** Returns questions about metrics that no convention knows: they take part by how they behave. */
function unknownOf(
  { unknown, entities }: Discovered,
  places: ReadonlyMap<string, number>,
): readonly Asking[] {
  const all = [...unknown]
    .filter(([metric]) => !unfit.test(metric))
    .flatMap(([metric, rows]) => {
      const counter = metric.endsWith('_total');
      const kind: SliKind = 'other';
      const binding: Binding = {
        metric,
        name: metric,
        rows,
        query: counter
          ? `sum by ($by) (rate(${metric}{$on}[5m]))`
          : `avg by ($by) (${metric}{$on})`,
        convention: {
          title: metric,
          metrics: metric,
          of: 'any',
          kind,
          unit: counter ? 'per_second' : 'other',
          worse: 'either',
          query: '',
          weight: unknownWeight,
        },
      };
      return askingsOf(binding, entities, places);
    });
  return inTurn(all, mostUnknown);
}
