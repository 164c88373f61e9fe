import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';

import { useData, useList } from '../../client/data.ts';
import { address, goTo, usePlace, useParam } from '../../browser/location.ts';
import { topology as text } from '../../text/english/watch/topology.ts';
import { count } from '../../text/words.ts';
import { Empty, Head, Refused, Section } from '../../kit/parts.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { layout, type Edge, type Node } from './layout.ts';

interface Blast {
  readonly node: Node;
  readonly complete: boolean;
  readonly reached: readonly {
    readonly node: Node;
    readonly distance: number;
    readonly via: { readonly type: string };
  }[];
}

export default function Topology() {
  const { parts } = usePlace();
  const [q, setQ] = useParam('q');
  const nodes = useList<Node>('/topology/nodes', {
    query: { q },
    kinds: ['devices'],
    every: 60_000,
    pageSize: 400,
  });
  const edges = useList<Edge>('/topology/relations', { every: 60_000, pageSize: 1_000 });
  const blast = useData<Blast>(
    parts[1] === undefined
      ? undefined
      : `/topology/nodes/${encodeURIComponent(parts[1])}/blast-radius`,
    { query: { depth: 5 } },
  );
  const refused = blast.error ?? edges.error;
  const reached = new Map(blast.value?.reached.map(({ node, distance }) => [node.id, distance]));
  return (
    <>
      <Head title={text.title} note={nodes.items && count(text.nodes, nodes.total)}>
        <input
          type="search"
          value={q}
          placeholder={text.search}
          aria-label={text.search}
          onInput={(event) => setQ(event.currentTarget.value)}
        />
      </Head>
      {nodes.items?.length === 0 && <Empty title={text.none}>{text.noneNote}</Empty>}
      {(nodes.items?.length ?? 0) > 0 && (
        <Drawn
          nodes={nodes.items!}
          edges={edges.items ?? []}
          chosen={Number(parts[1] ?? NaN)}
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

interface MapProps {
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
  readonly chosen: number;
  readonly reached: ReadonlyMap<number, number>;
}

/** Layers from what depends to what is depended upon; what a failure of the chosen node reaches stands out. */
function Drawn({ nodes, edges, chosen, reached }: MapProps) {
  const { places, width, height } = useMemo(() => layout(nodes, edges), [nodes, edges]);
  const map = useRef<HTMLDivElement>(null);
  const { x: left, y: top } = places.get(chosen) ?? { x: width / 2, y: 0 };
  // Where the page is narrower than the map, what was chosen is in sight.
  useLayoutEffect(
    () =>
      map.current!.scrollTo(
        left - map.current!.clientWidth / 2,
        top - map.current!.clientHeight / 2,
      ),
    [left, top],
  );
  return (
    <div class="map" ref={map}>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
        role="img"
        aria-label={text.map.replace('{count}', String(nodes.length))}
      >
        {edges.map(({ id, src_id: from, dst_id: to }) => {
          const [a, b] = [places.get(from), places.get(to)];
          return a && b ? (
            <path
              key={id}
              class="map-edge"
              d={`M${a.x} ${a.y}C${a.x} ${(a.y + b.y) / 2} ${b.x} ${(a.y + b.y) / 2} ${b.x} ${b.y}`}
            />
          ) : null;
        })}
        {nodes.map(({ id, name, type }) => {
          const { x, y } = places.get(id)!;
          const tone = id === chosen ? 'critical' : reached.has(id) ? 'warning' : 'muted';
          return (
            <g key={id} class={`map-node ${tone}`} onClick={() => goTo(address(['topology', id]))}>
              <title>{name}</title>
              <circle cx={x} cy={y} r={type === 'host' ? 5 : 7} />
              <text x={x} y={y + 18} text-anchor="middle">
                {name.length > 18 ? `${name.slice(0, 17)}…` : name}
              </text>
            </g>
          );
        })}
      </svg>
    </div>
  );
}
