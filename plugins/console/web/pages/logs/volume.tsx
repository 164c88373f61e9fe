import { useMemo } from 'preact/hooks';

import { useData } from '../../client/data.ts';
import { logLines as text } from '../../text/english/watch/logs.ts';
import { count } from '../../text/words.ts';
import { Graph } from '../../kit/chart/chart.tsx';
import type { Window } from '../../kit/chart/matrix.ts';
import type { Line, Plotted } from '../../kit/chart/plot.ts';
import { Skeleton } from '../../kit/parts.tsx';
import { toneOf } from './line.ts';

interface Matrix {
  readonly data: {
    readonly resultType: string;
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly values: readonly (readonly [number, string])[];
    }[];
  };
}

const bars = 60;
const height = 90;
const worst = ['fatal', 'critical', 'error', 'warn', 'warning', 'info', 'debug', 'trace'];

interface VolumeProps {
  readonly query: string;
  readonly window: Window;
  readonly onRange: (from: number, to: number) => void;
}

/** Number of lines over time, by level: the worst at the bottom, where they are seen first. */
export function Volume({ query, window, onRange }: VolumeProps) {
  const length = 'last' in window ? window.last : window.to - window.from;
  const step = Math.max(1, Math.ceil(length / bars));
  const to = 'last' in window ? Math.ceil(Date.now() / 1000 / step) * step : window.to;
  const { value, error } = useData<Matrix>('/logs/query_range', {
    query: {
      query: `sum by (detected_level) (count_over_time(${query} [${step}s]))`,
      start: to - length + step,
      end: to,
      step,
    },
    every: 'last' in window && window.every !== 0 ? 30_000 : undefined,
  });
  const plotted = useMemo(
    () => value && stacked(value.data.result, to - length, to, step),
    [value, to, length, step],
  );
  const total = value?.data.result
    .flatMap(({ values }) => values)
    .reduce((sum, [, number]) => sum + Number(number), 0);
  return error !== undefined && value === undefined ? null : (
    <Graph
      title={total === undefined ? text.volume : count(text.counted, total)}
      queries={[]}
      plotted={plotted}
      bounds={[to - length, to]}
      height={height}
      onRange={onRange}
      legend={() => <Levels of={value?.data.result ?? []} />}
      otherwise={<Skeleton height={height} />}
    />
  );
}

const rankOf = (level: string): number => {
  const rank = worst.indexOf(level);
  return rank < 0 ? worst.length : rank;
};

/** A level that nobody told is none of news. */
const shadeOf = (level: string): string => (level === text.noLevel ? 'muted' : toneOf(level));

const levelIn = ({ metric }: Matrix['data']['result'][number]): string =>
  metric['detected_level'] ?? text.noLevel;

/** Returns bars upon each other, the highest sum first: what is drawn later lies over it. */
function stacked(
  result: Matrix['data']['result'],
  from: number,
  to: number,
  step: number,
): Plotted {
  const times = Array.from(
    { length: Math.round((to - from) / step) },
    (_, at) => from + (at + 0.5) * step,
  );
  const sums = times.map(() => 0);
  const lines = result
    .toSorted((a, b) => rankOf(levelIn(a)) - rankOf(levelIn(b)))
    .map((series): Line => {
      for (const [at, number] of series.values) {
        const place = Math.round((at - from) / step) - 1;
        if (place in sums) {
          sums[place]! += Number(number);
        }
      }
      const level = levelIn(series);
      return {
        name: level,
        values: sums.map((sum) => (sum === 0 ? null : sum)),
        look: { draw: 'bars', fill: 1, color: `--${shadeOf(level)}`, width: 0 },
      };
    });
  return { times, lines: lines.toReversed() };
}

const Levels = ({ of }: { readonly of: Matrix['data']['result'] }) => (
  <ul class="legend">
    {of
      .toSorted((a, b) => rankOf(levelIn(a)) - rankOf(levelIn(b)))
      .map((series) => (
        <li key={levelIn(series)}>
          <i class={`swatch swatch-${shadeOf(levelIn(series))}`} />
          <span>{levelIn(series)}</span>
          <b>
            {series.values.reduce((sum, [, number]) => sum + Number(number), 0).toLocaleString()}
          </b>
        </li>
      ))}
  </ul>
);
