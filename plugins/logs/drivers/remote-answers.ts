import type { Line } from 'svc/contracts/logs';
import type { InstantAnswer, LabelRecord, MatrixAnswer } from 'svc/contracts/metricsdb';
import { foreignJson, type JsonRecord, parseFloatGo } from 'svc/query';
import { type SvcError } from 'svc/sdk';

import { parseNanos } from '../store/lines/nanos.ts';
import { errors } from './errors.ts';

const strange = (what: string): SvcError => errors.odd_answer({ what });

const { parsed, record, list, text } = foreignJson(strange);

/** Max size of an answer that is read; what people ask for is passed on as it is. */
const maxBytes = 16 * 1024 * 1024;

/** Readers of answers, by what was asked. */
const readers = {
  lines: (body: Uint8Array) => linesIn(dataOf(body)),
  instant: (body: Uint8Array) => instantIn(dataOf(body)),
  range: (body: Uint8Array) => matrixIn(dataOf(body)),
  names: (body: Uint8Array) => namesIn(body),
} as const;

export type AnswerKind = keyof typeof readers;
export type AnswerOf<K extends AnswerKind> = ReturnType<(typeof readers)[K]>;

/** An answer as the thread gets it. */
export interface AnswerBody {
  readonly kind: AnswerKind;
  readonly body: Uint8Array;
}

export function readAnswer<K extends AnswerKind>(kind: K, body: Uint8Array): AnswerOf<K> {
  if (body.length > maxBytes) {
    throw strange(`the answer is larger than ${maxBytes} bytes`);
  }
  return readers[kind](body) as AnswerOf<K>;
}

/**
 * Parses an answer of another server, checking each part: it may be another program, or another
 * version.
 */
function dataOf(body: Uint8Array): JsonRecord {
  const answer = parsed(body);
  if (answer['status'] !== 'success') {
    throw strange('the answer has no status "success"');
  }
  return answer['data'] === undefined ? {} : record(answer['data'], 'data');
}

/** Names or values; Loki leaves the list out when it is empty. */
function namesIn(body: Uint8Array): string[] {
  const { data = [] } = parsed(body);
  return list(data, 'data').map((name) => text(name, 'a name'));
}

function linesIn(data: JsonRecord): Line[] {
  expectType(data, 'streams');
  return list(data['result'], 'result').flatMap((entry) => {
    const { stream, values } = record(entry, 'a stream');
    const labels = labelsIn(stream);
    return list(values, 'values').map((value) => {
      const [at, line] = list(value, 'a value');
      const time = parseNanos(text(at, 'a time'));
      if (time === undefined) {
        throw strange('a time is not a number of nanoseconds');
      }
      return { labels, at: time, line: text(line, 'a line') };
    });
  });
}

function instantIn(data: JsonRecord): InstantAnswer {
  if (data['resultType'] === 'scalar') {
    const { time, value } = sample(data['result']);
    return { type: 'scalar', time, value, warnings: [] };
  }
  expectType(data, 'vector');
  const series = list(data['result'], 'result').map((entry) => record(entry, 'a series'));
  const samples = series.map(({ value }) => sample(value));
  return {
    type: 'vector',
    labels: series.map(({ metric }) => labelsIn(metric)),
    times: Float64Array.from(samples, ({ time }) => time),
    values: Float64Array.from(samples, ({ value }) => value),
    warnings: [],
  };
}

function matrixIn(data: JsonRecord): MatrixAnswer {
  expectType(data, 'matrix');
  const series = list(data['result'], 'result').map((entry) => record(entry, 'a series'));
  const samples = series.map(({ values }) => list(values, 'values').map(sample));
  return {
    type: 'matrix',
    labels: series.map(({ metric }) => labelsIn(metric)),
    times: samples.map((points) => Float64Array.from(points, ({ time }) => time)),
    values: samples.map((points) => Float64Array.from(points, ({ value }) => value)),
  };
}

function sample(value: unknown): { time: number; value: number } {
  const [seconds, number] = list(value, 'a sample');
  if (typeof seconds !== 'number') {
    throw strange('the time of a sample is not a number');
  }
  const parsedValue = parseFloatGo(text(number, 'the value of a sample'));
  if (parsedValue === undefined) {
    throw strange('the value of a sample is not a number');
  }
  return { time: Math.round(seconds * 1_000), value: parsedValue };
}

function labelsIn(value: unknown): LabelRecord {
  const labels = Object.create(null) as Record<string, string>;
  for (const [name, one] of Object.entries(record(value, 'a label set'))) {
    labels[name] = text(one, 'the value of a label');
  }
  return labels;
}

function expectType(data: JsonRecord, type: string): void {
  if (data['resultType'] !== type) {
    throw strange(`the result is not of type ${type}`);
  }
}
