import type { Line, Look, Plotted } from '../../../kit/chart/plot.ts';
import type { Display, MatrixSeries, Settings } from './shape.ts';

const dashes = { solid: undefined, dash: [6, 4], dot: [2, 3] } as const;

/**
 * The lines of a panel on one grid of times: each has times of its own. What is stacked is drawn
 * upon the lines before it, and written with its own value.
 */
export function plottedOf(
  series: readonly MatrixSeries[],
  title: string,
  display: Display = {},
): Plotted {
  const shown = series.filter(({ settings }) => settings?.hidden !== true);
  const times = [...new Set(shown.flatMap(({ values }) => values.map(([at]) => at)))].toSorted(
    (a, b) => a - b,
  );
  const places = new Map(times.map((at, index) => [at, index]));
  const rows = shown.map(({ values }) => {
    const row = Array.from<number | null>({ length: times.length }).fill(null);
    for (const [at, value] of values) {
      row[places.get(at)!] = Number.isFinite(Number(value)) ? Number(value) : null;
    }
    return row;
  });
  const settings = shown.map((one) => ({ ...display, ...one.settings }));
  const whole = settings.some(({ stacking }) => stacking === 'percent')
    ? times.map((_, at) => rows.reduce((sum, row) => sum + Math.abs(row[at] ?? 0), 0))
    : undefined;
  /** Heights of the stacks above and below zero. */
  const stacks = { up: times.map(() => 0), down: times.map(() => 0) };
  const lines = shown.map(({ name }, index): Line => {
    const own = settings[index]!;
    const sign = own.negate === true ? -1 : 1;
    const stacked = own.stacking === 'normal' || own.stacking === 'percent';
    const row = rows[index]!;
    const drawn =
      !stacked && sign === 1
        ? row
        : row.map((value, at) => {
            if (value === null) {
              return null;
            }
            const share = sign * (whole === undefined ? value : (100 * value) / (whole[at] || 1));
            if (!stacked) {
              return share;
            }
            const stack = share < 0 ? stacks.down : stacks.up;
            stack[at]! += share;
            return stack[at]!;
          });
    return {
      // A series without labels is what the panel is about.
      name: name === '{}' ? title : name,
      values: drawn,
      look: { ...lookOf(own), ...(drawn !== row && { shown: row }) },
    };
  });
  return { times, lines };
}

function lookOf(own: Settings): Look {
  const dash = dashes[own.line_style ?? 'solid'];
  const stacked = own.stacking === 'normal' || own.stacking === 'percent';
  return {
    ...(own.color !== undefined && own.color !== 'thresholds' && { color: own.color }),
    ...(own.draw !== undefined && { draw: own.draw }),
    fill: own.fill ?? (stacked ? 0.3 : own.draw === 'bars' ? 0.6 : 0),
    ...(own.line_width !== undefined && { width: own.line_width }),
    ...(dash && { dash }),
    ...(own.steps === true && { steps: true }),
    ...(own.connect === true && { connect: true }),
    ...(own.axis === 'right' && { right: true }),
  };
}
