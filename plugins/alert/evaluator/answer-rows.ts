import type { InstantAnswer, LabelRecord } from '../../metricsdb/contract.ts';
import type { Rule } from '../rule.ts';
import type { Row } from './instance.ts';

/** Series of one answer as rows by dedupe key. */
export interface AnswerRows {
  readonly rows: ReadonlyMap<string, Row>;
  readonly series: number;
  /** Series that name no device although the rule is about devices. */
  readonly unscoped: number;
}

type Series = { readonly labels: LabelRecord; readonly value: number };

/** More series than this of one answer are not looked at. */
export const mostSeries = 20_000;

/** What an answer says of each scope. Where several series are about one, the one furthest beyond the threshold stands for them. */
export function answerRows(answer: InstantAnswer, rule: Rule, threshold: number | undefined): AnswerRows {
  const rows = new Map<string, Row>();
  let series = 0;
  let unscoped = 0;
  for (const { labels, value } of seriesOf(answer)) {
    series += 1;
    const row = series > mostSeries ? undefined : rowOf(labels, value, rule);
    if (row === undefined) {
      unscoped += 1;
      continue;
    }
    const known = rows.get(row.key);
    if (known === undefined || isWorse(row.value, known.value, threshold)) {
      rows.set(row.key, row);
    }
  }
  return { rows, series, unscoped };
}

function* seriesOf(answer: InstantAnswer): Generator<Series> {
  switch (answer.type) {
    case 'vector':
      for (const [at, labels] of answer.labels.entries()) {
        yield { labels, value: answer.values[at]! };
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

function rowOf(labels: LabelRecord, value: number, rule: Rule): Row | undefined {
  const scopeId = scopeOf(labels, rule);
  if (scopeId === undefined) {
    return undefined;
  }
  const parts = rule.dimensions.map((name) => `:${name}=${labels[name] ?? ''}`);
  return {
    key: `${rule.rule_key}:${rule.scope_type}:${scopeId}${parts.join('')}`,
    scopeId,
    deviceId: labels['device_id'] || null,
    labels,
    value,
  };
}

function scopeOf(labels: LabelRecord, { scope_type: type }: Rule): string | undefined {
  switch (type) {
    case 'host':
      return labels['device_id'] || undefined;
    case 'monitoring_pipeline':
      return labels['pipeline'] || 'pipeline';
    case 'global':
      return 'global';
  }
}

/** Away from the threshold, on whichever side of it they are. */
function isWorse(value: number, than: number, threshold: number | undefined): boolean {
  return threshold !== undefined && than < threshold ? value < than : value > than;
}
