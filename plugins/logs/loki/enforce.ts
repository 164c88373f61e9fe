import type { Enforced } from '../../metricsdb/contract.ts';
import { type Expr, parse, printExpr } from '../logql/index.ts';

/** The query with what the asker may see in every selector; a selector of its own where there is no query. */
export function enforcedQuery(query: string, enforce: readonly Enforced[]): string {
  if (query === '') {
    return printExpr({ kind: 'log', matchers: enforce, stages: [] });
  }
  return printExpr(enforced(parse(query), enforce));
}

function enforced<E extends Expr>(expr: E, enforce: readonly Enforced[]): E {
  switch (expr.kind) {
    case 'log':
      return { ...expr, matchers: [...expr.matchers, ...enforce] };
    case 'range':
      return { ...expr, log: enforced(expr.log, enforce) };
    case 'aggregation':
    case 'label_replace':
      return { ...expr, inner: enforced(expr.inner, enforce) };
    case 'binary':
      return { ...expr, left: enforced(expr.left, enforce), right: enforced(expr.right, enforce) };
    case 'number':
    case 'vector':
      return expr;
  }
}
