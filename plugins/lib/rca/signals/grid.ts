import type { Period, Series } from './snapshot.ts';
import type { Sample } from './statistics.ts';

/** Values of a regular grid that lie in a period, both ends included. */
export function within(
  values: readonly Sample[],
  from: number,
  stepMs: number,
  period: Period,
): readonly Sample[] {
  const first = Math.max(0, Math.ceil((period.from - from) / stepMs));
  const last = Math.min(values.length - 1, Math.floor((period.to - from) / stepMs));
  return last < first ? [] : values.slice(first, last + 1);
}

export const valuesIn = (series: Series, period: Period): readonly Sample[] =>
  within(series.values, series.from, series.step_ms, period);

export const timeAt = (series: Series, index: number): number =>
  series.from + index * series.step_ms;

/** Index of the first sample that is not before a time. */
export const indexFrom = (series: Series, time: number): number =>
  Math.max(0, Math.ceil((time - series.from) / series.step_ms));

/**
 * Resamples a series on the grid of another one over a period: the mean of each step, or the last
 * value. Steps end where the period does: the last sample is what a new alert is about.
 */
export function resampled(series: Series, period: Period, stepMs: number): Sample[] {
  const steps = Math.max(0, Math.floor((period.to - period.from) / stepMs) + 1);
  const out: Sample[] = [];
  for (let step = steps - 1; step >= 0; step -= 1) {
    out.push(valueUntil(series, period.to - step * stepMs, stepMs));
  }
  return out;
}

function valueUntil(series: Series, until: number, stepMs: number): Sample {
  const last = Math.floor((until - series.from) / series.step_ms);
  const first = Math.max(Math.floor((until - stepMs - series.from) / series.step_ms) + 1, 0);
  let sum = 0;
  let count = 0;
  for (let at = first; at <= Math.min(last, series.values.length - 1); at += 1) {
    const value = series.values[at];
    if (value !== null && value !== undefined) {
      sum += value;
      count += 1;
    }
  }
  if (count > 0) {
    return sum / count;
  }
  // A coarser series: its last value still holds until the next is due.
  const held =
    series.step_ms > stepMs && last >= 0 && last < series.values.length
      ? series.values[last]
      : null;
  return held ?? null;
}
