import { useList } from '../../../client/data.ts';
import { session } from '../../../client/session.ts';
import { useStore } from '../../../browser/store.ts';
import { panel as text } from '../../../text/english/watch/dashboards.ts';
import { Awaited } from '../../../kit/parts.tsx';
import { Graph } from '../../topology/graph.tsx';
import type { Edge, Node } from '../../topology/layout.ts';

/** The topology with the state of each device, as its reader may see it; the reader of a public link has no right to it. */
export function NodesPanel({ height }: { readonly height: number }) {
  const isIn = useStore(session).state === 'in';
  return (
    <div class="nodes-panel" style={{ height: `${height}px` }}>
      {isIn ? <Nodes /> : <p class="chart-empty soft">{text.notShared}</p>}
    </div>
  );
}

function Nodes() {
  const nodes = useList<Node>('/topology/nodes', {
    kinds: ['devices'],
    every: 60_000,
    pageSize: 400,
  });
  const edges = useList<Edge>('/topology/relations', { every: 60_000, pageSize: 1_000 });
  if (nodes.items === undefined) {
    return <Awaited error={nodes.error} lines={4} />;
  }
  return nodes.items.length === 0 ? (
    <p class="chart-empty soft">{text.nothing}</p>
  ) : (
    <Graph nodes={nodes.items} edges={edges.items ?? []} />
  );
}
