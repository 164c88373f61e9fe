import { useMemo } from 'preact/hooks';

import { duration } from '../../text/format.ts';
import { serviceMap as text } from '../../text/english/watch/traces.ts';
import { count, say } from '../../text/words.ts';
import { Section } from '../../kit/parts.tsx';
import { Mark } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { layout } from '../topology/layout.ts';
import type { Span } from './tree.ts';

/** All calls of one service by another, in one trace. */
interface Calls {
  readonly from: string;
  readonly to: string;
  readonly times: number;
  readonly failed: number;
  readonly meanMs: number;
}

function callsOf(spans: readonly Span[]): readonly Calls[] {
  const byPair = new Map<string, Span[]>();
  for (const span of spans) {
    if (span.calledBy !== undefined && span.calledBy !== span.service) {
      const pair = JSON.stringify([span.calledBy, span.service]);
      byPair.set(pair, [...(byPair.get(pair) ?? []), span]);
    }
  }
  return [...byPair.values()].map((calls) => ({
    from: calls[0]!.calledBy!,
    to: calls[0]!.service,
    times: calls.length,
    failed: calls.filter(({ hasFailed }) => hasFailed).length,
    meanMs: calls.reduce((sum, { length }) => sum + length, 0) / calls.length,
  }));
}

/** The services of a trace and their calls, drawn, and as a table for those who do not see it. */
export function ServiceMap({
  spans,
  services,
}: {
  readonly spans: readonly Span[];
  readonly services: readonly string[];
}) {
  const calls = useMemo(() => callsOf(spans), [spans]);
  const { places, width, height } = useMemo(() => {
    const nodes = services.map((name, id) => ({ id, name, type: 'service' }));
    return layout(
      nodes,
      calls.map(({ from, to }, id) => ({
        id,
        type: 'calls',
        src_id: services.indexOf(from),
        dst_id: services.indexOf(to),
      })),
    );
  }, [services, calls]);
  const at = (service: string) => places.get(services.indexOf(service))!;
  return (
    <Section title={text.title}>
      <div class="map">
        <svg
          viewBox={`0 0 ${width} ${height}`}
          width={width}
          height={height}
          role="img"
          aria-label={say(text.map, {
            calls: calls.map(({ from, to }) => `${from} → ${to}`).join(', '),
          })}
        >
          {calls.map(({ from, to, times, failed }) => {
            const [a, b] = [at(from), at(to)];
            return (
              <g key={`${from} ${to}`} class={failed > 0 ? 'map-call critical' : 'map-call'}>
                <path
                  class="map-edge"
                  d={`M${a.x} ${a.y}C${a.x} ${(a.y + b.y) / 2} ${b.x} ${(a.y + b.y) / 2} ${b.x} ${b.y}`}
                />
                <text x={(a.x + b.x) / 2 + 6} y={(a.y + b.y) / 2 + 4}>
                  {count(text.calls, times)}
                </text>
              </g>
            );
          })}
          {services.map((name, index) => {
            const { x, y } = places.get(index)!;
            return (
              <g key={name} class="map-node">
                <circle class={`series-${(index % 7) + 1}`} cx={x} cy={y} r={7} />
                <text x={x} y={y + 20} text-anchor="middle">
                  {name.length > 18 ? `${name.slice(0, 17)}…` : name}
                </text>
              </g>
            );
          })}
        </svg>
      </div>
      <Table
        label={text.title}
        rows={calls}
        columns={columns}
        keyOf={({ from, to }) => `${from} ${to}`}
        empty={null}
      />
    </Section>
  );
}

const columns: readonly Column<Calls>[] = [
  { head: text.from, cell: ({ from }) => <span class="cut">{from}</span> },
  { head: text.to, cell: ({ to }) => <span class="cut">{to}</span> },
  { head: text.times, width: '80px', numeric: true, cell: ({ times }) => times },
  {
    head: text.failed,
    width: '90px',
    numeric: true,
    cell: ({ failed }) =>
      failed === 0 ? (
        '–'
      ) : (
        <span class="critical">
          <Mark tone="critical" /> {failed}
        </span>
      ),
  },
  { head: text.mean, width: '110px', numeric: true, cell: ({ meanMs }) => duration(meanMs / 1000) },
];
