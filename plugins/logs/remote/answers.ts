import { SvcError } from 'svc/sdk';
import { parseFloatGo } from 'svc/telemetry';

import type { InstantAnswer, LabelRecord, MatrixAnswer } from '../../metricsdb/contract.ts';
import type { Line } from '../contract.ts';
import { parseNanos } from '../store/nanos.ts';

type Json = Readonly<Record<string, unknown>>;

/** What another server says is checked piece by piece: it may be another program, or another version. */
export function dataOf(body: Uint8Array): Json {
  const answer = record(parsed(body), 'the answer');
  if (answer['status'] !== 'success') {
    throw strange('the answer has no status "success"');
  }
  return answer['data'] === undefined ? {} : record(answer['data'], 'data');
}

/** Names or values; Loki leaves the list out when it is empty. */
export function namesIn(body: Uint8Array): string[] {
  const { data = [] } = record(parsed(body), 'the answer');
  return list(data, 'data').map((name) => text(name, 'a name'));
}

export function linesIn(data: Json): Line[] {
  expectType(data, 'streams');
  return list(data['result'], 'result').flatMap((entry) => {
    const { stream, values } = record(entry, 'a stream');
    const labels = labelsIn(stream);
    return list(values, 'values').map((value) => {
      const [at, line] = list(value, 'a value');
      const time = parseNanos(text(at, 'a time'));
      if (time === undefined) {
        throw strange('a time is no number of nanoseconds');
      }
      return { labels, at: time, line: text(line, 'a line') };
    });
  });
}

export function instantIn(data: Json): InstantAnswer {
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

export function matrixIn(data: Json): MatrixAnswer {
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

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')) as unknown;
  } catch {
    throw strange('the answer is not JSON');
  }
}

function sample(value: unknown): { time: number; value: number } {
  const [seconds, number] = list(value, 'a sample');
  if (typeof seconds !== 'number') {
    throw strange('the time of a sample is no number');
  }
  const parsedValue = parseFloatGo(text(number, 'the value of a sample'));
  if (parsedValue === undefined) {
    throw strange('the value of a sample is no number');
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

function expectType(data: Json, type: string): void {
  if (data['resultType'] !== type) {
    throw strange(`the result is not of type ${type}`);
  }
}

function record(value: unknown, what: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw strange(`${what} is no object`);
  }
  return value as Json;
}

function list(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) {
    throw strange(`${what} is no list`);
  }
  return value;
}

function text(value: unknown, what: string): string {
  if (typeof value !== 'string') {
    throw strange(`${what} is no text`);
  }
  return value;
}

const strange = (what: string): SvcError =>
  new SvcError('upstream_error', `the remote log store does not answer as Loki does: ${what}; is logs.remote_url right?`);
