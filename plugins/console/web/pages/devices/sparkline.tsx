import { figure } from '../../text/format.ts';
import { devices as text } from '../../text/english/watch/devices.ts';
import { say } from '../../text/words.ts';
import { type Trend, type TrendName, useTrend } from './trends.ts';

const [width, height] = [84, 18];

/** The last hour of a figure as a small curve: shares of a whole on one scale, others on their own. */
export function Sparkline({ name, device }: { readonly name: TrendName; readonly device: number }) {
  const trend = useTrend(name, device);
  const known = trend?.filter((value) => value !== null) ?? [];
  if (trend === undefined || known.length === 0) {
    return null;
  }
  const unit = name === 'load' ? 'count' : 'percent';
  const top = unit === 'percent' ? 100 : Math.max(1, ...known);
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="img"
      aria-label={say(text.trendLabel, {
        least: figure(Math.min(...known), unit),
        most: figure(Math.max(...known), unit),
      })}
    >
      {runs(trend).map((run) => (
        <polyline
          key={run[0]![0]}
          points={run
            .map(([at, value]) => {
              const x = 1 + (at / Math.max(1, trend.length - 1)) * (width - 2);
              const y = 1 + (1 - Math.min(1, Math.max(0, value / top))) * (height - 2);
              return `${x.toFixed(1)},${y.toFixed(1)}`;
            })
            .join(' ')}
        />
      ))}
    </svg>
  );
}

/** Returns the parts of a curve between its gaps, each value with its place. */
function runs(trend: Trend): readonly (readonly (readonly [at: number, value: number])[])[] {
  const found: [number, number][][] = [];
  trend.forEach((value, at) => {
    if (value === null) {
      return;
    }
    if (at === 0 || trend[at - 1] === null || found.length === 0) {
      found.push([]);
    }
    found.at(-1)!.push([at, value]);
  });
  return found;
}
