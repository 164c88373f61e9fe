import { isSelector, withoutComments } from '../rule/expression.ts';

/** Step of subqueries over anything but a plain selector. */
const step = '30s';

/** `up[5m]`, or `(rate(x[1m]))[5m:30s]`. */
export const overWindow = (expression: string, window: string, offset = ''): string =>
  `${isSelector(expression) ? selectorOf(expression) : `(${clean(expression)})`}[${window}${isSelector(expression) ? '' : `:${step}`}]${offset}`;

/** Returns an expression that is safe next to operators. */
export const operand = (expression: string): string =>
  isSelector(expression) ? selectorOf(expression) : `(${clean(expression)})`;

const selectorOf = (expression: string): string => clean(expression);

/** Removes comments, which would swallow whatever is appended. */
export const clean = (expression: string): string => withoutComments(expression).trim();
