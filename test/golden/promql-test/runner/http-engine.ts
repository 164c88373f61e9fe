import { type Labels, labelsOf } from 'svc/query';
import { ProtoWriter, snappyEncode } from 'svc/store';

import { type Expr, parse, print } from '../../../../plugins/metricsdb/promql/index.ts';
import type { Answer, Engine, Points } from './engine.ts';
import { mapExpr } from './pinned.ts';
import { isHistogram, type SeriesLine } from './series-line.ts';

export interface HttpOptions {
  /** Ends before `/query`: `http://127.0.0.1:8080/prometheus/api/v1`. */
  readonly query: string;
  /** Takes remote write. */
  readonly write: string;
  readonly token?: string;
  /** Milliseconds; where time 0 of the first data set lies. A multiple of a week. */
  readonly epoch: number;
}

const week = 7 * 86_400_000;
const staleBits = 0x7ff0_0000_0000_0002n;

/**
 * A server that cannot be emptied: each data set lies a week after the one before, and times in questions and answers are moved
 * along. A question whose value tells the time cannot be moved.
 */
export function httpEngine({ query, write, token, epoch }: HttpOptions): Engine {
  let base = epoch - week;
  const headers = token === undefined ? undefined : { authorization: `Bearer ${token}` };

  async function ask(path: string, parameters: Record<string, string>): Promise<Answer> {
    const response = await fetch(`${query}/${path}`, {
      method: 'POST',
      body: new URLSearchParams(parameters),
      ...(headers !== undefined && { headers }),
    });
    const body = (await response.json()) as Body;
    if (body.status !== 'success') {
      // Servers say which parameter it is that cannot be read.
      throw new Error(
        body.error?.replace(/^invalid parameter "query": /, '') ?? `status ${response.status}`,
      );
    }
    return answerOf(body, base);
  }

  const seconds = (ms: number): string => String((ms + base) / 1000);
  return {
    async clear() {
      base += week;
    },
    async load(stepMs, series) {
      if (series.length === 0) {
        return;
      }
      const response = await fetch(write, {
        method: 'POST',
        body: snappyEncode(requestOf(series, stepMs, base)),
        headers: {
          ...headers,
          'content-type': 'application/x-protobuf',
          'content-encoding': 'snappy',
          'x-prometheus-remote-write-version': '0.1.0',
        },
      });
      if (!response.ok) {
        throw new Error(`remote write: ${response.status} ${await response.text()}`);
      }
    },
    unsupported: (text) =>
      tellsTime.test(text) ? 'tells the time, which is moved here' : undefined,
    instant: (text, time) => ask('query', { query: moved(text, base), time: seconds(time) }),
    range: (text, start, end, step) =>
      ask('query_range', {
        query: moved(text, base),
        start: seconds(start),
        end: seconds(end),
        step: String(step / 1000),
      }),
  };
}

const tellsTime =
  /\b(?:time|timestamp|start|end|year|month|day_of_\w+|days_in_month|hour|minute|ts_of_\w+)\s*\(/i;

function requestOf(series: readonly SeriesLine[], stepMs: number, base: number): Uint8Array {
  const request = new ProtoWriter();
  for (const { labels, items } of series) {
    const message = new ProtoWriter();
    for (let i = 0; i < labels.length; i += 2) {
      message.bytes(
        1,
        new ProtoWriter()
          .bytes(1, Buffer.from(labels[i]!))
          .bytes(2, Buffer.from(labels[i + 1]!))
          .finish(),
      );
    }
    items.forEach((item, index) => {
      if (item !== undefined && !isHistogram(item)) {
        message.bytes(2, sampleOf(item, base + index * stepMs));
      }
    });
    request.bytes(1, message.finish());
  }
  return request.finish();
}

function sampleOf(item: number | 'stale', time: number): Uint8Array {
  const sample = new ProtoWriter();
  return (item === 'stale' ? sample.fixed64(1, staleBits) : sample.double(1, item))
    .int64(2, time)
    .finish();
}

/** Unchanged, so that places in remarks stay what they are, unless a time stands in it. */
function moved(text: string, base: number): string {
  if (!/@\s*[-+.\d]/.test(text)) {
    return text;
  }
  return print(mapExpr(parse(text), (expr) => later(expr, base)));
}

function later(expr: Expr, base: number): Expr {
  if (expr.node === 'matrix' && typeof expr.selector.at === 'number') {
    return { ...expr, selector: { ...expr.selector, at: expr.selector.at + base } };
  }
  return (expr.node === 'selector' || expr.node === 'subquery') && typeof expr.at === 'number'
    ? { ...expr, at: expr.at + base }
    : expr;
}

type Pair = readonly [seconds: number, value: string];

interface Body {
  readonly status: string;
  readonly error?: string;
  readonly warnings?: readonly string[];
  readonly infos?: readonly string[];
  readonly data?: {
    readonly resultType: string;
    readonly result:
      | Pair
      | readonly {
          readonly metric: Record<string, string>;
          readonly value?: Pair;
          readonly values?: readonly Pair[];
        }[];
  };
}

function answerOf({ data, warnings = [], infos = [] }: Body, base: number): Answer {
  const { resultType, result } = data!;
  if (resultType === 'scalar' || resultType === 'string') {
    const [, value] = result as Pair;
    return resultType === 'string'
      ? { type: 'string', value, warnings, infos }
      : { type: 'scalar', value: numberOf(value), warnings, infos };
  }
  const series = (
    result as readonly { metric: Record<string, string>; value?: Pair; values?: readonly Pair[] }[]
  ).map(({ metric, value, values }): Points => {
    const points = values ?? [value!];
    const labels: Labels = labelsOf(Object.entries(metric));
    return {
      labels,
      times: points.map(([time]) => Math.round(time * 1000) - base),
      values: points.map(([, text]) => numberOf(text)),
    };
  });
  return { type: resultType === 'vector' ? 'vector' : 'matrix', series, warnings, infos };
}

const numberOf = (text: string): number =>
  text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text);
