import { useMemo } from 'preact/hooks';

import { useList } from '../../client/data.ts';
import { address, goTo } from '../../browser/location.ts';
import { duration, figure } from '../../text/format.ts';
import { services as text } from '../../text/english/watch/topology.ts';
import { say } from '../../text/words.ts';
import { SpanChoice } from '../../kit/chart/span.tsx';
import { Empty, Refused, Skeleton } from '../../kit/parts.tsx';
import { Mark, type Tone } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { type Calls, tracesOf, useCalls } from './calls.ts';
import { type Edge, layout, type Node } from './layout.ts';
import { Zoomed } from './zoomed.tsx';

/** A relation that the topology states; traces may tell its figures, too. */
interface Link {
  readonly from: string;
  readonly to: string;
  readonly calls: Calls | undefined;
}

const pairOf = ({ from, to }: Pick<Link, 'from' | 'to'>): string => JSON.stringify([from, to]);

/** Services and who calls whom, from the traces of the last minutes and from the relations of the topology. */
export function Services() {
  const { calls, seconds, error } = useCalls();
  const nodes = useList<Node>('/topology/nodes', { query: { type: 'service' }, every: 60_000 });
  const edges = useList<Edge>('/topology/relations', { every: 60_000, pageSize: 1_000 });
  const links = useMemo(
    () => linksOf(calls ?? [], nodes.items ?? [], edges.items ?? []),
    [calls, nodes.items, edges.items],
  );
  return (
    <>
      <div class="filters">
        <SpanChoice />
        <span class="soft">{say(text.window, { window: duration(seconds) })}</span>
      </div>
      {error && <Refused error={error} />}
      {calls === undefined && error === undefined ? (
        <Skeleton lines={8} />
      ) : links.length === 0 ? (
        <Empty title={text.none}>{text.noneNote}</Empty>
      ) : (
        <>
          <ServiceGraph links={links} />
          <Table
            label={text.calls}
            rows={links}
            columns={columns}
            keyOf={pairOf}
            hrefOf={({ from, to }) => address(['traces'], { q: tracesOf(to, from) })}
            empty={null}
          />
        </>
      )}
    </>
  );
}

function linksOf(
  calls: readonly Calls[],
  nodes: readonly Node[],
  edges: readonly Edge[],
): readonly Link[] {
  const names = new Map(nodes.map(({ id, name }) => [id, name]));
  const links = new Map<string, Link>(
    calls.map((one) => [pairOf(one), { from: one.from, to: one.to, calls: one }]),
  );
  for (const { src_id: source, dst_id: target } of edges) {
    const [from, to] = [names.get(source), names.get(target)];
    if (from !== undefined && to !== undefined && !links.has(pairOf({ from, to }))) {
      links.set(pairOf({ from, to }), { from, to, calls: undefined });
    }
  }
  return [...links.values()];
}

const [wide, high] = [1.5, 1.9];
/** Places of labels on their lines, from the caller to the called: those that end at one service differ. */
const labelPlaces = [0.62, 0.42, 0.78, 0.3] as const;

function ServiceGraph({ links }: { readonly links: readonly Link[] }) {
  const { names, places, width, height } = useMemo(() => {
    const all = [...new Set(links.flatMap(({ from, to }) => [from, to]))].toSorted();
    return {
      names: all,
      ...layout(
        all.map((name, id) => ({ id, name, type: 'service' })),
        links.map(({ from, to }, id) => ({
          id,
          type: 'calls',
          src_id: all.indexOf(from),
          dst_id: all.indexOf(to),
        })),
      ),
    };
  }, [links]);
  const at = (name: string) => {
    const { x, y } = places.get(names.indexOf(name))!;
    return { x: x * wide, y: y * high };
  };
  return (
    <Zoomed
      label={say(text.map, { services: names.length, calls: links.length })}
      width={width * wide}
      height={height * high}
    >
      {links.map((link) => (
        <Line
          key={pairOf(link)}
          link={link}
          from={at(link.from)}
          to={at(link.to)}
          labelAt={
            labelPlaces[
              links.filter(({ to }) => to === link.to).indexOf(link) % labelPlaces.length
            ]!
          }
        />
      ))}
      {names.map((name) => {
        const { x, y } = at(name);
        const tone = worst(links.filter(({ to }) => to === name).map(toneOf));
        return (
          <g
            key={name}
            class={`map-node ${tone}`}
            onClick={() => goTo(address(['traces'], { q: tracesOf(name) }))}
          >
            <title>{name}</title>
            <Shape tone={tone} x={x} y={y} />
            <text x={x} y={y + 20} text-anchor="middle">
              {name.length > 22 ? `${name.slice(0, 21)}…` : name}
            </text>
          </g>
        );
      })}
    </Zoomed>
  );
}

interface Point {
  readonly x: number;
  readonly y: number;
}

function Line({
  link: { from: caller, to: called, calls },
  from: a,
  to: b,
  labelAt: t,
}: {
  readonly link: Link;
  readonly from: Point;
  readonly to: Point;
  readonly labelAt: number;
}) {
  const middle = (a.y + b.y) / 2;
  const x = a.x * ((1 - t) ** 3 + 3 * (1 - t) ** 2 * t) + b.x * (3 * (1 - t) * t ** 2 + t ** 3);
  const y =
    a.y * (1 - t) ** 3 + middle * (3 * (1 - t) ** 2 * t + 3 * (1 - t) * t ** 2) + b.y * t ** 3;
  return (
    <g
      class={`map-call ${calls === undefined ? 'stated' : toneOf({ calls })}`}
      onClick={() => goTo(address(['traces'], { q: tracesOf(called, caller) }))}
    >
      <title>{`${caller} → ${called}`}</title>
      <path class="map-edge" d={`M${a.x} ${a.y}C${a.x} ${middle} ${b.x} ${middle} ${b.x} ${b.y}`} />
      {calls && (
        <text x={x} y={y} text-anchor="middle">
          <tspan x={x}>{figure(calls.rate, 'per-second')}</tspan>
          <tspan x={x} dy="13">
            {calls.failed > 0 && `${figure(calls.failed * 100, 'percent')} · `}
            {calls.p95 === undefined ? '' : duration(calls.p95)}
          </tspan>
        </text>
      )}
    </g>
  );
}

/** Shares of failed calls from which a line stands out. */
const [some, many] = [0.01, 0.05];

const toneOf = ({ calls }: Pick<Link, 'calls'>): Tone =>
  calls === undefined
    ? 'muted'
    : calls.failed >= many
      ? 'critical'
      : calls.failed >= some
        ? 'warning'
        : 'ok';

const order: readonly Tone[] = ['critical', 'warning', 'ok', 'muted'];
const worst = (tones: readonly Tone[]): Tone => order.find((one) => tones.includes(one)) ?? 'muted';

/** The mark of a tone at a place of a drawing: told apart by shape, too. */
export function Shape({ tone, x, y }: Point & { readonly tone: Tone }) {
  const place = `translate(${x} ${y})`;
  switch (tone) {
    case 'critical':
      return <path transform={place} d="M0-9 9 0 0 9-9 0Z" />;
    case 'warning':
      return <path transform={place} d="M0-8 9 7H-9Z" />;
    default:
      return <circle cx={x} cy={y} r={6} />;
  }
}

const columns: readonly Column<Link>[] = [
  {
    head: text.caller,
    cell: ({ from, to, calls }) => (
      <span class="status">
        <Mark tone={toneOf({ calls })} />
        <span class="cut">{`${from} → ${to}`}</span>
      </span>
    ),
  },
  {
    head: text.rate,
    width: '110px',
    numeric: true,
    cell: ({ calls }) => figure(calls?.rate, 'per-second'),
  },
  {
    head: text.failed,
    width: '90px',
    numeric: true,
    cell: ({ calls }) => figure(calls && calls.failed * 100, 'percent'),
  },
  {
    head: text.p95,
    width: '90px',
    numeric: true,
    rank: 2,
    cell: ({ calls }) => (calls?.p95 === undefined ? '–' : duration(calls.p95)),
  },
];
