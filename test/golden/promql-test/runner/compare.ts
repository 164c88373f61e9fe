import { type NativeHistogram, printHistogram } from 'svc/native-histogram';
import { compareLabels, type Labels, labelsKey, labelsRecord } from 'svc/query';

import type { Answer, Points } from './engine.ts';
import type { Eval } from './script.ts';
import type { HistogramItem, Item } from './series-line.ts';

const epsilon = 1e-6;
const smallestNormal = 2 ** -1022;

export function almostEqual(a: number, b: number, tolerance = epsilon): boolean {
  if (Object.is(a, b) || a === b) {
    return true;
  }
  if (Number.isNaN(a) && Number.isNaN(b)) {
    return true;
  }
  const size = Math.abs(a) + Math.abs(b);
  const distance = Math.abs(a - b);
  return a === 0 || b === 0 || size < smallestNormal
    ? distance < tolerance * smallestNormal
    : distance / Math.min(size, Number.MAX_VALUE) < tolerance;
}

const shownValues = (values: readonly (number | NativeHistogram)[]): string =>
  values.map((one) => (typeof one === 'number' ? one : printHistogram(one))).join(' ');

const shown = (labels: Labels): string => JSON.stringify(labelsRecord(labels));

/** Returns the difference between an answer and the expected one, or undefined. */
export function difference(expected: Eval, answer: Answer): string | undefined {
  if (answer.type === 'string') {
    return answer.value === (expected.text ?? '')
      ? undefined
      : `expected the text ${JSON.stringify(expected.text)}, got ${JSON.stringify(answer.value)}`;
  }
  if (answer.type === 'scalar') {
    return expected.scalar !== undefined && almostEqual(expected.scalar, answer.value)
      ? undefined
      : `expected ${expected.scalar ?? 'a vector'}, got the scalar ${answer.value}`;
  }
  if (expected.scalar !== undefined) {
    return `expected the scalar ${expected.scalar}, got a ${answer.type}`;
  }
  const grid =
    'instant' in expected.at
      ? (expected.points ?? { start: expected.at.instant, end: expected.at.instant, step: 1 })
      : expected.at;
  return differenceOfSeries(expected, answer.series, answer.type === 'matrix', grid);
}

function differenceOfSeries(
  expected: Eval,
  actual: readonly Points[],
  matrix: boolean,
  grid: { start: number; end: number; step: number },
): string | undefined {
  const wanted = new Map(
    expected.series.map((line, position) => [labelsKey(line.labels), { ...line, position }]),
  );
  if (
    matrix &&
    actual.some((one, i) => i > 0 && compareLabels(actual[i - 1]!.labels, one.labels) >= 0)
  ) {
    return 'series are not sorted by their labels';
  }
  for (const [position, points] of actual.entries()) {
    const line = wanted.get(labelsKey(points.labels));
    if (line === undefined) {
      return `unexpected series ${shown(points.labels)} with ${shownValues(points.values)}`;
    }
    if (expected.ordered && line.position !== position) {
      return `expected ${shown(points.labels)} at position ${line.position}, not ${position}`;
    }
    wanted.delete(labelsKey(points.labels));
    const found = differenceOfPoints(line.items, points, matrix, grid);
    if (found !== undefined) {
      return `${shown(points.labels)}: ${found}`;
    }
  }
  const [missing] = [...wanted.values()].filter(({ items }) => items.length > 0 || !matrix);
  return missing === undefined
    ? undefined
    : `expected series ${shown(missing.labels)}, which is not there`;
}

function differenceOfPoints(
  items: readonly Item[],
  { times, values }: Points,
  matrix: boolean,
  grid: { start: number; step: number },
): string | undefined {
  const expected = items.flatMap((value, index) =>
    value === undefined ? [] : [{ time: grid.start + index * grid.step, value }],
  );
  if (expected.length !== values.length) {
    return `expected ${expected.length} points, got ${values.length}: ${shownValues(values)}`;
  }
  for (const [index, { time, value }] of expected.entries()) {
    // The one sample of an instant vector has the time of evaluation, whichever that is.
    if (matrix && time !== times[index]) {
      return `expected a point at ${time}, got one at ${times[index]}`;
    }
    if (value === 'stale' || !isAsExpected(value, values[index]!)) {
      return `expected ${typeof value === 'object' ? printHistogram(value.histogram) : value} at ${time}, got ${shownValues([values[index]!])}`;
    }
  }
  return undefined;
}

function isAsExpected(expected: number | HistogramItem, actual: number | NativeHistogram): boolean {
  if (typeof expected === 'number' || typeof actual === 'number') {
    return (
      typeof expected === 'number' && typeof actual === 'number' && almostEqual(expected, actual)
    );
  }
  const { histogram, hinted } = expected;
  const numbers = ({ count, sum, zeroCount, positive, negative }: NativeHistogram): number[] => [
    count,
    sum,
    zeroCount,
    ...[...positive, ...negative].flat(),
  ];
  const [wanted, got] = [numbers(histogram), numbers(actual)];
  return (
    histogram.schema === actual.schema &&
    histogram.zeroThreshold === actual.zeroThreshold &&
    histogram.positive.length === actual.positive.length &&
    String(histogram.bounds) === String(actual.bounds) &&
    (!hinted || histogram.hint === actual.hint) &&
    wanted.length === got.length &&
    wanted.every((one, index) => almostEqual(one, got[index]!))
  );
}

/** Returns the difference between the remarks of an answer and the expected ones. */
export function differenceOfRemarks(
  expected: Eval,
  { warnings, infos }: Answer,
): string | undefined {
  for (const [type, actual] of [
    ['warn', warnings],
    ['info', infos],
  ] as const) {
    const wanted = expected.remarks.filter((remark) => remark.type === type);
    const missing = wanted.find((remark) => !actual.some((text) => remark.matches(text)));
    if (missing !== undefined) {
      return `expected ${type} ${missing.shown}, got ${JSON.stringify(actual)}`;
    }
    const surplus =
      wanted.length === 0
        ? undefined
        : actual.find((text) => !wanted.some((remark) => remark.matches(text)));
    if (surplus !== undefined) {
      return `unexpected ${type} ${surplus}`;
    }
    if (actual.length > 0 && expected.remarks.some((remark) => remark.type === `no_${type}`)) {
      return `expected no ${type}, got ${JSON.stringify(actual)}`;
    }
  }
  return undefined;
}
