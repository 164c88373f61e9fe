import {
  childrenOf,
  type Aggregation,
  type Binary,
  type Call,
  type Expr,
  type ValueType,
  type VectorSelector,
} from './ast.ts';
import { quoted } from './go-text.ts';
import { parseError } from './position.ts';
import { functions, valueTypeOf } from './signatures.ts';
import { comparisonOperators, isTrim, setOperators } from './token.ts';

const documented: Readonly<Record<ValueType, string>> = {
  scalar: 'scalar',
  string: 'string',
  vector: 'instant vector',
  matrix: 'range vector',
};

type Complain = (position: number, reason: string) => never;

/** Checks that every operator and function gets operands of valid types. */
export function checkTypes(query: string, expr: Expr): void {
  const complain: Complain = (position, reason) => {
    throw parseError(query, position, reason);
  };
  check(query, expr, complain);
}

function check(query: string, expr: Expr, complain: Complain): ValueType {
  switch (expr.node) {
    case 'aggregation':
      checkAggregation(query, expr, complain);
      break;
    case 'binary':
      checkBinary(query, expr, complain);
      break;
    case 'call':
      checkCall(query, expr, complain);
      break;
    case 'selector':
      checkSelector(expr, complain);
      break;
    case 'unary': {
      const type = check(query, expr.expr, complain);
      if (type !== 'scalar' && type !== 'vector') {
        complain(
          expr.start,
          `unary expression only allowed on expressions of type scalar or instant vector, got ${quoted(documented[type])}`,
        );
      }
      break;
    }
    case 'subquery': {
      const type = check(query, expr.expr, complain);
      if (type !== 'vector') {
        complain(expr.start, `subquery is only allowed on instant vector, got ${type} instead`);
      }
      break;
    }
    default:
      childrenOf(expr).forEach((child) => check(query, child, complain));
  }
  return valueTypeOf(expr);
}

function expectType(
  query: string,
  expr: Expr,
  wanted: ValueType,
  context: string,
  complain: Complain,
): void {
  const type = check(query, expr, complain);
  if (type !== wanted) {
    complain(
      expr.start,
      `expected type ${documented[wanted]} in ${context}, got ${documented[type]}`,
    );
  }
}

function checkAggregation(
  query: string,
  { op, expr, param }: Aggregation,
  complain: Complain,
): void {
  expectType(query, expr, 'vector', 'aggregation expression', complain);
  if (param !== undefined) {
    expectType(
      query,
      param,
      op === 'count_values' ? 'string' : 'scalar',
      'aggregation parameter',
      complain,
    );
  }
}

function checkBinary(query: string, expr: Binary, complain: Complain): void {
  const { op, left, right, bool, matching } = expr;
  const leftType = check(query, left, complain);
  const rightType = check(query, right, complain);
  const operator = query.slice(left.end).search(/\S/) + left.end;
  const comparison = comparisonOperators.has(op);
  const setOperator = setOperators.has(op);

  if (bool && !comparison) {
    complain(operator, 'bool modifier can only be used on comparison operators');
  }
  if (comparison && !bool && leftType === 'scalar' && rightType === 'scalar') {
    complain(operator, 'comparisons between scalars must use BOOL modifier');
  }
  if (isTrim(op) && leftType === 'scalar' && rightType === 'scalar') {
    complain(operator, `the operator ${op} cuts native histograms, not scalars`);
  }
  const twice = matching.on
    ? matching.labels.find((label) => matching.include.includes(label))
    : undefined;
  if (twice !== undefined) {
    complain(operator, `label ${quoted(twice)} must not occur in ON and GROUP clause at once`);
  }
  for (const [side, type] of [
    [left, leftType],
    [right, rightType],
  ] as const) {
    if (type !== 'scalar' && type !== 'vector') {
      complain(side.start, 'binary expression must contain only scalar and instant vector types');
    }
  }
  const filled = matching.fillLeft !== undefined || matching.fillRight !== undefined;
  if (leftType !== 'vector' || rightType !== 'vector') {
    if (matching.labels.length > 0) {
      complain(expr.start, 'vector matching only allowed between instant vectors');
    }
    if (filled) {
      complain(expr.start, 'filling in missing series only allowed between instant vectors');
    }
  } else if (setOperator) {
    if (matching.card === 'one-to-many' || matching.card === 'many-to-one') {
      complain(expr.start, `no grouping allowed for ${quoted(op)} operation`);
    }
    if (filled) {
      complain(expr.start, 'filling in missing series not allowed for set operators');
    }
  }
  if (setOperator && (leftType === 'scalar' || rightType === 'scalar')) {
    complain(expr.start, `set operator ${quoted(op)} not allowed in binary scalar expression`);
  }
}

function checkCall(query: string, call: Call, complain: Complain): void {
  const { func, args } = call;
  const { args: types, variadic } = functions.get(func)!;
  if (variadic === 0 && types.length !== args.length) {
    complain(
      call.start,
      `expected ${types.length} argument(s) in call to ${quoted(func)}, got ${args.length}`,
    );
  }
  const least = types.length - 1;
  if (variadic !== 0 && args.length < least) {
    complain(
      call.start,
      `expected at least ${least} argument(s) in call to ${quoted(func)}, got ${args.length}`,
    );
  }
  if (variadic > 0 && args.length > least + variadic) {
    complain(
      call.start,
      `expected at most ${least + variadic} argument(s) in call to ${quoted(func)}, got ${args.length}`,
    );
  }
  if (func === 'info' && args.length > 1) {
    const [, labels] = args as [Expr, Expr];
    if (valueTypeOf(labels) !== 'vector') {
      complain(
        call.start,
        `expected type instant vector in call to function "info", got ${documented[valueTypeOf(labels)]}`,
      );
    }
    if (labels.node !== 'selector' || labels.name !== '') {
      complain(
        labels.start,
        labels.node === 'selector'
          ? 'expected label selectors only, got vector selector instead'
          : 'expected label selectors only',
      );
    }
  }
  args.forEach((arg, index) => {
    if (func === 'info' && index === 1) {
      return;
    }
    expectType(
      query,
      arg,
      types[Math.min(index, types.length - 1)]!,
      `call to function ${quoted(func)}`,
      complain,
    );
  });
}

function checkSelector({ name, matchers, start }: VectorSelector, complain: Complain): void {
  if (name !== '') {
    const other = matchers.slice(0, -1).find((matcher) => matcher.name === '__name__');
    if (other !== undefined) {
      complain(
        start,
        `metric name must not be set twice: ${quoted(name)} or ${quoted(other.value)}`,
      );
    }
    return;
  }
  if (!matchers.some((matcher) => !matcher.matches(''))) {
    complain(start, 'vector selector must contain at least one non-empty matcher');
  }
}
