import { labelsKey } from 'svc/query';

import { type Answer, flat, type Points } from './engine.ts';
import type { Eval } from './script.ts';

/** Returns the difference between an answer and the expected one, or undefined. */
export function difference({ expected, at }: Eval, answer: Answer): string | undefined {
  if (answer.type === 'scalar') {
    return expected.kind === 'scalar' && same(expected.value, answer.value)
      ? undefined
      : `got the scalar ${answer.value}`;
  }
  const { series } = answer;
  if (expected.kind === 'empty') {
    return series.length === 0 ? undefined : `expected nothing, got ${shown(series)}`;
  }
  if (expected.kind === 'scalar' && !('instant' in at)) {
    // A number over a range is a series without labels.
    return series.length === 1 && series[0]!.values.every((value) => same(value, expected.value))
      ? undefined
      : `expected ${expected.value}, got ${shown(series)}`;
  }
  if (expected.kind !== 'series') {
    return `expected ${expected.kind === 'fail' ? `the error ${expected.shown}` : 'a scalar'}, got ${shown(series)}`;
  }
  const grid = 'instant' in at ? { start: at.instant, step: 0 } : at;
  const wanted = expected.series.map(({ labels, points }) => ({
    key: labelsKey(flat(labels)),
    points: points.flatMap((value, index) =>
      value === undefined ? [] : [{ time: grid.start + index * grid.step, value }],
    ),
  }));
  const got = series.map(({ labels, times, values }) => ({
    key: labelsKey(labels),
    points: values.map((value, index) => ({ time: times[index]!, value })),
  }));
  if (!expected.ordered) {
    wanted.sort((a, b) => (a.key < b.key ? -1 : 1));
    got.sort((a, b) => (a.key < b.key ? -1 : 1));
  }
  const equal =
    wanted.length === got.length &&
    wanted.every(
      ({ key, points }, index) =>
        key === got[index]!.key &&
        points.length === got[index]!.points.length &&
        points.every(
          ({ time, value }, point) =>
            got[index]!.points[point]!.time === time &&
            same(got[index]!.points[point]!.value, value),
        ),
    );
  return equal ? undefined : `got ${shown(series)}`;
}

const shown = (series: readonly Points[]): string =>
  series.length === 0
    ? 'nothing'
    : series
        .map(({ labels, values }) => `${JSON.stringify(labels)} ${values.join(' ')}`)
        .join('; ');

const tolerance = 1e-9;

function same(a: number, b: number): boolean {
  if (Object.is(a, b) || a === b) {
    return true;
  }
  const distance = Math.abs(a - b);
  return distance <= tolerance || distance / Math.max(Math.abs(a), Math.abs(b)) <= tolerance;
}
