import { type Budget, type Matcher, queryError } from 'svc/query';

import type { CompareStage, MetricsStage, Query, RankStage } from '../parse/ast.ts';
import { printField } from '../parse/print.ts';
import { compileField } from '../search/field.ts';
import { compilePipeline, runOver } from '../search/pipeline.ts';
import { prefilterOf } from '../search/prefilter.ts';
import { isNumeric, keyOf } from '../search/values.ts';
import { sightOf } from '../spans/enforce.ts';
import { SeenSpans } from '../spans/seen-spans.ts';
import type { SpanSource } from '../spans/source.ts';
import type { Attribute, Value } from '../spans/span.ts';
import { TraceView } from '../spans/trace-view.ts';
import { Comparison } from './comparison.ts';
import { type Exemplar, ExemplarPicker, exemplarsOf } from './exemplars.ts';
import { SeriesBound } from './series-bound.ts';
import { bucketLabel, fromZero, histogram, type Slots, slotsFor } from './slots.ts';

export interface MetricsOptions {
  /** Milliseconds. */
  readonly start: number;
  readonly end: number;
  readonly step: number;
  readonly enforce?: readonly Matcher[];
  /** The first slot holds its beginning, too: a question about a window, and not one of many steps. */
  readonly closed?: boolean;
  /** Max spans shown with the numbers, unless the query says otherwise. */
  readonly exemplars?: number;
}

export interface MetricsSeries {
  readonly labels: readonly Attribute[];
  /** Values, one per time; NaN if there is none. */
  readonly values: Float64Array;
  readonly exemplars?: readonly Exemplar[];
}

export interface MetricsResult {
  /** The end of each slot: the sample at t tells about the spans that start in (t - step, t]. */
  readonly times: Float64Array;
  readonly series: readonly MetricsSeries[];
}

const maxPoints = 11_000;

interface Group {
  readonly labels: readonly Attribute[];
  readonly slots: Slots;
  readonly exemplars: Exemplar[];
}

/** The answer of a query with a metrics function. */
export async function metrics(
  source: SpanSource,
  query: Query,
  options: MetricsOptions,
  budget: Budget,
): Promise<MetricsResult> {
  if (query.metrics === undefined) {
    throw queryError('bad_data', 'not a metrics query: add a stage such as | rate()');
  }
  const times = timesOf(options);
  const series =
    query.metrics.function === 'compare'
      ? await compared(source, query, query.metrics, options, times.length, budget)
      : shown(
          await collect(source, query, query.metrics, options, times.length, budget),
          options.step / 1000,
        );
  const sorted = series
    .map((one) => ({
      one,
      key: JSON.stringify(one.labels.map(({ key, value }) => [key, keyOf(value)])),
    }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ one }) => one);
  return {
    times,
    series: query.ranks.reduce(
      (kept, rank) => ranked(kept, rank, times.length),
      sorted as readonly MetricsSeries[],
    ),
  };
}

/** The series of each group, with the exemplars that belong to each. */
function shown(groups: ReadonlyMap<string, Group>, stepSeconds: number): MetricsSeries[] {
  return [...groups.values()].flatMap(({ labels, slots, exemplars }) => {
    const parts = slots.series(stepSeconds);
    const own = parts.map((): Exemplar[] => []);
    for (const exemplar of exemplars) {
      // Of several quantiles or buckets, the first that reaches up to the value.
      const at = parts.findIndex(
        (part) => exemplar.value === undefined || exemplar.value <= reach(part, exemplar.slot),
      );
      const part = at < 0 ? parts.length - 1 : at;
      own[part]!.push(
        exemplar.value === undefined
          ? { ...exemplar, value: parts[part]!.values[exemplar.slot]! }
          : exemplar,
      );
    }
    return parts.map(({ label, values }, at) => ({
      labels: label === undefined ? labels : [...labels, label],
      values,
      ...(own[at]!.length > 0 && { exemplars: own[at]! }),
    }));
  });
}

function reach({ label, values }: ReturnType<Slots['series']>[number], slot: number): number {
  return label === undefined
    ? Infinity
    : label.key === bucketLabel && label.value.type === 'float'
      ? label.value.value
      : values[slot]!;
}

function timesOf({ start, end, step }: MetricsOptions): Float64Array {
  if (!(step > 0)) {
    throw queryError('bad_data', 'the step must be longer than nothing');
  }
  if (!(end >= start)) {
    throw queryError('bad_data', 'the end of the window must not be before its start');
  }
  const count = Math.floor((end - start) / step) + 1;
  if (count > maxPoints) {
    throw queryError(
      'bad_data',
      `${count} points of a series are too many, ${maxPoints} are the limit: ask for a longer step`,
    );
  }
  return Float64Array.from({ length: count }, (_, index) => start + index * step);
}

/** Visits each span that the query selects, once, with the slot of its start. */
async function eachSpan(
  source: SpanSource,
  query: Query,
  { start, end, step, closed = false, enforce = [] }: MetricsOptions,
  count: number,
  budget: Budget,
  visit: (view: TraceView, index: number, slot: number) => void,
): Promise<void> {
  const run = compilePipeline(query.stages);
  const sight = sightOf(enforce);
  const filter = prefilterOf(query);
  const prefilter = { spans: sight.narrow(filter.spans), partial: filter.partial };
  const seen = new SeenSpans((bytes) => budget.bytes(bytes));
  for await (const { traces, share } of source.traces(
    { startMs: start - step, endMs: end },
    prefilter,
    budget,
  )) {
    for (const trace of traces) {
      const visible = sight.visible(trace);
      if (visible === undefined) {
        continue;
      }
      budget.spend(visible.spans.length);
      const view = new TraceView(visible);
      for (const { members } of runOver(view, run)) {
        for (const index of members) {
          const at = (view.spans[index]!.startMs - start) / step;
          const slot = closed && at === -1 ? 0 : Math.ceil(at);
          // Whole traces have each span once already.
          if (
            slot >= 0 &&
            slot < count &&
            (!prefilter.partial || seen.add(view.traceId, view.spans[index]!))
          ) {
            visit(view, index, slot);
          }
        }
      }
      const pause = budget.breathe();
      if (pause !== undefined) {
        await pause;
      }
    }
    budget.progress(share);
  }
}

async function compared(
  source: SpanSource,
  query: Query,
  stage: CompareStage,
  options: MetricsOptions,
  count: number,
  budget: Budget,
): Promise<MetricsSeries[]> {
  const comparison = new Comparison(
    stage,
    count,
    new SeriesBound(count, (bytes) => budget.bytes(bytes)),
  );
  await eachSpan(source, query, options, count, budget, (view, index, slot) =>
    comparison.add(view, index, slot),
  );
  return comparison.series();
}

async function collect(
  source: SpanSource,
  query: Query,
  stage: MetricsStage,
  options: MetricsOptions,
  count: number,
  budget: Budget,
): Promise<Map<string, Group>> {
  const columns = stage.by.map((field) => ({
    key: printField(field),
    evaluate: compileField(field),
  }));
  const measure = stage.field === undefined ? undefined : compileField(stage.field);
  const groups = new Map<string, Group>();
  const full = query.ranks.length === 0 && fromZero.has(stage.function);
  const makeSlots = slotsFor(
    stage,
    count,
    new SeriesBound(count, (bytes) => budget.bytes(bytes), { full }),
  );
  const picker = new ExemplarPicker(exemplarsOf(query.hints, options.exemplars));

  function groupOf(view: TraceView, index: number): Group {
    const values = columns.map(({ evaluate }) => evaluate(view, index));
    const key = values.length === 1 ? keyOf(values[0]) : JSON.stringify(values.map(keyOf));
    let group = groups.get(key);
    if (group === undefined) {
      groups.set(
        key,
        (group = { labels: labelsOf(stage, columns, values), slots: makeSlots(), exemplars: [] }),
      );
    }
    return group;
  }

  await eachSpan(source, query, options, count, budget, (view, index, slot) => {
    const value = measure?.(view, index);
    if (measure !== undefined && (value === undefined || !isNumeric(value))) {
      return;
    }
    const group = groupOf(view, index);
    group.slots.add(slot, numberOf(value), value?.type === 'duration' ? value.value : undefined);
    const exemplar = picker.pick(
      view,
      index,
      slot,
      value === undefined ? undefined : numberOf(value),
    );
    if (exemplar !== undefined) {
      group.exemplars.push(exemplar);
    }
  });
  return groups;
}

/** Durations count in seconds. */
const numberOf = (value: Value | undefined): number =>
  value === undefined || !isNumeric(value)
    ? 1
    : value.type === 'duration'
      ? value.value / 1e9
      : value.value;

function labelsOf(
  stage: MetricsStage,
  columns: readonly { readonly key: string }[],
  values: readonly (Value | undefined)[],
): readonly Attribute[] {
  if (columns.length === 0) {
    return stage.function === 'quantile_over_time' || stage.function === histogram
      ? []
      : [{ key: '__name__', value: { type: 'string', value: stage.function } }];
  }
  return columns.map(({ key }, at) => ({
    key,
    value: values[at] ?? { type: 'string', value: 'nil' },
  }));
}

/** Keeps series that are among the largest or smallest few at any time. */
function ranked(
  series: readonly MetricsSeries[],
  { function: name, count }: RankStage,
  length: number,
): readonly MetricsSeries[] {
  const kept = series.map((one) => ({ ...one, values: new Float64Array(length).fill(NaN) }));
  const direction = name === 'topk' ? -1 : 1;
  for (let slot = 0; slot < length; slot++) {
    const order = [...series.keys()].filter((index) => !Number.isNaN(series[index]!.values[slot]!));
    order.sort(
      (a, b) => direction * (series[a]!.values[slot]! - series[b]!.values[slot]!) || a - b,
    );
    for (const index of order.slice(0, count)) {
      kept[index]!.values[slot] = series[index]!.values[slot]!;
    }
  }
  return kept.filter(({ values }) => values.some((value) => !Number.isNaN(value)));
}
