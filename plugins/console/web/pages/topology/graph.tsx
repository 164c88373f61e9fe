import { useMemo } from 'preact/hooks';

import { useData } from '../../client/data.ts';
import { address, goTo } from '../../browser/location.ts';
import { topology as text } from '../../text/english/watch/topology.ts';
import { say } from '../../text/words.ts';
import type { Tone } from '../../kit/status.tsx';
import { layout, type Edge, type Node } from './layout.ts';
import { Shape } from './services.tsx';
import { Zoomed } from './zoomed.tsx';

type State = 'ok' | 'warning' | 'critical' | 'offline';

const tones: Readonly<Record<State, Tone>> = {
  ok: 'ok',
  warning: 'warning',
  critical: 'critical',
  offline: 'muted',
};

interface GraphProps {
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
  readonly chosen?: number;
  readonly reached?: ReadonlyMap<number, number>;
}

/** Layers from what depends to what is depended upon, with the state of each device; what a failure of the chosen node reaches has a ring. */
export function Graph({ nodes, edges, chosen = NaN, reached = new Map() }: GraphProps) {
  const { places, width, height } = useMemo(() => layout(nodes, edges), [nodes, edges]);
  const states = useData<{
    readonly cells: readonly { readonly id: number; readonly state: State }[];
  }>('/devices/cells', { kinds: ['devices', 'edges'], every: 15_000 });
  const stateOf = new Map(states.value?.cells.map(({ id, state }) => [id, state]));
  const toneOf = ({ device_id: device }: Node): Tone =>
    tones[stateOf.get(device ?? 0) ?? 'offline'];
  const burning = nodes.filter((node) => ['critical', 'warning'].includes(toneOf(node))).length;
  const towards = places.get(chosen);
  return (
    <Zoomed
      label={say(text.map, { count: nodes.length, burning })}
      width={width}
      height={height}
      {...(towards && { towards })}
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
      {nodes.map((node) => {
        const { id, name } = node;
        const { x, y } = places.get(id)!;
        const tone = toneOf(node);
        return (
          <g key={id} class={`map-node ${tone}`} onClick={() => goTo(address(['topology', id]))}>
            <title>{name}</title>
            {(id === chosen || reached.has(id)) && (
              <circle class={id === chosen ? 'map-ring chosen' : 'map-ring'} cx={x} cy={y} r={11} />
            )}
            <Shape tone={tone} x={x} y={y} />
            <text x={x} y={y + 20} text-anchor="middle">
              {name.length > 18 ? `${name.slice(0, 17)}…` : name}
            </text>
          </g>
        );
      })}
    </Zoomed>
  );
}
