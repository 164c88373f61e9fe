/** Expressions that must have the same value whenever they are evaluated: every selector is pinned to one time. */
import { type Expr, parse, print } from '../../../../plugins/metricsdb/promql/index.ts';

const timeBound = new Set(
  'days_in_month day_of_month day_of_week day_of_year end hour minute month year predict_linear range start step time timestamp'.split(
    ' ',
  ),
);

/** Undefined when a function in it tells the time. */
export function pinned(query: string, time: number): string | undefined {
  const expr = parse(query);
  // What is inside a pinned subquery is pinned with it.
  return tellsTime(expr) ? undefined : print(pin(expr, time));
}

function tellsTime(expr: Expr): boolean {
  return (expr.node === 'call' && timeBound.has(expr.func)) || partsOf(expr).some(tellsTime);
}

function partsOf(expr: Expr): readonly Expr[] {
  switch (expr.node) {
    case 'call':
      return expr.args;
    case 'aggregation':
      return expr.param === undefined ? [expr.expr] : [expr.param, expr.expr];
    case 'binary':
      return [expr.left, expr.right];
    case 'subquery':
    case 'unary':
    case 'paren':
      return [expr.expr];
    default:
      return [];
  }
}

function pin(expr: Expr, time: number): Expr {
  return mapExpr(
    expr,
    (one) => {
      if (one.node === 'matrix') {
        return { ...one, selector: { ...one.selector, at: one.selector.at ?? time } };
      }
      return one.node === 'selector' || one.node === 'subquery'
        ? { ...one, at: one.at ?? time }
        : one;
    },
    false,
  );
}

/** Changes each part of an expression from the inside out; what is inside subqueries only if asked to. */
export function mapExpr(expr: Expr, change: (expr: Expr) => Expr, intoSubqueries = true): Expr {
  const map = (part: Expr): Expr => mapExpr(part, change, intoSubqueries);
  switch (expr.node) {
    case 'subquery':
      return change(intoSubqueries ? { ...expr, expr: map(expr.expr) } : expr);
    case 'call':
      return change({ ...expr, args: expr.args.map(map) });
    case 'aggregation':
      return change({
        ...expr,
        expr: map(expr.expr),
        ...(expr.param !== undefined && { param: map(expr.param) }),
      });
    case 'binary':
      return change({ ...expr, left: map(expr.left), right: map(expr.right) });
    case 'unary':
    case 'paren':
      return change({ ...expr, expr: map(expr.expr) });
    default:
      return change(expr);
  }
}
