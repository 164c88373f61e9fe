import {
  type Budget,
  compareLabels,
  kindOf,
  type Labels,
  type Matcher,
  queryError,
} from 'svc/query';

import { LabelSets } from './label-sets.ts';
import { Effort } from './lines/effort.ts';
import type { LogEntry, LogSource, Nanos } from './lines/source.ts';
import { WorkingLine } from './lines/working-line.ts';
import { evaluate } from './metric/evaluate.ts';
import { isEmpty, type Row } from './metric/matrix.ts';
import { tooManySeries } from './metric/range-aggregation.ts';
import { type FoundLine, Page } from './page.ts';
import { parse } from './parse.ts';
import { pipelineOf } from './pipeline/pipeline.ts';
import type { LogExpr, MetricExpr } from './syntax/ast.ts';
import { matchersOf } from './syntax/selector.ts';

interface Common {
  readonly query: string;
  /** True to separate the labels of a line by origin. */
  readonly categorized?: boolean;
  /** Added to every selector. */
  readonly enforce?: readonly Matcher[];
  /** Milliseconds since 1970, for `now` in templates. */
  readonly now: () => number;
}

export interface LinesQuery extends Common {
  readonly start: Nanos;
  /** End, exclusive. */
  readonly end: Nanos;
  readonly limit?: number;
  readonly direction?: 'forward' | 'backward';
  /** Milliseconds that lie between two lines at least; default 0. */
  readonly interval?: number;
}

export interface LinesResult {
  readonly type: 'streams';
  /** Lines in the requested direction, all streams together; equal label sets are one object. */
  readonly lines: readonly FoundLine[];
  /** True if the budget ended the search before the end of the window. */
  readonly partial: boolean;
}

export interface InstantQuery extends Common {
  readonly time: number;
  readonly maxSeries?: number;
}

export interface RangeQuery extends Common {
  readonly start: number;
  readonly end: number;
  readonly step: number;
  readonly maxSeries?: number;
}

export interface VectorSample {
  readonly labels: Labels;
  readonly value: number;
}

export type InstantResult =
  | { readonly type: 'scalar'; readonly time: number; readonly value: number }
  | {
      readonly type: 'vector';
      readonly time: number;
      readonly samples: readonly VectorSample[];
      readonly ordered: boolean;
    };

export interface RangeResult {
  readonly type: 'matrix';
  readonly series: readonly {
    readonly labels: Labels;
    readonly times: Float64Array;
    readonly values: Float64Array;
  }[];
}

const usualLimit = 100;
const usualSeries = 500;
const maxSteps = 11_000;
/** Max size of lines and labels in one answer. */
const maxHeld = 64 * 1024 * 1024;

/** A stream selector with its stages, ready for lines. */
export interface LineQuery {
  readonly matchers: readonly Matcher[];
  readonly contains: readonly string[];
  readonly stages: number;
  /** Runs the query on a line; undefined if it drops the line. */
  process(labels: Labels, entry: LogEntry): FoundLine | undefined;
}

/** Returns the query for callers that already have lines, such as a live tail. */
export function tailer({ query, ...rest }: Common): LineQuery {
  return lineQuery(logOf(query), rest);
}

function logOf(query: string): LogExpr {
  const expr = parse(query);
  if (expr.kind !== 'log') {
    throw queryError('bad_data', 'only log queries have lines: this is a metric query');
  }
  return expr;
}

function lineQuery(
  expr: LogExpr,
  { enforce = [], now, categorized = false }: Omit<Common, 'query'>,
): LineQuery {
  const { run, contains } = pipelineOf(expr.stages, { now });
  const sets = new LabelSets();
  const work = new WorkingLine();
  return {
    matchers: [...matchersOf(expr.matchers), ...enforce],
    contains,
    stages: expr.stages.length,
    process(labels, { line, ms, ns, metadata }) {
      work.start(line, ms, ns, labels, metadata);
      if (!run(work)) {
        return undefined;
      }
      if (!categorized) {
        return { labels: sets.of(work), ms, ns, line: work.line };
      }
      const { stream, ...beside } = work.byOrigin();
      return { labels: stream, ms, ns, line: work.line, beside };
    },
  };
}

/**
 * Returns the newest or oldest lines that the query selects; never holds more of them than it
 * returns.
 */
export async function lines(
  source: LogSource,
  query: LinesQuery,
  budget: Budget,
): Promise<LinesResult> {
  const { start, end, limit = usualLimit, direction = 'backward', interval = 0 } = query;
  const { matchers, contains, stages, process } = lineQuery(logOf(query.query), query);
  if (interval > 0) {
    return await spacedLines(source, { ...query, direction, limit, interval }, budget);
  }
  if (!(limit > 0)) {
    return { type: 'streams', lines: [], partial: false };
  }
  const page = new Page(limit, direction === 'backward');
  const effort = new Effort(stages);
  try {
    for await (const { labels, entries } of source.select(
      matchers,
      start,
      end,
      { direction, contains, bound: () => page.bound },
      budget,
    )) {
      for (const entry of entries) {
        // The rest of the batch is no better.
        if (!page.wants(entry.ms, entry.ns)) {
          break;
        }
        if (effort.spentWith(entry.line)) {
          await budget.breathe();
        }
        const found = process(labels, entry);
        if (found !== undefined) {
          page.add(found);
          if (page.size > maxHeld) {
            throw queryError(
              'too_large',
              `the answer is larger than ${maxHeld} bytes: ask for fewer lines`,
            );
          }
        }
      }
      await budget.breathe();
    }
  } catch (error) {
    const kind = kindOf(error);
    if (kind !== 'too_large' && kind !== 'timeout') {
      throw error;
    }
    return { type: 'streams', lines: page.lines(), partial: true };
  }
  return { type: 'streams', lines: page.lines(), partial: false };
}

/** One line after the other, each looked for where the interval after the one before has ended. */
async function spacedLines(
  source: LogSource,
  {
    interval,
    ...query
  }: Required<Pick<LinesQuery, 'interval' | 'limit' | 'direction'>> & LinesQuery,
  budget: Budget,
): Promise<LinesResult> {
  const found: FoundLine[] = [];
  let { start, end } = query;
  for (let partial = false; ;) {
    const next: LinesResult | undefined =
      found.length === query.limit || partial
        ? undefined
        : await lines(source, { ...query, start, end, limit: 1 }, budget);
    const [line] = next?.lines ?? [];
    if (line === undefined) {
      return { type: 'streams', lines: found, partial: partial || next?.partial === true };
    }
    partial = next!.partial;
    found.push(line);
    if (query.direction === 'forward') {
      start = { ms: line.ms + interval, ns: line.ns };
    } else {
      end = { ms: line.ms - interval, ns: line.ns + 1 };
    }
  }
}

function metricOf(query: string, ask: 'instant' | 'range'): MetricExpr {
  const expr = parse(query);
  if (expr.kind === 'log') {
    throw queryError(
      'bad_data',
      ask === 'instant'
        ? 'log queries are not supported as an instant query type, please change your query to a range query type'
        : 'log queries have lines, not series: wrap the query in count_over_time or another metric function',
    );
  }
  return expr;
}

export async function instant(
  source: LogSource,
  query: InstantQuery,
  budget: Budget,
): Promise<InstantResult> {
  const { time, enforce = [], now, maxSeries = usualSeries } = query;
  const value = await evaluate(metricOf(query.query, 'instant'), {
    source,
    budget,
    now,
    enforce,
    times: Float64Array.of(time),
    maxSeries,
  });
  if (value.kind === 'number') {
    return { type: 'scalar', time, value: value.value };
  }
  const rows = bounded(value.rows, maxSeries);
  const ordered = value.ordered === true;
  const samples = (ordered ? rows : rows.toSorted((a, b) => compareLabels(a.labels, b.labels))).map(
    ({ labels, values }) => ({ labels, value: values[0]! }),
  );
  return { type: 'vector', time, samples, ordered };
}

/** The steps of a range lie on multiples of the step, from the last one before the start to the first one behind the end. */
export async function range(
  source: LogSource,
  query: RangeQuery,
  budget: Budget,
): Promise<RangeResult> {
  const { step, enforce = [], now, maxSeries = usualSeries } = query;
  const expr = metricOf(query.query, 'range');
  const times = stepsOf(query.start, query.end, step);
  const value = await evaluate(expr, {
    source,
    budget,
    now,
    enforce,
    times,
    maxSeries,
  });
  if (value.kind === 'number') {
    return {
      type: 'matrix',
      series: [{ labels: [], times, values: new Float64Array(times.length).fill(value.value) }],
    };
  }
  const rows = bounded(value.rows, maxSeries).toSorted((a, b) => compareLabels(a.labels, b.labels));
  return { type: 'matrix', series: rows.map((row) => compact(row, times)) };
}

function stepsOf(start: number, end: number, step: number): Float64Array {
  if (!(step > 0)) {
    throw queryError(
      'bad_data',
      'zero or negative query resolution step widths are not accepted. Try a positive integer',
    );
  }
  if (!(end >= start)) {
    throw queryError('bad_data', 'end timestamp must not be before or equal to start time');
  }
  const first = Math.floor(start / step);
  const last = Math.ceil(end / step);
  if (last - first > maxSteps) {
    throw queryError(
      'bad_data',
      'exceeded maximum resolution of 11,000 points per time series. Try increasing the value of the step parameter',
    );
  }
  return Float64Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
}

function bounded(rows: readonly Row[], most: number): Row[] {
  const found = rows.filter((row) => !isEmpty(row));
  if (found.length > most) {
    throw tooManySeries(most);
  }
  return found;
}

function compact(
  { labels, values, present }: Row,
  times: Float64Array,
): RangeResult['series'][number] {
  return {
    labels,
    times: times.filter((_, step) => present[step] === 1),
    values: values.filter((_, step) => present[step] === 1),
  };
}
