import type { LinesAnswer, LineTime } from 'svc/contracts/logs';
import type { InstantAnswer, LabelRecord, MatrixAnswer } from 'svc/contracts/metricsdb';
import { formatFloat } from 'svc/query';

import { inPromql } from '../variables/label-values.ts';
import { type PanelBody, refuse } from '../model/panel.ts';
import { wellFormed } from '../variables/query-text.ts';
import { mostLines } from './questions.ts';
import { type State, stateOf } from '../model/thresholds.ts';
import { formatted } from '../model/units.ts';

type Point = readonly [seconds: number, value: string];

interface Reading {
  readonly formatted: string;
  readonly state?: State;
}

export interface MatrixSeries {
  readonly metric: LabelRecord;
  readonly name: string;
  readonly values: Point[];
  readonly last?: Reading & { readonly value: Point };
}

export interface VectorSample extends Reading {
  readonly metric: LabelRecord;
  readonly name: string;
  readonly value: Point;
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

/** Part of an answer that a panel shows. */
export interface Shown {
  readonly data: PanelData;
  /** Series or lines beyond those shown. */
  readonly leftOut: number;
}

const longestLine = 4_096;

export function emptyData({ type }: PanelBody): PanelData {
  switch (type) {
    case 'timeseries':
      return { result_type: 'matrix', result: [] };
    case 'logs':
      return { result_type: 'streams', result: [] };
    default:
      return { result_type: 'vector', result: [] };
  }
}

export function shownMatrix(
  { labels, times, values }: MatrixAnswer,
  panel: PanelBody,
  most: number,
): Shown {
  const result = labels.slice(0, most).map((metric, index) => {
    const points = Array.from(times[index]!, (time, at): Point => [
      time / 1_000,
      formatFloat(values[index]![at]!),
    ]);
    const last = values[index]!.at(-1);
    return {
      metric,
      name: nameOf(metric, panel.legend),
      values: points,
      ...(last !== undefined && { last: { value: points.at(-1)!, ...readingOf(last, panel) } }),
    };
  });
  return { data: { result_type: 'matrix', result }, leftOut: labels.length - result.length };
}

export function shownInstant(answer: InstantAnswer, panel: PanelBody, most: number): Shown {
  const sample = (metric: LabelRecord, time: number, value: number): VectorSample => ({
    metric,
    name: nameOf(metric, panel.legend),
    value: [time / 1_000, formatFloat(value)],
    ...readingOf(value, panel),
  });
  switch (answer.type) {
    case 'scalar':
      return {
        data: { result_type: 'vector', result: [sample({}, answer.time, answer.value)] },
        leftOut: 0,
      };
    case 'vector': {
      const result = answer.labels
        .slice(0, most)
        .map((metric, index) => sample(metric, answer.times[index]!, answer.values[index]!));
      return {
        data: { result_type: 'vector', result },
        leftOut: answer.labels.length - result.length,
      };
    }
    case 'matrix':
    case 'string':
      return refuse({ path: '/query', message: unfit(answer.type) });
  }
}

export const unfit = (type: 'matrix' | 'string'): string =>
  type === 'matrix'
    ? 'the query ends in a range such as [5m], which has no value of its own; put a function such as rate around it'
    : 'the query is a text, and a panel shows numbers';

export function shownLines({ lines }: LinesAnswer, panel: PanelBody): Shown {
  const streams = new Map<string, Stream>();
  for (const { labels, at, line } of lines.slice(0, mostLines)) {
    const key = JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
    let stream = streams.get(key);
    if (stream === undefined) {
      stream = { stream: labels, name: nameOf(labels, panel.legend), values: [] };
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

function readingOf(value: number, { unit, thresholds }: PanelBody): Reading {
  const state = stateOf(value, thresholds);
  return { formatted: formatted(value, unit), ...(state !== undefined && { state }) };
}

/** `{{device_id}} {{mountpoint}}` with the labels of one series; without a legend, the series as PromQL writes it. */
export function nameOf(labels: LabelRecord, legend: string): string {
  if (legend === '') {
    return written(labels);
  }
  return legend.replaceAll(/\{\{\s*([^{}]*[^{}\s])\s*\}\}/g, (_whole, name: string) =>
    Object.hasOwn(labels, name) ? labels[name]! : '',
  );
}

function written(labels: LabelRecord): string {
  const pairs = Object.keys(labels)
    .filter((name) => name !== '__name__')
    .sort()
    .map((name) => `${inPromql(name)}=${JSON.stringify(labels[name])}`);
  const metric = Object.hasOwn(labels, '__name__') ? labels['__name__']! : '';
  if (!/^[\w:]*$/.test(metric)) {
    return `{${[JSON.stringify(metric), ...pairs].join(', ')}}`;
  }
  return pairs.length > 0 || metric === '' ? `${metric}{${pairs.join(', ')}}` : metric;
}
