import { Mark, type Tone } from '../../../kit/status.tsx';
import type { Panel, Sample, State } from './shape.ts';

const mostTiles = 500;
const order: readonly State[] = ['critical', 'warning', 'ok'];

const stateOf = ({ state = 'ok' }: Sample): State => state;

/** Returns the value of the only label of a series that has no other name. */
const shortened = (name: string): string => /^\{\w+="([^"]*)"\}$/.exec(name)?.[1] ?? name;

interface TilesProps {
  readonly panel: Panel;
  readonly samples: readonly Sample[];
  readonly height: number;
}

/** One tile for each series, by the threshold that it reaches, the worst first: many things at a glance. */
export function StatusTiles({ panel: { title, thresholds }, samples, height }: TilesProps) {
  const sorted = samples.toSorted(
    (a, b) => order.indexOf(stateOf(a)) - order.indexOf(stateOf(b)) || (a.name < b.name ? -1 : 1),
  );
  return (
    <div
      class="status-scroll"
      tabIndex={0}
      role="region"
      aria-label={title}
      style={{ height: `${height}px` }}
    >
      <ul class="status-tiles" aria-label={title}>
        {sorted.slice(0, mostTiles).map((sample) => {
          const tone: Tone = thresholds.length === 0 ? 'muted' : stateOf(sample);
          return (
            <li key={sample.name} class={`status-tile tile-${tone}`} title={sample.name}>
              <Mark tone={tone} />
              <span class="cut">{shortened(sample.name)}</span>
              <b>{sample.formatted}</b>
            </li>
          );
        })}
      </ul>
    </div>
  );
}
