import { queryError } from 'svc/query';

import { parse, valueTypeOf } from '../promql/index.ts';
import type { QueryLimits } from '../thread/contract.ts';
import { type Parameters, refuse, within } from './parameters.ts';

/** Longer than any span of time there are samples of. */
const longestLookbackMs = 366 * 86_400_000;

export interface Instant {
  readonly query: string;
  readonly time: number;
}

export interface Range {
  readonly query: string;
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

export interface Settled {
  readonly lookbackMs: number;
  readonly delayedNameRemoval: boolean;
  readonly timeoutMs: number | undefined;
}

export const readInstant = (asked: Parameters, now: number): Instant => ({
  time: asked.timeOr('time', now),
  query: asked.text('query'),
});

export function readRange(asked: Parameters, limits: Pick<QueryLimits, 'maxPoints'>): Range {
  const start = asked.time('start');
  const end = asked.time('end');
  if (end < start) {
    refuse('end', 'end timestamp must not be before start time');
  }
  const step = asked.duration('step');
  if (step <= 0) {
    refuse(
      'step',
      'zero or negative query resolution step widths are not accepted. Try a positive integer',
    );
  }
  const range = { query: asked.text('query'), start, end, step: Math.max(1, Math.round(step)) };
  assertPoints(range, limits);
  return range;
}

export function assertPoints(
  { start, end, step }: Omit<Range, 'query'>,
  { maxPoints }: Pick<QueryLimits, 'maxPoints'>,
): void {
  if (!((end - start) / step <= maxPoints)) {
    throw queryError(
      'bad_data',
      `exceeded maximum resolution of ${maxPoints.toLocaleString('en-US')} points per timeseries. Try decreasing the query resolution (?step=XX)`,
    );
  }
}

/** Reads the options that a caller may set for one query. */
export function readSettled(asked: Parameters, limits: QueryLimits): Settled {
  const timeoutMs = asked.durationIf('timeout');
  const lookbackMs = asked.durationIf('lookback_delta');
  if (lookbackMs !== undefined && !(lookbackMs > 0 && lookbackMs <= longestLookbackMs)) {
    refuse('lookback_delta', 'it must be above zero and at most a year');
  }
  return {
    timeoutMs: timeoutMs === undefined ? undefined : Math.max(0, timeoutMs),
    lookbackMs: lookbackMs ?? limits.lookbackMs,
    delayedNameRemoval: asked.flag('delayed_name_removal') ?? limits.delayedNameRemoval,
  };
}

/** Throws unless the text is PromQL, in the words of the API. */
export const demandQuery = (query: string): ReturnType<typeof parse> =>
  within('query', () => parse(query));

export function demandRangeQuery(query: string): void {
  const type = valueTypeOf(demandQuery(query));
  if (type === 'matrix' || type === 'string') {
    throw queryError(
      'bad_data',
      `invalid expression type "${type === 'matrix' ? 'range vector' : 'string'}" for range query, must be Scalar or instant Vector`,
    );
  }
}
