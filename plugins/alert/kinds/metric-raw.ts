import { parseDuration } from 'svc/query';

import { comparisonOf } from '../expression.ts';
import type { Leg } from '../rule.ts';
import type { Kind } from './kind.ts';

/** A PromQL expression: each series that it answers breaches. */
export const metricRaw: Kind = {
  read(fields) {
    const condition = { expr: fields.text('expr'), ...fields.lasting() };
    fields.end();
    return condition;
  },
  written: ({ expr }) => [{ field: 'expr', text: String(expr), language: 'promql', wants: 'number' }],
  leg: ({ expr, for: lasting }) => expressionLeg('metrics', String(expr), lasting),
};

export function expressionLeg(store: Leg['store'], query: string, lasting: string | number | undefined): Leg {
  const comparison = comparisonOf(query);
  return {
    store,
    query,
    ...(comparison !== undefined && { measure: comparison.measure, threshold: comparison.threshold }),
    forMs: lasting === undefined ? 0 : parseDuration(String(lasting)),
  };
}
