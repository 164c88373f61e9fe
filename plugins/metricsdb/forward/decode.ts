import { type SvcError } from 'svc/sdk';
import { labelsOf, type Labels, labelsRecord, parseFloatGo } from 'svc/query';

import type { RangeSeries } from '../promql/index.ts';
import type { ServiceAnswer } from '../service/answers.ts';
import { matrixAnswer, vectorAnswer } from '../service/matrix.ts';
import { errors } from './errors.ts';

const maxWarnings = 20;
const longestWarning = 500;

/**
 * Decodes an answer of the Prometheus API from an untrusted server: everything is checked before
 * use.
 */
export function decodeRange(body: Uint8Array): {
  readonly series: readonly RangeSeries[];
  readonly warnings: readonly string[];
} {
  const { data, warnings } = read(body);
  const { resultType, result } = record(data);
  if (resultType !== 'matrix') {
    throw strange('its result is not a matrix');
  }
  return { series: list(result).map(readSeries), warnings: readNotes(warnings) };
}

/** The same for other plugins: any type of result, or label sets. */
export function decodeAnswer(body: Uint8Array, kind: 'query' | 'series'): ServiceAnswer {
  const { data, warnings } = read(body);
  if (kind === 'series') {
    return list(data).map((labels) => labelsRecord(readLabels(labels)));
  }
  const { resultType, result } = record(data);
  const notes = readNotes(warnings);
  switch (resultType) {
    case 'scalar': {
      const [time, value] = readPoint(result);
      return { type: 'scalar', time, value, warnings: notes };
    }
    case 'string': {
      const [time, text] = list(result);
      return { type: 'string', time: readTime(time), value: String(text), warnings: notes };
    }
    case 'vector':
      return vectorAnswer(list(result).map(readSample), notes);
    case 'matrix':
      return matrixAnswer(list(result).map(readSeries), notes);
    default:
      throw strange('its result has no known type');
  }
}

function read(body: Uint8Array): Record<string, unknown> {
  let answer: unknown;
  try {
    answer = JSON.parse(
      Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'),
    );
  } catch (error) {
    throw strange('it is not JSON', error);
  }
  const envelope = record(answer);
  if (envelope['status'] !== 'success') {
    throw strange('it does not say success');
  }
  return envelope;
}

const readNotes = (warnings: unknown): string[] =>
  Array.isArray(warnings)
    ? warnings.slice(0, maxWarnings).map((text) => String(text).slice(0, longestWarning))
    : [];

function readSample(item: unknown): { labels: Labels; time: number; value: number } {
  const { metric, value: point } = record(item);
  const [time, value] = readPoint(point);
  return { labels: readLabels(metric), time, value };
}

function readSeries(item: unknown): RangeSeries {
  const { metric, values: points } = record(item);
  const from = list(points);
  const times = new Float64Array(from.length);
  const values = new Float64Array(from.length);
  from.forEach((point, at) => ([times[at], values[at]] = readPoint(point)));
  return { labels: readLabels(metric), times, values };
}

function readLabels(labels: unknown): Labels {
  const pairs = Object.entries(record(labels));
  if (pairs.some(([, value]) => typeof value !== 'string')) {
    throw strange('one of its labels is not a text');
  }
  return labelsOf(pairs as (readonly [string, string])[]);
}

function readPoint(point: unknown): [time: number, value: number] {
  const [time, text] = list(point);
  const value = typeof text === 'string' ? parseFloatGo(text) : undefined;
  if (value === undefined) {
    throw strange('one of its values is not a number');
  }
  return [readTime(time), value];
}

function readTime(time: unknown): number {
  if (typeof time !== 'number') {
    throw strange('one of its times is not a number');
  }
  return Math.round(time * 1000);
}

function record(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw strange('it has another shape');
  }
  return value as Record<string, unknown>;
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) {
    throw strange('it has another shape');
  }
  return value;
}

const strange = (what: string, cause?: unknown): SvcError => errors.odd_answer({ what }, { cause });
