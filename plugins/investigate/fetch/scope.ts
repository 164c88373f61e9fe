import type { Neighbourhood } from 'svc/contracts/topology';
import type { Edge, Node, Period } from 'svc/rca';

import type { Gatherer } from './gatherer.ts';
import { mostNodes, placesText } from './graph-sources.ts';
import { namedIn } from './named-in.ts';
import { type Grid, metricsSource } from './metrics-source.ts';
import { on } from './signals.ts';
import { deviceNode, serviceNode, type Subject } from './symptom.ts';
import { type Span, type Traces, withCalled } from './trace-source.ts';

/** Nodes and edges as they are found, from whatever source. */
export class Graph {
  readonly #nodes = new Map<string, Node>();
  readonly #edges = new Map<string, Edge>();
  /** Nodes of which nothing is known but that they are measured. */
  readonly #measured = new Set<string>();

  get nodes(): readonly Node[] {
    return [...this.#nodes.values()];
  }

  addNode(node: Node): void {
    const known = this.#nodes.get(node.id);
    this.#nodes.set(node.id, known === undefined || known.name === known.id ? node : known);
  }

  /** Adds something of which only measurements tell: that says nothing of who depends on it. */
  addMeasured(node: Node): void {
    if (!this.#nodes.has(node.id)) {
      this.#measured.add(node.id);
    }
    this.addNode(node);
  }

  addEdge(edge: Edge): void {
    const key = `${edge.from}>${edge.to}`;
    if (edge.from !== edge.to && !this.#edges.has(key)) {
      this.#edges.set(key, edge);
    }
  }

  /** Nearest to `start` first, as many as are looked at, and the edges between them. */
  near(
    start: readonly string[],
    most: number,
  ): { readonly nodes: readonly Node[]; readonly edges: readonly Edge[] } {
    const beside = new Map<string, string[]>();
    const join = (a: string, b: string): unknown => beside.set(a, [...(beside.get(a) ?? []), b]);
    for (const { from, to } of this.#edges.values()) {
      join(from, to);
      join(to, from);
    }
    const reached = new Set(start.filter((id) => this.#nodes.has(id)));
    for (const id of reached) {
      for (const next of beside.get(id) ?? []) {
        if (reached.size < most && this.#nodes.has(next)) {
          reached.add(next);
        }
      }
    }
    // Unrelated nodes are examined last; those that are only measured, where no dependency is known at all.
    const ofNoDevice = !start.some((id) => id.startsWith('device:'));
    const lonely = [...this.#edges.values()].every(
      ({ from, to, relation }) =>
        relation === 'runs_on' ||
        relation === 'drained_by' ||
        !(start.includes(from) || start.includes(to)),
    );
    [...this.#nodes.keys()]
      .filter(
        (id) => !this.#measured.has(id) || (lonely && ofNoDevice && !id.startsWith('device:')),
      )
      .forEach((id) => reached.size < most && reached.add(id));
    const edges = [...this.#edges.values()].filter(
      ({ from, to }) => reached.has(from) && reached.has(to),
    );
    return { nodes: [...reached].map((id) => this.#nodes.get(id)!), edges };
  }
}

/** Adds what is near the symptom according to manual entries. */
export async function addTopology(
  graph: Graph,
  gatherer: Gatherer,
  subject: Subject,
  window: Period,
): Promise<void> {
  const { devices, services } = subject;
  const names = [...new Set([...services, ...namedIn(subject)])];
  const query = placesText({ device_ids: devices, names });
  const found = await gatherer.ask({ kind: 'topology', source: 'topology', query, window });
  if (found === undefined) {
    return;
  }
  const { nodes, relations } = found.value as Neighbourhood;
  const ids = new Map(nodes.map((node) => [node.id, idOf(node)]));
  nodes.forEach((node) =>
    graph.addNode({ id: ids.get(node.id)!, kind: node.type, name: node.name }),
  );
  for (const { type, cause_id: cause, effect_id: effect } of relations) {
    graph.addEdge({
      from: ids.get(effect)!,
      to: ids.get(cause)!,
      relation: type,
      origin: 'topology',
      evidence: found.id,
    });
  }
}

const idOf = ({ id, type, name, device_id: device }: Neighbourhood['nodes'][number]): string =>
  device !== null
    ? deviceNode(device)
    : type === 'service' || type === 'app' || type === 'database' || type === 'queue'
      ? serviceNode(name)
      : `node:${id}`;

/** Adds which services run on which devices, according to their spans. */
export async function addPlacement(
  graph: Graph,
  gatherer: Gatherer,
  { devices, services }: Subject,
  window: Period,
): Promise<readonly string[]> {
  const [label, names] =
    services.length > 0 ? (['service', services] as const) : (['device_id', devices] as const);
  if (names.length === 0) {
    return services;
  }
  const query = on(
    'group by (service, device_id) (traces_spanmetrics_calls_total{$on})',
    label,
    names,
  );
  const found = await gatherer.ask({ kind: 'topology', source: metricsSource(), query, window });
  const seen = new Set(services);
  for (const { labels } of (found?.value as Grid | undefined)?.series ?? []) {
    const { service, device_id: device } = labels;
    if (service !== undefined && device !== undefined && seen.size < mostNodes) {
      place(graph, service, device, found!.id);
      seen.add(service);
    }
  }
  return [...seen];
}

function place(graph: Graph, service: string, device: string, evidence: string): void {
  graph.addNode({ id: serviceNode(service), kind: 'service', name: service });
  graph.addNode({ id: deviceNode(device), kind: 'host', name: deviceNode(device) });
  graph.addEdge({
    from: serviceNode(service),
    to: deviceNode(device),
    relation: 'runs_on',
    origin: 'trace',
    evidence,
  });
}

/** Places a service on a host that has no device, by the name that its spans give. */
function placeOn(graph: Graph, service: string, host: string, evidence: string): void {
  const name = host.toLowerCase();
  graph.addNode({ id: `host:${name}`, kind: 'host', name });
  graph.addEdge({
    from: serviceNode(service),
    to: `host:${name}`,
    relation: 'runs_on',
    origin: 'trace',
    evidence,
  });
}

/** Adds calls between services, and their devices, as traces show them. */
export function addCalls(
  graph: Graph,
  { id, value }: { readonly id: string; readonly value: unknown },
): void {
  const spans = withCalled((value as Traces).spans);
  const bySpan = new Map(spans.map((span) => [`${span.trace} ${span.span}`, span]));
  for (const span of spans) {
    if (span.service === '') {
      continue;
    }
    graph.addNode({
      id: serviceNode(span.service),
      kind: span.called?.kind ?? 'service',
      name: span.service,
    });
    const host = span.attributes?.['host.name'] ?? span.attributes?.['k8s.node.name'];
    if (span.device !== '') {
      place(graph, span.service, span.device, id);
    } else if (host !== undefined && span.called === undefined) {
      placeOn(graph, span.service, host, id);
    }
    const caller: Span | undefined = bySpan.get(`${span.trace} ${span.parent}`);
    if (caller !== undefined && caller.service !== '' && caller.service !== span.service) {
      graph.addNode({ id: serviceNode(caller.service), kind: 'service', name: caller.service });
      graph.addEdge({
        from: serviceNode(caller.service),
        to: serviceNode(span.service),
        relation: 'calls',
        origin: 'trace',
        evidence: id,
      });
    }
  }
}
