import { messageOf } from 'svc/sdk';
import { compileRegex } from 'svc/query';

import { labelFilter } from './pipeline/label-filter.ts';
import { pipelineOf } from './pipeline/pipeline.ts';
import type { Expr, LogExpr } from './syntax/ast.ts';
import { Cursor } from './syntax/cursor.ts';
import { parseAny } from './syntax/metric-parser.ts';
import { parseError } from './syntax/parse-error.ts';
import { printExpr } from './syntax/print.ts';
import { checkSelector } from './syntax/rules.ts';
import { matchersOf } from './syntax/selector.ts';

/** The query as a tree in which everything is checked; throws a parse error in Loki's words. */
export function parse(query: string): Expr {
  const cursor = new Cursor(query);
  const expr = parseAny(cursor);
  cursor.expect('$end');
  checkExpr(expr);
  return expr;
}

function checkExpr(expr: Expr): void {
  switch (expr.kind) {
    case 'log':
      return checkLog(expr);
    case 'range':
      expr.unwrap?.filters.forEach((filter) => refused(() => labelFilter(filter)));
      return checkLog(expr.log);
    case 'aggregation':
      return checkExpr(expr.inner);
    case 'label_replace':
      refused(() => compileRegex(expr.regex, { anchored: true }));
      return checkExpr(expr.inner);
    case 'binary':
      checkExpr(expr.left);
      return checkExpr(expr.right);
    case 'number':
    case 'vector':
  }
}

function checkLog({ matchers, stages }: LogExpr): void {
  const compiled = matchersOf(matchers);
  checkSelector(matchers, (index) => compiled[index]!.matches(''));
  pipelineOf(stages, { now: () => 0 });
}

function refused(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    throw parseError(messageOf(error));
  }
}

export type QueryType = 'lines' | 'vector' | 'scalar';

export function typeOf(expr: Expr): QueryType {
  switch (expr.kind) {
    case 'log':
      return 'lines';
    case 'number':
      return 'scalar';
    case 'binary':
      return typeOf(expr.left) === 'scalar' && typeOf(expr.right) === 'scalar'
        ? 'scalar'
        : 'vector';
    default:
      return 'vector';
  }
}

/** Returns the type of a query's answer, and the query in canonical form. */
export function check(query: string): { readonly type: QueryType; readonly printed: string } {
  const expr = parse(query);
  return { type: typeOf(expr), printed: printExpr(expr) };
}
