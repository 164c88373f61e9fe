import { canonicalMetrics } from 'svc/probe';

import type { ConditionFields } from '../condition-fields.ts';
import { by, day, type Condition, type Frame, groupingOf } from './kind.ts';

const operators = ['>', '>=', '<', '<=', '=='] as const;
const aggregators = ['avg', 'max', 'min'] as const;

/**
 * What the form sends, as the condition of a metric_raw rule. With a window the aggregator is taken over time (the average,
 * unless one is named); without one it is taken over the series of one scope, such as the disks of a host.
 */
export function compileThreshold(fields: ConditionFields, frame: Frame): Condition {
  const metric = fields.choice('metric', canonicalMetrics);
  const operator = fields.choice('operator', operators);
  const threshold = fields.number('threshold');
  const window = fields.has('window') ? fields.span('window', { mostMs: 30 * day }).text : undefined;
  const aggregator = fields.has('aggregator') ? fields.choice('aggregator', aggregators) : undefined;
  const lasting = fields.lasting();
  fields.end();
  const measure =
    window !== undefined
      ? `${aggregator ?? 'avg'}_over_time(${metric}[${window}])`
      : aggregator !== undefined
        ? `${aggregator}${by(groupingOf(frame))} (${metric})`
        : metric;
  return { expr: `${measure} ${operator} ${threshold}`, ...lasting };
}
