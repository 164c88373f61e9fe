import type { Binary, Call, Expr, Matching } from './ast.ts';
import { valueTypeOf } from './signatures.ts';

/**
 * The labels that aggregations, or the matching of two sides, leave the series of an expression; undefined where the series
 * have whatever labels they have. The name of the metric does not count.
 */
export function groupingLabelsOf(expr: Expr): readonly string[] | undefined {
  switch (expr.node) {
    case 'number':
    case 'string':
      return [];
    case 'selector':
    case 'matrix':
      return undefined;
    case 'paren':
    case 'unary':
    case 'subquery':
      return groupingLabelsOf(expr.expr);
    case 'aggregation': {
      const inner = groupingLabelsOf(expr.expr);
      if (['topk', 'bottomk', 'limitk', 'limit_ratio'].includes(expr.op)) {
        return inner;
      }
      const made =
        expr.op === 'count_values' && expr.param?.node === 'string' ? [expr.param.value] : [];
      return expr.without
        ? inner?.filter((label) => !expr.grouping.includes(label))
        : plainLabels([...expr.grouping, ...made]);
    }
    case 'call':
      return ofCall(expr);
    case 'binary':
      return ofBinary(expr);
  }
}

function ofCall({ func, args }: Call): readonly string[] | undefined {
  switch (func) {
    case 'vector':
    case 'scalar':
    case 'time':
    case 'absent':
    case 'absent_over_time':
      return [];
    case 'label_replace':
    case 'label_join': {
      const [of, target] = args;
      const labels = of && groupingLabelsOf(of);
      return target?.node === 'string'
        ? labels && plainLabels([...labels, target.value])
        : undefined;
    }
    case 'histogram_quantile':
      return args[1] && groupingLabelsOf(args[1])?.filter((label) => label !== 'le');
    default: {
      const of = args.find(({ node }) => node !== 'number' && node !== 'string');
      return of === undefined ? [] : groupingLabelsOf(of);
    }
  }
}

function ofBinary({ op, left, right, matching }: Binary): readonly string[] | undefined {
  const [onLeft, onRight] = [groupingLabelsOf(left), groupingLabelsOf(right)];
  if (valueTypeOf(left) === 'scalar' || valueTypeOf(right) === 'scalar') {
    return valueTypeOf(left) === 'scalar' ? onRight : onLeft;
  }
  if (op === 'or') {
    return onLeft && onRight && plainLabels([...onLeft, ...onRight]);
  }
  if (op === 'and' || op === 'unless') {
    return onLeft;
  }
  return ofMatching(matching, onLeft, onRight);
}

function ofMatching(
  { card, on, labels, include }: Matching,
  left: readonly string[] | undefined,
  right: readonly string[] | undefined,
) {
  if (card === 'one-to-one') {
    return on ? plainLabels(labels) : (left ?? right)?.filter((label) => !labels.includes(label));
  }
  const many = card === 'one-to-many' ? right : left;
  return many && plainLabels([...many, ...include]);
}

const plainLabels = (labels: readonly string[]): readonly string[] =>
  [...new Set(labels)].filter((label) => label !== '__name__');
