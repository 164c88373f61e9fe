import { useEffect, useMemo, useState } from 'preact/hooks';

import { api, type ApiError } from '../../client/api.ts';
import { asApiError } from '../../client/data.ts';
import { inNames, learnNames, nameOfDevice } from '../../client/names.ts';
import { onChanged } from '../../client/live.ts';
import type { Line, Plotted } from './plot.ts';

/**
 * Seconds since the epoch, or a length that ends now and moves on: so many seconds after it was
 * asked for, never for 0, and with each of its steps by default.
 */
export type Window =
  | { readonly from: number; readonly to: number }
  | { readonly last: number; readonly every?: number };

export interface ChartQuery {
  readonly expr: string;
  /** Name template of the lines; `{{label}}` stands for a value. Default: all labels. */
  readonly name?: string;
  /** Text after the name of each line, which tells it from the same line of another query. */
  readonly tag?: string;
  /** Seconds into the past: values of that time are drawn now, dashed. */
  readonly ago?: number;
}

const mostLines = 50;

interface Matrix {
  readonly result: readonly {
    readonly metric: Readonly<Record<string, string>>;
    readonly values: readonly (readonly [number, string])[];
  }[];
}

export const fewPoints = 240;

function boundsOf(
  window: Window,
  points: number,
): { readonly from: number; readonly to: number; readonly step: number } {
  const length = 'last' in window ? window.last : window.to - window.from;
  const step = Math.max(5, Math.ceil(length / points));
  const to = 'last' in window ? Math.floor(Date.now() / 1000 / step) * step : window.to;
  return { from: to - length, to, step };
}

/** Asks for all queries of one chart; a window that ends now is asked for again with each step. */
export function useMatrix(queries: readonly ChartQuery[], window: Window, points: number) {
  const key = JSON.stringify([queries, window, points]);
  const [state, setState] = useState<{
    key: string;
    plotted?: Plotted;
    error?: ApiError;
    bounds: readonly [number, number];
  }>({ key, bounds: [0, 1] });
  const [round, again] = useState(0);
  useEffect(() => {
    const own = new AbortController();
    const load = async (): Promise<void> => {
      const { from, to, step } = boundsOf(window, points);
      try {
        const answers = await Promise.all(
          queries.map(({ expr, ago = 0 }) =>
            api.post<Matrix>(
              '/metricsdb/query_range',
              { query: expr, start: from - ago, end: to - ago, step },
              { signal: own.signal },
            ),
          ),
        );
        await learnNames(
          answers.flatMap(({ result }) =>
            result.flatMap(({ metric }) => metric['device_id'] ?? []),
          ),
        );
        setState({ key, plotted: plottedOf(queries, answers, from, to, step), bounds: [from, to] });
      } catch (error) {
        const refused = asApiError(error);
        if (!own.signal.aborted) {
          // A store that is away for a moment takes nothing off the page.
          setState((before) =>
            before.key === key && before.plotted && (refused.isSilence || refused.status >= 500)
              ? before
              : { key, error: refused, bounds: [from, to] },
          );
        }
      }
    };
    void load();
    const stop = onChanged([], () => void load());
    const every = 'last' in window ? (window.every ?? boundsOf(window, points).step) : 0;
    const timer =
      every > 0
        ? setInterval(() => document.visibilityState === 'visible' && void load(), every * 1000)
        : undefined;
    return () => {
      own.abort();
      stop();
      clearInterval(timer);
    };
  }, [key, round]);
  const { plotted, error, bounds } = useMemo(
    () =>
      state.key === key ? state : { bounds: state.bounds, plotted: undefined, error: undefined },
    [state, key],
  );
  return { plotted, error, bounds, retry: () => again(round + 1) };
}

/** All lines on one grid of times; where a line has no sample there is a gap. */
function plottedOf(
  queries: readonly ChartQuery[],
  answers: readonly Matrix[],
  from: number,
  to: number,
  step: number,
): Plotted {
  const times = Array.from(
    { length: Math.floor((to - from) / step) + 1 },
    (_, at) => from + at * step,
  );
  const places = new Map<string, number>();
  const lines = answers.flatMap(({ result }, at) => {
    const { expr, ago = 0, tag } = queries[at]!;
    return named(queries[at]!, result).map(({ name, values, metric }): Line => {
      const row = Array.from<number | null>({ length: times.length }).fill(null);
      for (const [time, value] of values) {
        const number = Number(value);
        row[Math.round((time + ago - from) / step)] = Number.isFinite(number) ? number : null;
      }
      // A line of the past has the colour of the same line now.
      const same = `${expr} ${name}`;
      const series = places.get(same) ?? places.size;
      places.set(same, series);
      return {
        name: tag === undefined ? name : `${name} · ${tag}`,
        values: row,
        labels: metric,
        look: { series, ...(ago > 0 && { dash: [5, 4], width: 1 }) },
      };
    });
  });
  return { times, lines: lines.slice(0, mostLines) };
}

/** Sorts lines by name, so that each keeps its colour however the store orders them. */
function named(query: ChartQuery, result: Matrix['result']) {
  const told =
    query.name === undefined
      ? distinct(result.map(({ metric }) => metric))
      : result.map(({ metric }) => metric);
  return result
    .map(({ values, metric }, at) => ({ name: nameOf(query, told[at]!), values, metric }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Labels that are the same on all lines tell none of them apart. */
export function distinct(
  metrics: readonly Readonly<Record<string, string>>[],
): readonly Readonly<Record<string, string>>[] {
  const [first = {}, ...others] = metrics;
  const same = Object.keys(first).filter(
    (label) => label !== '__name__' && others.every((metric) => metric[label] === first[label]),
  );
  return metrics.map((metric) =>
    Object.fromEntries(Object.entries(metric).filter(([label]) => !same.includes(label))),
  );
}

export function nameOf(
  { name, expr }: ChartQuery,
  metric: Readonly<Record<string, string>>,
): string {
  if (name !== undefined) {
    return name.replace(/\{\{(\w+)\}\}/g, (_gap, label: string) =>
      label === 'device_id'
        ? (nameOfDevice(metric[label] ?? '') ?? metric[label] ?? '')
        : (inNames(metric)[label] ?? ''),
    );
  }
  const { __name__: metricName = '', ...labels } = inNames(metric);
  const listed = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return `${metricName}${listed.length === 0 ? '' : `{${listed.join(', ')}}`}` || expr;
}
