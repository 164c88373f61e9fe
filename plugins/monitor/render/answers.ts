import type { LinesAnswer, LineTime } from 'svc/contracts/logs';
import type { LabelRecord } from 'svc/contracts/metricsdb';
import { formatFloat } from 'svc/query';

import { reduced } from '../frames/reduce.ts';
import type { FieldSettings } from '../model/drawing.ts';
import { isOverTime, type PanelBody } from '../model/panel.ts';
import { wellFormed } from '../variables/query-text.ts';
import type { Answered } from './answered.ts';
import { nameOf, type NameOfDevice } from './names.ts';
import { mostLines } from './questions.ts';
import { type Reading, readingOf, renamed, settingsFor } from './settings.ts';
import type { Sheet } from './sheet.ts';

type Point = readonly [seconds: number, value: string];

/** What the series of every kind have. */
interface Drawn {
  readonly metric: LabelRecord;
  readonly name: string;
  /** Query that it comes from, where a panel has several. */
  readonly ref?: string;
  readonly settings?: FieldSettings;
}

export interface MatrixSeries extends Drawn {
  readonly values: Point[];
  readonly last?: Reading & { readonly value: Point };
}

export interface VectorSample extends Reading, Drawn {
  readonly value: Point;
  /** Values of the sparkline. */
  readonly points?: Point[];
}

export interface Stream {
  readonly stream: LabelRecord;
  readonly name: string;
  readonly values: (readonly [nanoseconds: string, line: string])[];
}

export type PanelData =
  | { readonly result_type: 'matrix'; readonly result: MatrixSeries[] }
  | { readonly result_type: 'vector'; readonly result: VectorSample[] }
  | { readonly result_type: 'streams'; readonly result: Stream[] };

/** Part of the answers that a panel shows. */
export interface Shown {
  readonly data: PanelData;
  /** Series or lines beyond those shown. */
  readonly leftOut: number;
  readonly table?: Sheet;
}

const longestLine = 4_096;

export function emptyData({ type }: PanelBody): PanelData {
  return isOverTime(type)
    ? { result_type: 'matrix', result: [] }
    : { result_type: type === 'logs' ? 'streams' : 'vector', result: [] };
}

/** One series, from whichever answer: times are in milliseconds. */
export interface Series {
  readonly labels: LabelRecord;
  readonly name: string;
  readonly ref?: string;
  readonly times: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

/** Returns the series of all queries of a panel, in their order. */
export function seriesOf(
  answers: readonly Answered[],
  panel: PanelBody,
  device: NameOfDevice,
): readonly Series[] {
  const many = (panel.queries?.length ?? 0) > 1;
  return answers.flatMap(({ query: { ref, legend = '' }, answer }): Series[] => {
    const head = (labels: LabelRecord) => ({
      labels,
      name: nameOf(labels, legend, device),
      ...(many && { ref }),
    });
    switch (answer?.type) {
      case 'matrix':
        return answer.labels.map((labels, at) => ({
          ...head(labels),
          times: answer.times[at]!,
          values: answer.values[at]!,
        }));
      case 'vector':
        return answer.labels.map((labels, at) => ({
          ...head(labels),
          times: [answer.times[at]!],
          values: [answer.values[at]!],
        }));
      case 'scalar':
        return [{ ...head({}), times: [answer.time], values: [answer.value] }];
      default:
        return [];
    }
  });
}

/** Returns the name and settings of a series after the overrides. */
function drawn({ labels, name, ref, values }: Series, panel: PanelBody): Drawn {
  const chosen = { name, labels, type: 'number', values: () => Array.from(values) } as const;
  const settings = settingsFor(panel, { ...chosen, ...(ref !== undefined && { ref }) });
  return {
    metric: labels,
    name: renamed(chosen, settings),
    ...(ref !== undefined && { ref }),
    ...(settings && { settings }),
  };
}

/** Draws the first `most` series over time. */
export function shownMatrix(series: readonly Series[], panel: PanelBody, most: number): Shown {
  const result = series.slice(0, most).map((one): MatrixSeries => {
    const points = pointsOf(one);
    const last = one.values[one.values.length - 1];
    const { settings, ...head } = drawn(one, panel);
    return {
      ...head,
      ...(settings && { settings }),
      values: points,
      ...(last !== undefined && {
        last: { value: points.at(-1)!, ...readingOf(last, panel, settings) },
      }),
    };
  });
  return { data: { result_type: 'matrix', result }, leftOut: series.length - result.length };
}

const pointsOf = ({ times, values }: Series): Point[] =>
  Array.from(times, (time, at): Point => [time / 1_000, formatFloat(values[at]!)]);

/** Makes one figure of each of the first `most` series. */
export function shownFigures(series: readonly Series[], panel: PanelBody, most: number): Shown {
  const { calc = 'last', sparkline, all_values: isEach } = panel.display ?? {};
  const result = series.slice(0, most).flatMap((one): VectorSample[] => {
    const { settings, ...head } = drawn(one, panel);
    const sample = (value: number, time: number): VectorSample => ({
      ...head,
      ...(settings && { settings }),
      value: [time / 1_000, formatFloat(value)],
      ...(sparkline === true && one.values.length > 1 && { points: pointsOf(one) }),
      ...readingOf(value, panel, settings),
    });
    if (isEach === true) {
      return Array.from(one.values, (value, at) => sample(value, one.times[at]!));
    }
    const value = one.values.length === 1 ? one.values[0] : reduced(Array.from(one.values), calc);
    return value === undefined ? [] : [sample(value, one.times[one.times.length - 1]!)];
  });
  return {
    data: { result_type: 'vector', result },
    leftOut: Math.max(0, series.length - most),
  };
}

/** Counts of a histogram between its bounds, lowest first, where the store counts what is below each. */
export function bucketsOf(series: readonly Series[]): readonly Series[] {
  const bound = ({ labels }: Series): number =>
    Number((labels['le'] ?? '').replace('+Inf', 'Infinity'));
  if (!series.every(({ labels }) => Object.hasOwn(labels, 'le'))) {
    return series;
  }
  const sorted = series.toSorted((a, b) => bound(a) - bound(b));
  return sorted.map((one, at) => {
    const name = one.labels['le']!;
    const below = at === 0 ? undefined : sorted[at - 1];
    if (below === undefined) {
      return { ...one, name };
    }
    const counts = new Map(Array.from(below.times, (time, index) => [time, below.values[index]!]));
    return {
      ...one,
      name,
      values: Array.from(one.values, (value, index) =>
        Math.max(0, value - (counts.get(one.times[index]!) ?? 0)),
      ),
    };
  });
}

export function shownLines(
  lines: LinesAnswer['lines'],
  panel: PanelBody,
  device: NameOfDevice,
): Shown {
  const streams = new Map<string, Stream>();
  for (const { labels, at, line } of lines.slice(0, mostLines)) {
    const key = JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
    let stream = streams.get(key);
    if (stream === undefined) {
      stream = { stream: labels, name: nameOf(labels, panel.legend, device), values: [] };
      streams.set(key, stream);
    }
    stream.values.push([
      nanoseconds(at),
      line.length > longestLine ? `${wellFormed(line.slice(0, longestLine))}…` : line,
    ]);
  }
  return {
    data: { result_type: 'streams', result: [...streams.values()] },
    leftOut: Math.max(0, lines.length - mostLines),
  };
}

const nanoseconds = ({ ms, ns }: LineTime): string => `${ms}${String(ns).padStart(6, '0')}`;
