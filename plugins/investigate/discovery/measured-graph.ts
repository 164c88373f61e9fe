import type { LabelRecord } from 'svc/contracts/metricsdb';
import type { Edge, Node } from 'svc/rca';

import names from '../conventions/labels.json' with { type: 'json' };
import type { Binding } from './bindings.ts';
import { Entities, type Entity } from './entities.ts';
import type { Inventory } from '../fetch/inventory.ts';
import type { Graph } from '../fetch/scope.ts';

const weights = { runs_on: 0.9, calls: 0.9, unsure: 0.6 } as const;
/** Hosts of one service; more are no placement, but somebody who measures them all. */
const mostPlaces = 40;
const mostServers = 4;

/**
 * Adds what is measured to the graph: things that labels name, where they run, and whom they call.
 * Returns the things by their names.
 */
export function addMeasured(
  graph: Graph,
  { rows, evidence = '' }: Inventory,
  bindings: readonly Binding[],
): Entities {
  const entities = new Entities();
  const know = (node: Node): void => {
    graph.addMeasured(node);
    entities.know(node);
  };
  graph.nodes.forEach((node) => entities.know(node));
  const named = new Set([
    'target_info',
    'kube_pod_info',
    'node_uname_info',
    ...bindings.map(({ metric }) => metric),
  ]);
  const knowAll = (of: 'service' | 'host' | 'store' | 'container'): void =>
    bindings
      .filter(({ convention }) => convention.of === of && convention.client !== true)
      .forEach((binding) =>
        binding.rows.forEach((row) => {
          const found = entities.resolve(row, of);
          if (found !== undefined) {
            know(nodeOf(found));
          }
        }),
      );
  // Services first: other things are recognized by their names. Names before addresses, which are learnt from what stands beside them.
  knowAll('service');
  for (const row of rows) {
    const host = named.has(row['__name__'] ?? '') ? entities.resolve(row, 'host') : undefined;
    if (host !== undefined && host.label !== 'instance') {
      know(nodeOf(host));
    }
  }
  entities.learn(rows);
  knowAll('host');
  knowAll('store');
  knowAll('container');
  place(graph, entities, bindings, evidence);
  addConsumers(graph, entities, bindings, evidence);
  bindings
    .filter(({ convention }) => convention.client === true)
    .forEach(({ rows: own }) => own.forEach((row) => addCall(graph, entities, row, evidence)));
  return entities;
}

const notDepending = new Set(['host', 'device', 'database', 'queue', 'remote']);

/** Returns what each of these services depends on without any call that shows it, as on what resolves names. */
export function neededByAll(
  near: readonly Node[],
  entities: Entities,
  bindings: readonly Binding[],
  evidence = '',
): { readonly nodes: readonly Node[]; readonly edges: readonly Edge[] } {
  const servers = new Map<string, Node>();
  for (const { convention, rows } of bindings.filter((one) => one.convention.everyone === true)) {
    for (const row of rows) {
      const found = entities.resolve(row, convention.of);
      if (found !== undefined && servers.size < mostServers) {
        servers.set(found.id, nodeOf(found));
      }
    }
  }
  const known = new Set(near.map(({ id }) => id));
  const depending = near.filter(({ id, kind }) => !notDepending.has(kind) && !servers.has(id));
  return {
    nodes: [...servers.values()].filter(({ id }) => !known.has(id)),
    edges: depending.flatMap(({ id: from }) =>
      [...servers.keys()].map((to) => ({
        from,
        to,
        relation: 'resolved_by',
        origin: 'metric' as const,
        evidence,
        weight: weights.unsure,
      })),
    ),
  };
}

const nodeOf = ({ id, kind, name }: Entity): Node => ({ id, kind, name });

/** Adds where things run: their series name a host, or have the address of one. */
function place(
  graph: Graph,
  entities: Entities,
  bindings: readonly Binding[],
  evidence: string,
): void {
  const places = new Map<string, Set<string>>();
  for (const { convention, rows, metric } of bindings) {
    if (convention.of === 'host' || /^(?:kube_(?!pod_info)|probe_)/.test(metric)) {
      continue;
    }
    for (const row of rows) {
      const thing = subjectOf(row, entities, convention.client);
      const host = entities.resolve(row, 'host', { known: true });
      if (thing !== undefined && host !== undefined && thing.id !== host.id) {
        places.set(thing.id, (places.get(thing.id) ?? new Set()).add(host.id));
      }
    }
  }
  for (const [from, hosts] of places) {
    if (hosts.size <= mostPlaces) {
      hosts.forEach((to) =>
        graph.addEdge({
          from,
          to,
          relation: 'runs_on',
          origin: 'metric',
          evidence,
          weight: weights.runs_on,
        }),
      );
    }
  }
}

const groupLabels = ['consumergroup', 'consumer_group', 'group'];

/** Adds who empties a queue: what waits there waits for them, though they depend on it as well. */
function addConsumers(
  graph: Graph,
  entities: Entities,
  bindings: readonly Binding[],
  evidence: string,
): void {
  for (const { rows } of bindings.filter(({ convention }) => convention.kind === 'queue')) {
    for (const row of rows) {
      const label = groupLabels.find((one) => row[one] !== undefined);
      const consumer = label === undefined ? undefined : entities.called(row[label]!);
      const others = Object.entries(row).filter(([name]) => name !== label);
      const queue =
        consumer && entities.resolve(Object.fromEntries(others), 'store', { known: true });
      if (consumer !== undefined && queue !== undefined && queue.id !== consumer.id) {
        graph.addEdge({
          from: queue.id,
          to: consumer.id,
          relation: 'drained_by',
          origin: 'metric',
          evidence,
          weight: weights.runs_on,
        });
      }
    }
  }
}

/** Returns whose series this is; of a call that is the caller. */
export function subjectOf(
  row: LabelRecord,
  entities: Entities,
  client: boolean | undefined,
): Entity | undefined {
  if (client !== true) {
    return entities.resolve(row, 'any');
  }
  const caller = names.caller.find((label) => row[label] !== undefined);
  const own = Object.fromEntries(
    Object.entries(row).filter(([label]) =>
      caller === undefined ? !names.peer.includes(label) : label === caller,
    ),
  );
  const found = caller === undefined ? undefined : entities.called(row[caller]!);
  return found === undefined
    ? entities.resolve(own, 'any')
    : { ...found, label: caller!, value: row[caller!]! };
}

/** Returns whom a call goes to, and by which label. */
export function peerOf(
  row: LabelRecord,
  entities: Entities,
): { readonly node: Node | undefined; readonly label: string } | undefined {
  const named = names.peer.filter((label) => row[label] !== undefined);
  const known = named.find((label) => entities.called(row[label]!) !== undefined);
  const label = known ?? named[0];
  return label === undefined ? undefined : { node: entities.called(row[label]!), label };
}

/** Labels whose values name a peer although it is known from nowhere else. */
const naming = new Set([
  'peer_service',
  'server_address',
  'net_peer_name',
  'http_host',
  'destination_service',
]);

function addCall(graph: Graph, entities: Entities, row: LabelRecord, evidence: string): void {
  const from = subjectOf(row, entities, true);
  const peer = peerOf(row, entities);
  if (from === undefined || peer === undefined) {
    return;
  }
  const name = row[peer.label]!;
  const node =
    peer.node ??
    (naming.has(peer.label) && !/^(?:localhost|127\.|unknown$)/.test(name)
      ? { id: `remote:${name}`, kind: 'remote', name }
      : undefined);
  if (node === undefined || node.id === from.id) {
    return;
  }
  graph.addNode(node);
  entities.know(node);
  graph.addEdge({
    from: from.id,
    to: node.id,
    relation: 'calls',
    origin: 'metric',
    evidence,
    weight: peer.node === undefined ? weights.unsure : weights.calls,
  });
}
