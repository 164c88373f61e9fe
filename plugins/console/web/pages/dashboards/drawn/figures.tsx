import { colorOf, type Panel, type Sample } from './shape.ts';

interface FiguresProps {
  readonly panel: Panel;
  readonly samples: readonly Sample[];
  readonly height: number;
}

const mostFigures = 60;

const boundsOf = (panel: Panel, samples: readonly Sample[]): readonly [number, number] => {
  const { min, max } = panel.display ?? {};
  const highest = Math.max(
    0,
    ...samples.map(({ value }) => Number(value[1])).filter(Number.isFinite),
  );
  return [
    min ?? 0,
    max ?? (panel.unit === 'percent' ? 100 : panel.unit === 'ratio' ? 1 : highest || 1),
  ];
};

const shareOf = ({ value }: Sample, [min, max]: readonly [number, number]): number => {
  const share = (Number(value[1]) - min) / (max - min || 1);
  return Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0;
};

/** Large figures, with a small curve where the panel wants one. */
export function Stats({ panel, samples, height }: FiguresProps) {
  const { text = 'auto', background, colorless, color } = panel.display ?? {};
  const isSmall = height < 90 || samples.length > 4;
  return (
    <ul
      class={isSmall ? 'readings readings-small' : 'readings'}
      style={{ minHeight: `${height}px` }}
    >
      {samples.slice(0, mostFigures).map((sample) => {
        const tone =
          colorless === true
            ? undefined
            : (colorOf(sample) ?? (color === 'thresholds' ? undefined : color));
        return (
          <li
            key={sample.name}
            class={background === true && tone !== undefined ? 'readings-filled' : undefined}
            style={background === true ? { background: tone } : undefined}
          >
            {text !== 'name' && (
              <b style={background === true ? undefined : { color: tone }}>{sample.formatted}</b>
            )}
            {(samples.length > 1 || text === 'name' || text === 'value_and_name') && (
              <span class="soft cut" title={sample.name}>
                {sample.name}
              </span>
            )}
            {sample.points && <Spark points={sample.points} color={tone} />}
          </li>
        );
      })}
    </ul>
  );
}

function Spark({
  points,
  color,
}: {
  readonly points: NonNullable<Sample['points']>;
  readonly color: string | undefined;
}) {
  const numbers = points.map(([, value]) => Number(value)).filter(Number.isFinite);
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const place = (value: number, at: number): string =>
    `${((100 * at) / Math.max(1, numbers.length - 1)).toFixed(1)},${(28 - (26 * (value - low)) / (high - low || 1)).toFixed(1)}`;
  return (
    <svg class="spark" viewBox="0 0 100 30" preserveAspectRatio="none" aria-hidden="true">
      <polyline
        points={numbers.map(place).join(' ')}
        style={{ stroke: color ?? 'var(--series-1)' }}
      />
    </svg>
  );
}

/** An arc for each figure, filled up to its value. */
export function Gauges({ panel, samples, height }: FiguresProps) {
  const bounds = boundsOf(panel, samples);
  const size = Math.min(height, 150);
  return (
    <ul class="gauges" style={{ minHeight: `${height}px` }}>
      {samples.slice(0, mostFigures).map((sample) => {
        const share = shareOf(sample, bounds);
        return (
          <li key={sample.name} style={{ width: `${Math.max(84, size)}px` }}>
            <svg
              viewBox="0 0 100 62"
              role="meter"
              aria-label={`${panel.title} ${sample.name}`}
              aria-valuenow={Number(sample.value[1])}
              aria-valuemin={bounds[0]}
              aria-valuemax={bounds[1]}
              aria-valuetext={sample.formatted}
            >
              <path class="gauge-back" d="M10 55A40 40 0 0 1 90 55" pathLength={100} />
              <path
                class="gauge-fill"
                d="M10 55A40 40 0 0 1 90 55"
                pathLength={100}
                style={{
                  stroke: colorOf(sample) ?? 'var(--series-1)',
                  strokeDasharray: `${100 * share} 200`,
                }}
              />
              <text x="50" y="52">
                {sample.formatted}
              </text>
            </svg>
            {samples.length > 1 && (
              <span class="soft cut" title={sample.name}>
                {sample.name}
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** A bar for each figure, lying, with its name before it and its value behind. */
export function Bars({ panel, samples, height }: FiguresProps) {
  const bounds = boundsOf(panel, samples);
  return (
    <ul class="bars" style={{ maxHeight: `${height}px` }}>
      {samples.map((sample, index) => (
        <li key={`${sample.name} ${index}`}>
          <span class="cut soft" title={sample.name}>
            {sample.name}
          </span>
          <i>
            <i
              style={{
                width: `${100 * shareOf(sample, bounds)}%`,
                background: colorOf(sample) ?? sample.settings?.color ?? 'var(--series-1)',
              }}
            />
          </i>
          <b>{sample.formatted}</b>
        </li>
      ))}
    </ul>
  );
}

/** Shares of a whole, with their names beside them. */
export function Pie({ panel, samples, height }: FiguresProps) {
  const sizes = samples.map(({ value }) => Math.max(0, Number(value[1]) || 0));
  const whole = sizes.reduce((sum, size) => sum + size, 0) || 1;
  let before = 0;
  const isDonut = panel.display?.donut === true;
  return (
    <div class="pie" style={{ minHeight: `${height}px` }}>
      <svg
        viewBox="-50 -50 100 100"
        role="img"
        aria-label={panel.title}
        style={{ height: `${height}px` }}
      >
        {samples.map(({ name, formatted, settings }, index) => {
          const size = (100 * sizes[index]!) / whole;
          const from = before;
          before += size;
          return (
            <circle
              key={`${name} ${index}`}
              class={`series-${(index % 7) + 1}`}
              r={isDonut ? 36 : 24}
              pathLength={100}
              style={{
                strokeWidth: isDonut ? 20 : 48,
                strokeDasharray: `${size} 100`,
                strokeDashoffset: `${-from}`,
                ...(settings?.color !== undefined && { stroke: settings.color }),
              }}
            >
              <title>{`${name}: ${formatted}`}</title>
            </circle>
          );
        })}
      </svg>
      <ul class="pie-names">
        {samples.slice(0, mostFigures).map(({ name, formatted, settings }, index) => (
          <li key={`${name} ${index}`}>
            <i
              class={`swatch series-${(index % 7) + 1}`}
              style={settings?.color === undefined ? undefined : { background: settings.color }}
            />
            <span class="cut" title={name}>
              {name}
            </span>
            <b>{formatted}</b>
          </li>
        ))}
      </ul>
    </div>
  );
}
