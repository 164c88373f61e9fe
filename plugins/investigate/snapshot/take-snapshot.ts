import type { Fetcher, HostCheck, Parts, Scope } from 'svc/contracts/investigate';
import type { LabelRecord } from 'svc/contracts/metricsdb';
import {
  type Change,
  type Edge,
  fetchWindow,
  type LogTemplate,
  type Missing,
  type Node,
  type Period,
  type Series,
  type Snapshot,
  type SpanAggregate,
} from 'svc/rca';

import type { ReadyConvention } from '../conventions/known-conventions.ts';
import { checksOf, unheard } from '../checks/run-checks.ts';
import { bindingsOf } from '../discovery/bindings.ts';
import { changesNear, templatesOf } from '../fetch/changes.ts';
import { type Discovered, discoveredSignals } from '../discovery/discovered-signals.ts';
import { addMeasured, neededByAll } from '../discovery/measured-graph.ts';
import { askWithPast } from '../fetch/earlier.ts';
import type { Entities } from '../discovery/entities.ts';
import { withoutExporters } from '../discovery/exporters.ts';
import type { Found, Gatherer } from '../fetch/gatherer.ts';
import { mostNodes } from '../fetch/graph-sources.ts';
import { logSignals, withZeros } from '../discovery/log-signals.ts';
import {
  addWriters,
  addWritersPlaces,
  selectorOf,
  streamNames,
  type Streams,
  streamsOf,
  usualSelector,
} from '../discovery/log-streams.ts';
import { callsIn, withPeers } from '../discovery/named-peers.ts';
import { inventoryOf } from '../fetch/inventory.ts';
import { located } from '../discovery/locate.ts';
import { attributeSplits } from '../discovery/separating-attributes.ts';
import { measuredChanges } from '../discovery/measured-changes.ts';
import { processGroups } from '../discovery/process-groups.ts';
import { processesOf } from '../fetch/processes.ts';
import { metricsSource } from '../fetch/metrics-source.ts';
import { addCalls, addPlacement, addTopology, Graph } from '../fetch/scope.ts';
import { signalsOf } from '../fetch/signals.ts';
import { aggregatesOf } from '../fetch/span-aggregates.ts';
import {
  deviceNode,
  measuredSeries,
  serviceNode,
  standInOf,
  type Subject,
  symptomOf,
} from '../fetch/symptom.ts';
import type { NamesOf } from './device-names.ts';

export interface Snapshotter {
  readonly gatherer: Gatherer;
  readonly checks: ReadonlyMap<string, HostCheck>;
  readonly fetchers: ReadonlyMap<string, Fetcher>;
  readonly conventions: readonly ReadyConvention[];
  /** Names of devices, as people call them. */
  readonly namesOf: NamesOf;
  readonly now: number;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/**
 * Age from which lines and spans are complete: younger ones are in transit, and the same query
 * would have another answer a moment later.
 */
const settleMs = 15_000;
/** Nodes whose lines are read, nearest first. */
const mostLogNodes = 24;

/**
 * Fetches everything that is examined about one incident, in three rounds: where, what, and what
 * was near it.
 */
export async function takeSnapshot(about: Subject, parts: Snapshotter): Promise<Snapshot> {
  const { gatherer, now } = parts;
  const { fired_at: firedAt } = about;
  const window = fetchWindow(firedAt, now);
  const settled = { from: window.from, to: Math.min(firedAt + hourMs, now - settleMs) };
  const recent = { from: firedAt - 3 * hourMs, to: settled.to };
  const around = await surroundingsOf(about, parts, { settled, recent });
  const { subject, nodes, edges, spans, during, entities, bindings, unknown, streams } = around;
  const discovered: Discovered = { bindings, unknown, entities, nodes, window };
  const devices = idsOf(nodes, 'device:');
  const services = idsOf(nodes, 'service:');
  const scope: Scope = { fired_at: firedAt, window, nodes, device_ids: devices, services };

  const [
    counted,
    own,
    found,
    written,
    lines,
    changes,
    measuredOnes,
    processes,
    groups,
    contributed,
    names,
  ] = await Promise.all([
    measuredOf(subject, gatherer, { devices, window, entities }),
    signalsOf(gatherer, { devices, services, window }),
    discoveredSignals(gatherer, discovered),
    logSignals(gatherer, nodes, streams, { from: recent.from, to: window.to }),
    logsOf(gatherer, nodes, recent, streams),
    changesNear(gatherer, { devices, services, firedAt, until: settled.to }),
    measuredChanges(gatherer, discovered),
    processesOf(gatherer, { devices, firedAt, window }),
    processGroups(gatherer, discovered, firedAt),
    contributedOf(gatherer, parts.fetchers, scope),
    parts.namesOf(devices),
  ]);
  const logs = withPeers(lines, nodes, entities);
  const measured = subject.measure?.store === 'logs' ? withZeros(counted, written) : counted;
  const signals = [...own, ...found, ...written];
  const asked = { devices, firedAt, signals, window: { from: firedAt - hourMs, to: window.to } };
  const checks = await checksOf(gatherer, parts.checks, asked);
  const splits = attributeSplits(during, entities);
  const more = merged(contributed);
  const standIn = standInOf(subject, signals);
  const whole = {
    nodes: [...nodes, ...more.nodes],
    series: [...(standIn ? [] : measured), ...signals, ...more.series],
  };
  return {
    version: 1,
    taken_at: Math.round(now),
    symptom: symptomOf(subject, standIn ? [standIn] : measured, standIn?.metric),
    window,
    nodes: whole.nodes.map((node) => named(node, names)),
    edges: [...edges, ...callsIn(logs, edges), ...more.edges],
    series: whole.series,
    logs: [...logs, ...more.logs],
    spans: [...spans, ...more.spans],
    changes: [...changes, ...measuredOnes, ...more.changes],
    checks: [...checks, ...more.checks],
    ...(splits.length > 0 && { splits }),
    ...(processes.length + groups.length > 0 && { processes: [...processes, ...groups] }),
    missing: [...gatherer.missing, ...silentOf(gatherer.missing, asked)],
    evidence: gatherer.evidence,
  };
}

/** Returns what is around an incident: which things there are, how they depend on one another, and which of them it is about. */
async function surroundingsOf(
  about: Subject,
  { gatherer, conventions }: Snapshotter,
  { settled, recent }: { readonly settled: Period; readonly recent: Period },
) {
  const { fired_at: firedAt } = about;
  const [{ graph, spans, during }, measured, writers] = await Promise.all([
    graphOf(about, gatherer, settled),
    inventoryOf(gatherer, firedAt),
    streamNames(gatherer, recent),
  ]);
  const inventory = withoutExporters(measured);
  const { bindings, unknown } = bindingsOf(inventory, conventions);
  const entities = addMeasured(graph, inventory, bindings);
  addWriters(graph, entities, writers);
  await addWritersPlaces(graph, gatherer, entities, {
    named: writers,
    until: Math.min(firedAt, settled.to),
  });
  const streams = streamsOf(writers, entities);
  const place = located(about, entities, bindings);
  const subject: Subject = { ...about, node: place.node };
  const told = [...about.devices.map(deviceNode), ...about.services.map(serviceNode)];
  const near = graph.near([...new Set([...told, ...place.start])], mostNodes);
  const all = neededByAll(near.nodes, entities, bindings, inventory.evidence);
  const [nodes, edges] = [
    [...near.nodes, ...all.nodes],
    [...near.edges, ...all.edges],
  ];
  return { subject, nodes, edges, spans, during, entities, bindings, unknown, streams };
}

/** Returns the graph, with the spans that were read to build it. */
async function graphOf(
  subject: Subject,
  gatherer: Gatherer,
  { to }: Period,
): Promise<{
  readonly graph: Graph;
  readonly spans: readonly SpanAggregate[];
  /** Failed traces of the incident, and all of it. */
  readonly during: readonly (Found | undefined)[];
}> {
  const { fired_at: firedAt, devices, services } = subject;
  const graph = new Graph();
  devices.forEach((id) =>
    graph.addNode({ id: deviceNode(id), kind: 'host', name: deviceNode(id) }),
  );
  services.forEach((name) => graph.addNode({ id: serviceNode(name), kind: 'service', name }));
  const during = { from: firedAt - hourMs / 2, to };
  const [, placed] = await Promise.all([
    addTopology(graph, gatherer, subject, during),
    addPlacement(graph, gatherer, subject, during),
  ]);
  if (placed.length === 0 && devices.length > 0) {
    return { graph, spans: [], during: [] };
  }
  // Of what nothing is known but a time, svc's own spans would be most of what is found.
  const only =
    placed.length === 0
      ? 'resource.service.name != "svc"'
      : `resource.service.name =~ ${JSON.stringify(placed.map((name) => name.replaceAll(/[^\w -]/g, '.')).join('|'))}`;
  const before = { from: firedAt - 3 * hourMs, to: firedAt - hourMs };
  const found = await Promise.all([
    gatherer.ask({
      kind: 'trace',
      source: 'traces',
      query: `{ ${only} && status = error }`,
      window: during,
    }),
    gatherer.ask({ kind: 'trace', source: 'traces', query: `{ ${only} }`, window: during }),
    gatherer.ask({ kind: 'trace', source: 'traces', query: `{ ${only} }`, window: before }),
  ]);
  const [failed, recent] = found;
  const answered = found.filter((one): one is Found => one !== undefined);
  answered.forEach((one) => addCalls(graph, one));
  // Failed traces were searched for explicitly: among all others they would make errors look
  // frequent.
  return {
    graph,
    spans: answered.filter((one) => one !== failed).flatMap(aggregatesOf),
    during: [failed, recent],
  };
}

async function measuredOf(
  subject: Subject,
  gatherer: Gatherer,
  {
    devices,
    window,
    entities,
  }: { readonly devices: readonly string[]; readonly window: Period; readonly entities: Entities },
): Promise<readonly Series[]> {
  const { measure, incident, node } = subject;
  if (measure === undefined) {
    return [];
  }
  const idOf = (labels: LabelRecord): string | undefined => entities.resolve(labels, 'any')?.id;
  if (measure.store === 'logs') {
    const counted = await gatherer.ask({
      kind: 'metric',
      source: 'counts',
      query: measure.query,
      window: { from: subject.fired_at - 3 * hourMs, to: window.to },
      ...(node !== undefined && { node }),
    });
    return counted === undefined
      ? []
      : measuredSeries(subject, { found: counted, earlierOf: () => ({}) }, idOf);
  }
  const ofDevices = incident.device_id !== undefined;
  const { found, earlierOf } = await askWithPast(gatherer, {
    kind: 'metric',
    source: metricsSource(ofDevices ? devices : undefined),
    query: measure.query,
    window,
    ...(node !== undefined && { node }),
  });
  return found === undefined ? [] : measuredSeries(subject, { found, earlierOf }, idOf);
}

async function logsOf(
  gatherer: Gatherer,
  nodes: readonly Node[],
  window: Period,
  streams: ReadonlyMap<string, Streams> | undefined,
): Promise<readonly LogTemplate[]> {
  const asked = nodes
    .flatMap(({ id }) => {
      const own = streams?.get(id);
      const query = streams === undefined ? usualSelector(id) : own && selectorOf(own);
      return query === undefined ? [] : [{ id, query }];
    })
    .slice(0, mostLogNodes);
  const found = asked.map(async ({ id, query }) => {
    const answer = await gatherer.ask({
      kind: 'log',
      source: 'templates',
      query,
      window,
      node: id,
    });
    return answer === undefined ? [] : templatesOf(answer, id, window);
  });
  return (await Promise.all(found)).flat();
}

/**
 * Returns evidence of other plugins; one that fails is recorded as not seen, and does no harm to
 * the rest.
 */
async function contributedOf(
  gatherer: Gatherer,
  fetchers: ReadonlyMap<string, Fetcher>,
  scope: Scope,
): Promise<readonly Parts[]> {
  const asked = [...fetchers].flatMap(([source, fetcher]) =>
    planOf(gatherer, source, fetcher, scope).map(async (question) => {
      const found = await gatherer.ask({ ...question, source });
      return found === undefined
        ? {}
        : fetcher.read(found.value, { ...question, source }, found.id);
    }),
  );
  return await Promise.all(asked);
}

function planOf(
  gatherer: Gatherer,
  source: string,
  fetcher: Fetcher,
  scope: Scope,
): ReturnType<Fetcher['plan']> {
  try {
    return fetcher.plan(scope).slice(0, 20);
  } catch {
    gatherer.lack(
      { kind: 'doc', source },
      'refused',
      `${source} could not say what to ask about this incident`,
    );
    return [];
  }
}

function merged(parts: readonly Parts[]): Required<{ [K in keyof Parts]: NonNullable<Parts[K]> }> {
  const of = <T>(take: (one: Parts) => readonly T[] | undefined): readonly T[] =>
    parts.flatMap((one) => take(one) ?? []);
  return {
    nodes: of<Node>(({ nodes }) => nodes),
    edges: of<Edge>(({ edges }) => edges),
    series: of<Series>(({ series }) => series),
    logs: of<LogTemplate>(({ logs }) => logs),
    spans: of<SpanAggregate>(({ spans }) => spans),
    changes: of<Change>(({ changes }) => changes),
    checks: of(({ checks }) => checks),
  };
}

const idsOf = (nodes: readonly Node[], prefix: string): readonly string[] =>
  nodes.flatMap(({ id }) => (id.startsWith(prefix) ? [id.slice(prefix.length)] : []));

const named = (node: Node, names: ReadonlyMap<string, string>): Node => {
  const name = node.id.startsWith('device:')
    ? names.get(node.id.slice('device:'.length))
    : undefined;
  return name === undefined
    ? { ...node, name: node.name === node.id ? node.id.replace(':', ' ') : node.name }
    : { ...node, name };
};

/**
 * Returns silent hosts. While the store is down nothing is known of any, which is reported once.
 */
const silentOf = (
  missing: readonly Missing[],
  asked: Parameters<typeof unheard>[0],
): readonly Missing[] =>
  missing.some(({ source, reason }) => source === 'metrics' && reason !== 'too_much')
    ? []
    : unheard(asked);
