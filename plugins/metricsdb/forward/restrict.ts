import { type Matcher, queryError } from 'svc/query';

import { type Expr, parse, print } from '../promql/index.ts';

/** The query with these matchers in each of its selectors, for a back end that knows nothing of who asks. */
export function restricted(query: string, also: readonly Matcher[]): string {
  return also.length === 0 ? query : print(withMatchers(parse(query), also));
}

function withMatchers(expr: Expr, also: readonly Matcher[]): Expr {
  const inside = (part: Expr): Expr => withMatchers(part, also);
  switch (expr.node) {
    case 'number':
    case 'string':
      return expr;
    case 'selector':
      return { ...expr, matchers: [...expr.matchers, ...also] };
    case 'matrix':
      return { ...expr, selector: { ...expr.selector, matchers: [...expr.selector.matchers, ...also] } };
    case 'call':
      if (expr.func === 'info') {
        // It reads series that no selector of the text names.
        throw queryError('bad_data', 'info() is not answered by a remote store for whoever may see only a part of the series');
      }
      return { ...expr, args: expr.args.map(inside) };
    case 'aggregation':
      return { ...expr, expr: inside(expr.expr), ...(expr.param !== undefined && { param: inside(expr.param) }) };
    case 'binary':
      return { ...expr, left: inside(expr.left), right: inside(expr.right) };
    case 'subquery':
    case 'unary':
    case 'paren':
      return { ...expr, expr: inside(expr.expr) };
  }
}
