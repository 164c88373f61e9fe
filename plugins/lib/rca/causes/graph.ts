import type { Edge, Node } from '../signals/snapshot.ts';

/** Relations that say nothing of who calls whom. */
const noCalls = new Set(['runs_on', 'resolved_by', 'drained_by']);

/** Graph of failure propagation. Edges lead from a dependent to its dependency. */
export class Graph {
  readonly #needs = new Map<string, Map<string, Edge>>();
  readonly #neededBy = new Map<string, Map<string, Edge>>();
  /** True if it is known of nothing whom it calls. */
  readonly callsUnknown: boolean;

  constructor(nodes: readonly Node[], edges: readonly Edge[]) {
    nodes.forEach(({ id }) => {
      this.#needs.set(id, new Map());
      this.#neededBy.set(id, new Map());
    });
    edges.forEach((edge) => {
      if (edge.from !== edge.to && this.#needs.has(edge.from) && this.#needs.has(edge.to)) {
        this.#needs.get(edge.from)!.set(edge.to, edge);
        this.#neededBy.get(edge.to)!.set(edge.from, edge);
      }
    });
    this.callsUnknown = edges.every(({ relation }) => noCalls.has(relation));
  }

  get empty(): boolean {
    return [...this.#needs.values()].every((edges) => edges.size === 0);
  }

  needs(id: string): readonly string[] {
    return [...(this.#needs.get(id)?.keys() ?? [])];
  }

  neededBy(id: string): readonly string[] {
    return [...(this.#neededBy.get(id)?.keys() ?? [])];
  }

  edge(from: string, to: string): Edge | undefined {
    return this.#needs.get(from)?.get(to);
  }

  /** Steps from a node to all that can be reached, whichever way edges point. */
  distances(from: string): ReadonlyMap<string, number> {
    return this.#spread([from], (id) => [...this.needs(id), ...this.neededBy(id)]).distance;
  }

  /** Everything a node depends on by way of nodes that weigh something, the node itself included; with the shortest way back to it, of several the weightiest. */
  reached(from: string, weight: (id: string) => number): ReadonlyMap<string, readonly string[]> {
    const next = (id: string): readonly string[] =>
      this.needs(id)
        .filter((other) => weight(other) > 0)
        .sort((a, b) => weight(b) - weight(a));
    const { distance, before } = this.#spread([from], next);
    return new Map([...distance.keys()].map((id) => [id, wayBack(id, before)]));
  }

  #spread(from: readonly string[], next: (id: string) => readonly string[]) {
    const distance = new Map(from.map((id) => [id, 0]));
    const before = new Map<string, string>();
    const waiting = [...from];
    for (let at = 0; at < waiting.length; at += 1) {
      const id = waiting[at]!;
      for (const other of next(id)) {
        if (!distance.has(other)) {
          distance.set(other, distance.get(id)! + 1);
          before.set(other, id);
          waiting.push(other);
        }
      }
    }
    return { distance, before };
  }
}

/** Returns the path from a node back to where the search began. */
function wayBack(id: string, before: ReadonlyMap<string, string>): readonly string[] {
  const way = [id];
  for (let at = before.get(id); at !== undefined; at = before.get(at)) {
    way.push(at);
  }
  return way;
}

/** The nodes that are looked at: whole rings around the symptom, as many as fit; those that nothing connects come last. */
export function scopeOf(
  nodes: readonly Node[],
  edges: readonly Edge[],
  centre: string | undefined,
  most: number,
): readonly Node[] {
  if (nodes.length <= most || centre === undefined) {
    return nodes;
  }
  const distances = new Graph(nodes, edges).distances(centre);
  const rings = new Map<number, Node[]>();
  nodes.forEach((node) => {
    const ring = distances.get(node.id) ?? Number.POSITIVE_INFINITY;
    rings.set(ring, [...(rings.get(ring) ?? []), node]);
  });
  const taken: Node[] = [];
  for (const ring of [...rings.keys()].sort((a, b) => a - b)) {
    if (ring > 1 && taken.length + rings.get(ring)!.length > most) {
      break;
    }
    taken.push(...rings.get(ring)!);
  }
  return taken;
}
