import type { InstantAnswer, LabelRecord } from 'svc/contracts/metricsdb';
import { atOnce, stepwise } from 'svc/flow';

import type { Sample } from '../queries/sample.ts';
import { labelKey } from '../rule/label-key.ts';
import type { Plan, Rule } from '../rule/rule.ts';
import type { RenderLabels } from '../template/rendering.ts';
import { errors } from './errors.ts';
import { isWorse, type Row } from './instance.ts';

/** Series of one answer as rows by the key of their instance. */
export interface AnswerRows {
  readonly rows: ReadonlyMap<string, Row>;
  readonly series: number;
  /** Series that name no device although the rule is about devices. */
  readonly unscoped: number;
  /** Series that are the same alert as another one once the labels of the rule are put on. */
  readonly doubles: number;
  /** Series beyond those that are looked at. */
  readonly leftOut: number;
}

/** Context in which the answers to a rule are read. */
export interface AnswerFrame {
  readonly rule: Rule;
  readonly plan: Plan;
  readonly labelsOf: RenderLabels;
}

type Series = Pick<Sample, 'labels' | 'value' | 'histogram'>;

/** Max series of one answer that are examined. */
export const maxSeries = 20_000;

/**
 * Returns the rows of an answer, one per label set. Conditions joined by `all` share only the
 * labels of the key: there the series furthest beyond the threshold represents its key.
 */
export const answerRows = (...asked: Parameters<typeof reading>): AnswerRows =>
  atOnce(reading(...asked));

/** The same in small steps, of an answer that may be long. */
export const answerRowsInTurns = (...asked: Parameters<typeof reading>): Promise<AnswerRows> =>
  stepwise(reading(...asked));

function* reading(
  answer: InstantAnswer,
  frame: AnswerFrame,
  threshold: number | undefined,
): Generator<void, AnswerRows> {
  const rows = new Map<string, Row>();
  const counts = { series: 0, unscoped: 0, doubles: 0, leftOut: 0 };
  const folds = isFolded(frame.plan);
  for (const found of seriesOf(answer)) {
    yield;
    counts.series += 1;
    if (counts.series > maxSeries) {
      counts.leftOut += 1;
      continue;
    }
    const row = rowOf(found, frame, folds);
    if (row === undefined) {
      counts.unscoped += 1;
      continue;
    }
    const known = rows.get(row.key);
    counts.doubles += known === undefined || folds ? 0 : 1;
    if (known === undefined || isWorse(row.value, known.value, threshold)) {
      rows.set(row.key, row);
    }
  }
  return { rows, ...counts };
}

export const isFolded = ({ join, legs }: Plan): boolean => join === 'all' && legs.length > 1;

/** Returns the error of a rule with more alerts than its limit, which are then not trusted. */
export function excessOf({ limit }: Rule, found: readonly AnswerRows[]): Error | undefined {
  const count = limit === 0 ? 0 : new Set(found.flatMap(({ rows }) => [...rows.keys()])).size;
  return count > limit ? errors.rule_limit({ count, max: limit }) : undefined;
}

function* seriesOf(answer: InstantAnswer): Generator<Series> {
  switch (answer.type) {
    case 'vector':
      for (const [at, labels] of answer.labels.entries()) {
        const histogram = answer.histograms?.[at];
        yield { labels, value: answer.values[at]!, ...(histogram && { histogram }) };
      }
      return;
    case 'scalar':
      // A scalar cannot be empty: as a condition it is met unless it is zero.
      if (answer.value !== 0 && !Number.isNaN(answer.value)) {
        yield { labels: {}, value: answer.value };
      }
      return;
    case 'matrix':
    case 'string':
  }
}

function rowOf(
  { labels, value, histogram }: Series,
  { rule, labelsOf }: AnswerFrame,
  folds: boolean,
): Row | undefined {
  const scopeId = scopeOf(labels, rule);
  if (scopeId === undefined) {
    return undefined;
  }
  const parts = rule.dimensions.map((name) => `:${name}=${labels[name] ?? ''}`);
  const group = `${rule.rule_key}:${rule.scope_type}:${scopeId}${parts.join('')}`;
  const { own, all } = labelsOf(rule, labels, value, histogram);
  const key = folds ? group : `${group}|${labelKey(own)}`;
  return {
    key,
    group,
    scopeId,
    deviceId: labels['device_id'] || null,
    labels: all,
    series: labels,
    value,
    ...(histogram && { histogram }),
  };
}

function scopeOf(
  labels: LabelRecord,
  { scope_type: type }: Pick<Rule, 'scope_type'>,
): string | undefined {
  switch (type) {
    case 'host':
      return labels['device_id'] || undefined;
    case 'monitoring_pipeline':
      return labels['pipeline'] || 'pipeline';
    case 'global':
      return 'global';
  }
}
