export interface Node {
  readonly id: number;
  readonly type: string;
  readonly name: string;
  /** Device that the node stands for. */
  readonly device_id?: number | null;
}

export interface Edge {
  readonly id: number;
  readonly type: string;
  readonly src_id: number;
  readonly dst_id: number;
}

interface Placed {
  readonly places: ReadonlyMap<number, { readonly x: number; readonly y: number }>;
  readonly width: number;
  readonly height: number;
}

const [columnWidth, rowHeight, margin] = [120, 76, 60];
const widest = 12;

/** Nodes in layers: what others depend on stands below them; neighbours stand close. The same graph is always drawn alike. */
export function layout(nodes: readonly Node[], edges: readonly Edge[]): Placed {
  const known = new Set(nodes.map(({ id }) => id));
  const inner = edges.filter(
    ({ src_id: from, dst_id: to }) => known.has(from) && known.has(to) && from !== to,
  );
  const depth = depths(nodes, inner);
  const layers: number[][] = [];
  for (const { id } of nodes.toSorted((a, b) => a.name.localeCompare(b.name))) {
    (layers[depth.get(id)!] ??= []).push(id);
  }
  const filled = layers.filter((layer) => layer !== undefined);
  const rows = filled.flatMap((layer) => pieces(closeToParents(layer, inner, filled)));
  const places = new Map<number, { x: number; y: number }>();
  const columns = Math.max(1, ...rows.map((row) => row.length));
  rows.forEach((row, y) =>
    row.forEach((id, x) =>
      places.set(id, {
        x: margin + (x + (columns - row.length) / 2) * columnWidth,
        y: margin / 2 + y * rowHeight,
      }),
    ),
  );
  return {
    places,
    width: 2 * margin + (columns - 1) * columnWidth,
    height: margin + Math.max(0, rows.length - 1) * rowHeight,
  };
}

/**
 * Returns how many steps each node is below the topmost one that leads to it; cycles are cut where
 * they close.
 */
function depths(nodes: readonly Node[], edges: readonly Edge[]): Map<number, number> {
  const depth = new Map(nodes.map(({ id }) => [id, 0]));
  for (let round = 0; round < Math.min(nodes.length, 30); round++) {
    let moved = false;
    for (const { src_id: from, dst_id: to } of edges) {
      const below = depth.get(from)! + 1;
      if (depth.get(to)! < below && below <= 30) {
        depth.set(to, below);
        moved = true;
      }
    }
    if (!moved) {
      break;
    }
  }
  return depth;
}

/** Sorts by the position of their parents. */
function closeToParents(
  layer: readonly number[],
  edges: readonly Edge[],
  layers: readonly (readonly number[])[],
): readonly number[] {
  const position = new Map(layers.flatMap((others) => others.map((id, at) => [id, at] as const)));
  const middle = (id: number): number => {
    const parents = edges
      .filter(({ dst_id: to }) => to === id)
      .map(({ src_id: from }) => position.get(from) ?? 0);
    return parents.length === 0
      ? position.get(id)!
      : parents.reduce((sum, at) => sum + at, 0) / parents.length;
  };
  return layer.toSorted((a, b) => middle(a) - middle(b));
}

const pieces = (layer: readonly number[]): readonly (readonly number[])[] =>
  Array.from({ length: Math.ceil(layer.length / widest) }, (_, at) =>
    layer.slice(at * widest, (at + 1) * widest),
  );
