import type { Answer, EvidenceSource, Question } from 'svc/contracts/investigate';
import type { MatrixAnswer, MetricsQueries } from 'svc/contracts/metricsdb';
import { inTurns } from 'svc/flow';
import type { SeenDevices } from 'svc/query';
import type { Period } from 'svc/rca';
import type { Handle } from 'svc/sdk';

import { errors } from './errors.ts';

/** Result of a PromQL range query, on its grid. */
export interface Grid {
  readonly from: number;
  readonly step_ms: number;
  readonly series: readonly {
    readonly labels: Readonly<Record<string, string>>;
    readonly values: readonly (number | null)[];
  }[];
}

const hourMs = 3_600_000;
const noValue = (value: number | null): boolean => value === null;
const mostSeries = 600;
const patience = { timeoutMs: 6_000, maxSamples: 20_000_000 };

/** Returns the step, which depends on the window alone, so that equal questions are identical. */
export const stepOf = ({ from, to }: Period): number =>
  to - from <= 3 * hourMs ? 30_000 : to - from <= 12 * hourMs ? 60_000 : 300_000;

/** `metrics`, or only of some devices. */
export const metricsSource = (devices?: readonly string[]): string =>
  devices === undefined ? 'metrics' : `metrics {device_id=~"${devices.join('|')}"}`;

/** PromQL over a window; NaN becomes null. */
export class MetricsSource implements EvidenceSource {
  readonly #metrics: Handle<MetricsQueries>;
  readonly #seen: SeenDevices;

  constructor(metrics: Handle<MetricsQueries>, seen: SeenDevices) {
    this.#metrics = metrics;
    this.#seen = seen;
  }

  async ask({ source, query, window }: Question, signal: AbortSignal): Promise<Answer> {
    if (!this.#metrics.available) {
      throw errors.metrics_away();
    }
    const [, devices] = /^metrics(?: \{device_id=~"([^"]*)"\})?$/.exec(source) ?? [];
    const step = stepOf(window);
    // Counted back from the end, so that the newest sample is included: an alert is often about
    // that alone.
    const to = Math.floor(window.to);
    const from = to - Math.floor((to - window.from) / step) * step;
    const asked =
      devices === undefined ? [] : [{ name: 'device_id', op: '=~' as const, value: devices }];
    const enforce = [...asked, ...(this.#seen?.enforce ?? [])];
    const found = await this.#metrics
      .get()
      .range(query, { start: from, end: to, step }, { ...patience, enforce, signal });
    const grid = await gridOf(found, { from, to, step });
    return {
      value: grid,
      digest: figuresOf(grid, found.labels.length),
      trust: 'trusted',
      truncated: found.labels.length > mostSeries,
    };
  }

  /** Returns the result up to a time, since samples of later times do not affect it. */
  settled(value: unknown, to: number): Grid {
    const { from, step_ms, series } = value as Grid;
    const length = Math.max(0, Math.floor((to - from) / step_ms) + 1);
    const older = series.map(({ labels, values }) => ({ labels, values: values.slice(0, length) }));
    return { from, step_ms, series: older.filter(({ values }) => !values.every(noValue)) };
  }
}

/** Lays an answer out on its grid; of many series those that are first by their labels. */
export async function gridOf(
  { labels, times, values }: Pick<MatrixAnswer, 'labels' | 'times' | 'values'>,
  { from, to, step }: { readonly from: number; readonly to: number; readonly step: number },
): Promise<Grid> {
  const length = Math.max(0, Math.floor((to - from) / step) + 1);
  const keyed: { readonly key: string; readonly at: number }[] = [];
  await inTurns(labels.entries(), ([at, own]) =>
    keyed.push({
      key: JSON.stringify(Object.entries(own).toSorted(([a], [b]) => (a < b ? -1 : 1))),
      at,
    }),
  );
  // Of many only those are laid out that are kept.
  const kept = keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).slice(0, mostSeries);
  const series = kept.map(({ at }) => ({
    labels: labels[at]!,
    values: gridded(times[at]!, values[at]!, { from, step, length }),
  }));
  return { from, step_ms: step, series };
}

function gridded(
  times: Float64Array,
  values: Float64Array,
  { from, step, length }: { readonly from: number; readonly step: number; readonly length: number },
): (number | null)[] {
  const out: (number | null)[] = Array.from({ length }, () => null);
  times.forEach((time, at) => {
    const value = values[at]!;
    out[Math.round((time - from) / step)] = Number.isFinite(value) ? value : null;
  });
  return out;
}

/** Returns the figures shown next to the query. */
export function figuresOf({ series, step_ms }: Grid, all: number): Answer['digest'] {
  const shown = series.slice(0, 5).map(({ labels, values }) => {
    const known = values.filter((value) => value !== null);
    return {
      labels,
      samples: known.length,
      ...(known.length > 0 && {
        min: known.reduce((least, value) => Math.min(least, value)),
        max: known.reduce((most, value) => Math.max(most, value)),
        last: known.at(-1)!,
      }),
    };
  });
  const samples = series.reduce(
    (sum, { values }) => sum + values.filter((value) => value !== null).length,
    0,
  );
  return { series: all, samples, step_seconds: step_ms / 1_000, of: shown };
}
