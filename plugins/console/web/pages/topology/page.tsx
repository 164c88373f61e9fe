import { useData, useList } from '../../client/data.ts';
import { address, usePlace, useParam } from '../../browser/location.ts';
import { topology as text } from '../../text/english/watch/topology.ts';
import { count } from '../../text/words.ts';
import { Empty, Head, Refused, Section, Tabs } from '../../kit/parts.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Graph } from './graph.tsx';
import type { Edge, Node } from './layout.ts';
import { Services } from './services.tsx';

interface Blast {
  readonly node: Node;
  readonly complete: boolean;
  readonly reached: readonly {
    readonly node: Node;
    readonly distance: number;
    readonly via: { readonly type: string };
  }[];
}

/** `/ui/topology`, `/ui/topology/<id>` for what a node reaches, and `/ui/topology/services`. */
export default function Topology() {
  const { parts } = usePlace();
  const isServices = parts[1] === 'services';
  return (
    <>
      <Head title={text.title} />
      <Tabs
        active={isServices ? 'services' : 'nodes'}
        tabs={[
          { id: 'nodes', title: text.node, href: address(['topology']) },
          { id: 'services', title: text.services, href: address(['topology', 'services']) },
        ]}
      />
      {isServices ? <Services /> : <Nodes chosen={parts[1]} />}
    </>
  );
}

function Nodes({ chosen }: { readonly chosen: string | undefined }) {
  const [q, setQ] = useParam('q');
  const nodes = useList<Node>('/topology/nodes', {
    query: { q },
    kinds: ['devices'],
    every: 60_000,
    pageSize: 400,
  });
  const edges = useList<Edge>('/topology/relations', { every: 60_000, pageSize: 1_000 });
  const blast = useData<Blast>(
    chosen === undefined ? undefined : `/topology/nodes/${encodeURIComponent(chosen)}/blast-radius`,
    { query: { depth: 5 } },
  );
  const refused = blast.error ?? edges.error;
  const reached = new Map(blast.value?.reached.map(({ node, distance }) => [node.id, distance]));
  return (
    <>
      <div class="filters">
        <input
          type="search"
          value={q}
          placeholder={text.search}
          aria-label={text.search}
          onInput={(event) => setQ(event.currentTarget.value)}
        />
        {nodes.items && <span class="soft">{count(text.nodes, nodes.total)}</span>}
      </div>
      {nodes.items?.length === 0 && <Empty title={text.none}>{text.noneNote}</Empty>}
      {(nodes.items?.length ?? 0) > 0 && (
        <Graph
          nodes={nodes.items!}
          edges={edges.items ?? []}
          chosen={Number(chosen ?? NaN)}
          reached={reached}
        />
      )}
      {refused && <Refused error={refused} />}
      {blast.value && (
        <Section title={text.reached.replace('{name}', () => blast.value!.node.name)}>
          <Table
            label={text.reached}
            rows={blast.value.reached}
            columns={columns}
            keyOf={({ node }) => node.id}
            hrefOf={({ node }) => address(['topology', node.id])}
            empty={<Empty title={text.nothing} />}
          />
        </Section>
      )}
      {/* The map as a table: for those who hear it, and for graphs too large to look at. */}
      <Section title={text.node}>
        <Table
          label={text.title}
          rows={nodes.items}
          asked={nodes}
          columns={nodeColumns}
          keyOf={({ id }) => id}
          hrefOf={({ id }) => address(['topology', id])}
          total={nodes.total}
          more={nodes.more}
          empty={<Empty title={text.none} />}
        />
      </Section>
    </>
  );
}

const columns: readonly Column<Blast['reached'][number]>[] = [
  { head: text.node, cell: ({ node }) => <span class="cut">{node.name}</span> },
  {
    head: text.type,
    width: '20%',
    cell: ({ via }) => <span class="soft">{via.type.replaceAll('_', ' ')}</span>,
  },
  { head: text.steps, width: '100px', numeric: true, cell: ({ distance }) => distance },
];

const nodeColumns: readonly Column<Node>[] = [
  { head: text.node, cell: ({ name }) => <span class="cut">{name}</span> },
  { head: text.type, width: '20%', cell: ({ type }) => type },
];
