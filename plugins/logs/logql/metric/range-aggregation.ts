import {
  type Budget,
  type Labels,
  labelsKey,
  labelsOf,
  labelValue,
  type Matcher,
  noLabels,
  parseFloatGo,
  type QueryError,
  queryError,
  readGoDuration,
} from 'svc/query';
import { quote } from 'svc/template';

import { Effort } from '../lines/effort.ts';
import type { LogSource } from '../lines/source.ts';
import { errorDetailsLabel, errorLabel, WorkingLine } from '../lines/working-line.ts';
import { labelFilter } from '../pipeline/label-filter.ts';
import { labelsOfFilter, pipelineOf } from '../pipeline/pipeline.ts';
import type { Conversion, Grouping, RangeExpr, Unwrap } from '../syntax/ast.ts';
import { parseByteSize } from '../syntax/byte-size.ts';
import { matchersOf } from '../syntax/selector.ts';
import { CellSeries, type SampleSeries } from './cell-series.ts';
import { foldOf } from './fold.ts';
import { groupLabels } from './grouping.ts';
import { emptyRow, put, type Row } from './matrix.ts';
import { counterRate, quantile, SampleList } from './sample-list.ts';
import { Windows } from './windows.ts';

export interface Evaluation {
  readonly source: LogSource;
  readonly budget: Budget;
  readonly now: () => number;
  readonly enforce: readonly Matcher[];
  /** Ends of the windows, in milliseconds. */
  readonly times: Float64Array;
  /** Max series of the answer; absent for intermediate results. */
  readonly maxSeries?: number | undefined;
}

const conversions: Readonly<Record<Conversion | 'number', (text: string) => number | undefined>> = {
  number: parseFloatGo,
  bytes: parseByteSize,
  duration: (text) => seconds(readGoDuration(text)),
  duration_seconds: (text) => seconds(readGoDuration(text)),
};

const seconds = (ns: number | undefined): number | undefined =>
  ns === undefined ? undefined : ns / 1e9;

const maxRemembered = 4096;

/**
 * Aggregates lines over windows into numbers per label set; `outer` is the grouping of an enclosing
 * sum, applied on the fly.
 */
export async function rangeAggregation(
  expr: RangeExpr,
  evaluation: Evaluation,
  outer?: Grouping,
): Promise<readonly Row[]> {
  const { source, budget, times, enforce } = evaluation;
  const windows = new Windows(times, expr.rangeMs, expr.offsetMs);
  const grouping =
    expr.op === 'absent_over_time' ? { without: false, labels: [] } : (expr.grouping ?? outer);
  const sample = sampler(expr, grouping, evaluation.now);
  const series = new SeriesSet(expr, grouping, evaluation.maxSeries);
  const matchers = matchersOf(expr.log.matchers);
  const work = new WorkingLine();
  const effort = new Effort(expr.log.stages.length);
  const from = { ms: windows.from, ns: 1 };
  const to = { ms: windows.to, ns: 1 };
  for await (const { labels, entries } of source.select(
    [...matchers, ...enforce],
    from,
    to,
    { direction: 'forward', contains: sample.contains },
    budget,
  )) {
    for (const { ms, ns, line, metadata } of entries) {
      if (effort.spentWith(line)) {
        await budget.breathe();
      }
      const cell = windows.cellOf(ms, ns);
      if (cell < 0) {
        continue;
      }
      work.start(line, ms, ns, labels, metadata);
      const value = sample.read(work);
      if (value === undefined) {
        continue;
      }
      if (work.error !== '') {
        throw pipelineError(work.flat());
      }
      budget.spend(series.of(work).add(cell, value, ms, ns));
    }
    await budget.breathe();
  }
  return expr.op === 'absent_over_time'
    ? absent(expr, series.all(), windows)
    : rowsOf(series.all(), windows, budget);
}

async function rowsOf(
  series: Iterable<SampleSeries>,
  windows: Windows,
  budget: Budget,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const one of series) {
    rows.push(one.row(windows));
    await budget.breathe();
  }
  return rows;
}

/** Returns 1 where there is nothing, with the labels that the selector implies. */
function absent({ log }: RangeExpr, series: Iterable<SampleSeries>, windows: Windows): Row[] {
  const names = log.matchers.map(({ name }) => name);
  const sure = log.matchers.filter(
    ({ name, op }) => op === '=' && names.indexOf(name) === names.lastIndexOf(name),
  );
  const row = emptyRow(labelsOf(sure.map(({ name, value }) => [name, value])), windows.count);
  const found = [...series].map((one) => one.row(windows));
  for (let step = 0; step < windows.count; step++) {
    if (!found.some(({ present }) => present[step] === 1)) {
      put(row, step, 1);
    }
  }
  return [row];
}

/**
 * Returns how a line becomes a number: by its pipeline, and by what is unwrapped or counted. The
 * result is undefined for a line that does not.
 */
function sampler(
  { op, log, unwrap, grouping: own }: RangeExpr,
  grouping: Grouping | undefined,
  now: () => number,
): { contains: readonly string[]; read(work: WorkingLine): number | undefined } {
  const filters = unwrap?.filters ?? [];
  const wanted =
    grouping === undefined || grouping.without
      ? undefined
      : new Set([
          ...grouping.labels,
          ...(unwrap === undefined ? [] : [unwrap.label]),
          ...filters.flatMap(labelsOfFilter),
        ]);
  const { run, contains } = pipelineOf(log.stages, { now, wanted });
  if (unwrap !== undefined) {
    // Loki merges only sums with their outer aggregation: a maximum of maxima never sees the label.
    const named = own ?? (op === 'max_over_time' || op === 'min_over_time' ? undefined : grouping);
    const value = unwrapper(
      unwrap,
      named?.without === false && named.labels.includes(unwrap.label),
    );
    return { contains, read: (work) => (run(work) ? value(work) : undefined) };
  }
  const bytes = op === 'bytes_over_time' || op === 'bytes_rate';
  return {
    contains,
    read: (work) => (run(work) ? (bytes ? Buffer.byteLength(work.line) : 1) : undefined),
  };
}

/**
 * Extracts the number from its label; an invalid number is an error of the line. Later filters may
 * see both. Then the label is removed, unless the answer is grouped by it.
 */
function unwrapper(
  { label, convert, filters }: Unwrap,
  grouped: boolean,
): (work: WorkingLine) => number | undefined {
  const read = conversions[convert ?? 'number'];
  const runs = filters.map(labelFilter);
  return (work) => {
    const text = work.get(label);
    if (text === undefined || text === '') {
      return undefined;
    }
    const value = read(text);
    if (value === undefined && work.error === '') {
      work.fail(
        'SampleExtractionErr',
        `${JSON.stringify(text.slice(0, 100))} is no ${convert ?? 'number'}`,
      );
    }
    if (!runs.every((run) => run(work))) {
      return undefined;
    }
    if (work.error === '' && !grouped) {
      work.remove(label);
    }
    return value ?? 0;
  };
}

/** The series found so far, by their labels; streams whose labels no stage touched are found by identity. */
class SeriesSet {
  readonly #expr: RangeExpr;
  readonly #grouping: Grouping | undefined;
  readonly #fold: ReturnType<typeof foldOf>;
  readonly #most: number;
  readonly #byKey = new Map<string, SampleSeries>();
  /** Labels of the latest stream, to which `#ofBase` belongs. */
  #base: Labels | undefined;
  #ofBase = new Map<Labels, SampleSeries>();

  constructor(expr: RangeExpr, grouping: Grouping | undefined, most = Infinity) {
    this.#most = most;
    this.#expr = expr;
    this.#grouping = grouping;
    this.#fold = foldOf(expr.op);
  }

  of(work: WorkingLine): SampleSeries {
    const same = work.untouched;
    if (same === undefined) {
      return this.#find(work);
    }
    if (same.base !== this.#base || this.#ofBase.size > maxRemembered) {
      this.#base = same.base;
      this.#ofBase = new Map();
    }
    const beside = same.beside ?? noLabels;
    let found = this.#ofBase.get(beside);
    if (found === undefined) {
      found = this.#find(work);
      this.#ofBase.set(beside, found);
    }
    return found;
  }

  all(): Iterable<SampleSeries> {
    return this.#byKey.values();
  }

  #find(work: WorkingLine): SampleSeries {
    const grouping = this.#grouping;
    const labels =
      grouping !== undefined && !grouping.without
        ? byLabels(work, grouping)
        : groupLabels(work.flat(), grouping);
    const key = labelsKey(labels);
    let found = this.#byKey.get(key);
    if (found === undefined) {
      found = this.#make(Object.freeze(labels));
      this.#byKey.set(key, found);
    }
    return found;
  }

  #make(labels: Labels): SampleSeries {
    if (this.#fold !== undefined) {
      // Each of them has a value somewhere, so all of them would be in the answer.
      if (this.#byKey.size >= this.#most) {
        throw tooManySeries(this.#most);
      }
      return new CellSeries(labels, this.#fold);
    }
    const { op, parameter } = this.#expr;
    return new SampleList(labels, op === 'rate_counter' ? counterRate : quantile(parameter!));
  }
}

export const tooManySeries = (most: number): QueryError =>
  queryError(
    'too_large',
    `maximum number of series (${most}) reached for a single query; add more specific stream selectors, or aggregate with sum(), count() or topk()`,
  );

function byLabels(work: WorkingLine, { labels }: Grouping): string[] {
  const flat: string[] = [];
  for (const name of labels.toSorted()) {
    const value = work.get(name);
    if (
      value !== undefined &&
      name !== errorLabel &&
      name !== errorDetailsLabel &&
      flat.at(-2) !== name
    ) {
      flat.push(name, value);
    }
  }
  return flat;
}

/**
 * Returns the error for lines that could not be parsed, as numbers over them would be wrong; the
 * query decides what to do with such lines.
 */
function pipelineError(labels: Labels): QueryError {
  const kind = labelValue(labels, errorLabel);
  const pairs: string[] = [];
  for (let i = 0; i < labels.length; i += 2) {
    pairs.push(`${labels[i]!}=${quote(labels[i + 1]!)}`);
  }
  return queryError(
    'bad_data',
    `pipeline error: '${kind}' for series: '{${pairs.join(', ')}}'.\n` +
      `Use a label filter to intentionally skip this error. (e.g | __error__!="${kind}").\n` +
      'To skip all potential errors you can match empty errors.(e.g __error__="")\n' +
      'The label filter can also be specified after unwrap. (e.g | unwrap latency | __error__="" )\n',
  );
}
