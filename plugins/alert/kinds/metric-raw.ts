import { canonicalMetrics } from 'svc/contracts/edge';
import { parseDuration } from 'svc/query';

import type { ConditionFields } from '../rule/condition-fields.ts';
import { comparisonOf } from '../rule/expression.ts';
import type { Leg } from '../rule/rule.ts';
import { by, type Condition, day, type Frame, groupingOf, type Kind } from './kind.ts';

/** A PromQL expression: each series that it answers breaches. */
export const metricRaw: Kind = {
  read(fields) {
    const condition = { expr: fields.text('expr'), ...fields.lasting() };
    fields.refuseOthers();
    return condition;
  },
  queryTexts: ({ expr }) => [
    { field: 'expr', text: String(expr), language: 'promql', wants: 'number' },
  ],
  leg: ({ expr, for: lasting }) => expressionLeg('metrics', String(expr), lasting),
};

export function expressionLeg(
  store: Leg['store'],
  query: string,
  lasting: string | number | undefined,
): Leg {
  const comparison = comparisonOf(query);
  return {
    store,
    query,
    ...(comparison !== undefined && {
      measure: comparison.measure,
      threshold: comparison.threshold,
    }),
    forMs: lasting === undefined ? 0 : parseDuration(String(lasting)),
  };
}

const aggregated = /^(?:(?:avg|max|min)(?:_over_time| by \([^)]*\) )\()?(\w+)/;
const figures: ReadonlySet<string> = new Set(canonicalMetrics);

/**
 * Returns whether a query is over one figure that a host measures of itself, as `compileThreshold`
 * makes it.
 */
export const ofOneHost = (query: string): boolean => figures.has(aggregated.exec(query)?.[1] ?? '');

const operators = ['>', '>=', '<', '<=', '=='] as const;
const aggregators = ['avg', 'max', 'min'] as const;

/**
 * Compiles form fields into the condition of a metric_raw rule. With a window the aggregator is
 * applied over time (the average, unless one is named); without one it is applied over the series
 * of one scope, such as the disks of a host.
 */
export function compileThreshold(fields: ConditionFields, frame: Frame): Condition {
  const metric = fields.choice('metric', canonicalMetrics);
  const operator = fields.choice('operator', operators);
  const threshold = fields.number('threshold');
  const window = fields.has('window') ? fields.span('window', { maxMs: 30 * day }).text : undefined;
  const aggregator = fields.has('aggregator')
    ? fields.choice('aggregator', aggregators)
    : undefined;
  const lasting = fields.lasting();
  fields.refuseOthers();
  const measure =
    window !== undefined
      ? `${aggregator ?? 'avg'}_over_time(${metric}[${window}])`
      : aggregator !== undefined
        ? `${aggregator}${by(groupingOf(frame))} (${metric})`
        : metric;
  return { expr: `${measure} ${operator} ${threshold}`, ...lasting };
}
