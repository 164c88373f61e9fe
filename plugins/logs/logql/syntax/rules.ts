import type { MatcherText, RangeExpr, RangeOp, VectorOp } from './ast.ts';
import { parseError } from './parse-error.ts';

const grouped: ReadonlySet<RangeOp> = new Set([
  'avg_over_time',
  'stddev_over_time',
  'stdvar_over_time',
  'quantile_over_time',
  'max_over_time',
  'min_over_time',
  'first_over_time',
  'last_over_time',
]);
const unwrapped: ReadonlySet<RangeOp> = new Set([
  ...grouped,
  'sum_over_time',
  'rate',
  'rate_counter',
  'absent_over_time',
]);
const counted: ReadonlySet<RangeOp> = new Set([
  'count_over_time',
  'rate',
  'bytes_over_time',
  'bytes_rate',
  'absent_over_time',
]);

/** Checks what the grammar allows and the operation does not. */
export function checkRange({
  op,
  parameter,
  grouping,
  unwrap,
}: Pick<RangeExpr, 'op' | 'parameter' | 'grouping' | 'unwrap'>): void {
  if (op === 'quantile_over_time' && parameter === undefined) {
    throw parseError(`parameter required for operation ${op}`);
  }
  if (op !== 'quantile_over_time' && parameter !== undefined) {
    throw parseError(`parameter ${parameter} not supported for operation ${op}`);
  }
  if (grouping !== undefined && !grouped.has(op)) {
    throw parseError(`grouping not allowed for ${op} aggregation`);
  }
  if (unwrap !== undefined && !unwrapped.has(op)) {
    throw parseError(`invalid aggregation ${op} with unwrap`);
  }
  if (unwrap === undefined && !counted.has(op)) {
    throw parseError(`invalid aggregation ${op} without unwrap`);
  }
}

const ranked: ReadonlySet<VectorOp> = new Set(['topk', 'bottomk', 'approx_topk']);

export function checkAggregation({
  op,
  parameter,
  grouping,
}: {
  readonly op: VectorOp;
  readonly parameter?: number;
  readonly grouping?: object;
}): void {
  if (!ranked.has(op) && parameter !== undefined) {
    throw parseError(`unsupported parameter for operation ${op}(${parameter},`);
  }
  if (ranked.has(op)) {
    if (parameter === undefined) {
      throw parseError(`parameter required for operation ${op}`);
    }
    if (!Number.isInteger(parameter)) {
      throw parseError(`invalid parameter ${op}(${parameter},`);
    }
    if (parameter <= 0) {
      throw parseError(`invalid parameter (must be greater than 0) ${op}(${parameter}`);
    }
  }
  if ((op === 'sort' || op === 'sort_desc' || op === 'approx_topk') && grouping !== undefined) {
    throw parseError(`grouping not allowed for ${op} aggregation`);
  }
}

/**
 * Throws unless a query selects streams: by at least one condition that a stream without the label
 * does not meet.
 */
export function checkSelector(
  matchers: readonly MatcherText[],
  matchesEmpty: (index: number) => boolean,
): void {
  if (!matchers.some(({ op }, index) => (op === '=' || op === '=~') && !matchesEmpty(index))) {
    throw parseError(
      'queries require at least one regexp or equality matcher that does not have an empty-compatible value. ' +
        'For instance, app=~".*" does not meet this requirement, but app=~".+" will',
    );
  }
}
