import { fullMoment } from '../../../text/format.ts';
import { type MatrixSeries, type Panel, shownAs } from './shape.ts';
import { written } from './unit.ts';

interface CellsProps {
  readonly panel: Panel;
  readonly series: readonly MatrixSeries[];
  readonly bounds: readonly [number, number];
  readonly height: number;
}

const mostRows = 60;
const share = (at: number, [from, to]: readonly [number, number]): number =>
  (100 * (at - from)) / (to - from);

/** Buckets over time: the darker a cell, the more there was in it. */
export function Heatmap({ panel, series, bounds, height }: CellsProps) {
  const rows = series.slice(0, mostRows);
  const most = Math.max(
    1e-9,
    ...rows.flatMap(({ values }) =>
      values.map(([, value]) => Number(value)).filter(Number.isFinite),
    ),
  );
  const step = stepOf(rows);
  return (
    <div class="cells" role="img" aria-label={panel.title} style={{ height: `${height}px` }}>
      {rows.toReversed().map(({ name, values }) => (
        <div key={name} class="cells-row">
          <span class="cells-name cut soft" title={name}>
            {name}
          </span>
          <div class="cells-track">
            {values.map(([at, value]) => {
              const number = Number(value);
              return number > 0 ? (
                <i
                  key={at}
                  title={`${fullMoment(at * 1_000)} · ${name} · ${written(number, panel.unit)}`}
                  style={{
                    left: `${share(at - step, bounds)}%`,
                    width: `${(100 * step) / (bounds[1] - bounds[0])}%`,
                    opacity: 0.12 + 0.88 * Math.sqrt(number / most),
                  }}
                />
              ) : null;
            })}
          </div>
        </div>
      ))}
    </div>
  );
}

/** States over time; neighbours of one state are one bar, unless each sample has a cell of its own. */
export function Timeline({ panel, series, bounds, height }: CellsProps) {
  const rows = series.slice(0, mostRows);
  const step = stepOf(rows);
  const isHistory = panel.type === 'status_history';
  return (
    <div
      class="cells cells-states"
      role="img"
      aria-label={panel.title}
      style={{ height: `${height}px` }}
    >
      {rows.map(({ name, values }) => (
        <div key={name} class="cells-row">
          <span class="cells-name cut soft" title={name}>
            {name}
          </span>
          <div class="cells-track">
            {spansOf(values, step, isHistory).map(({ from, to, value }) => {
              const { text: shown = written(value, panel.unit, panel.display?.decimals), color } =
                shownAs(value, panel);
              return (
                <i
                  key={from}
                  title={`${fullMoment(from * 1_000)} · ${name}: ${shown}`}
                  style={{
                    left: `${Math.max(0, share(from, bounds))}%`,
                    width: `calc(${share(to, bounds) - Math.max(0, share(from, bounds))}% - ${isHistory ? 2 : 0}px)`,
                    background: color ?? 'var(--series-1)',
                  }}
                >
                  {shown}
                </i>
              );
            })}
          </div>
        </div>
      ))}
    </div>
  );
}

interface Span {
  readonly from: number;
  readonly to: number;
  readonly value: number;
}

function spansOf(
  values: MatrixSeries['values'],
  step: number,
  isHistory: boolean,
): readonly Span[] {
  const spans: { from: number; to: number; value: number }[] = [];
  for (const [at, figure] of values) {
    const value = Number(figure);
    const last = spans.at(-1);
    if (!isHistory && last !== undefined && last.value === value && at - last.to < step * 0.5) {
      last.to = at + step;
    } else {
      spans.push({ from: at, to: at + step, value });
    }
  }
  return spans;
}

/** The shortest distance between samples, in seconds. */
const stepOf = (rows: readonly MatrixSeries[]): number => {
  const steps = rows.flatMap(({ values }) =>
    values.slice(1, 20).map(([at], index) => at - values[index]![0]),
  );
  return Math.min(...(steps.length === 0 ? [60] : steps));
};
