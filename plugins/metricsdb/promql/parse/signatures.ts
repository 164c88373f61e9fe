import { childrenOf, type Expr, type ValueType } from './ast.ts';

export interface Signature {
  readonly args: readonly ValueType[];
  /** Number of trailing arguments that may be omitted or added: 0 none, -1 any number. */
  readonly variadic: number;
  readonly returns: ValueType;
}

const v = 'vector';
const m = 'matrix';
const s = 'scalar';
const t = 'string';

const signature = (
  args: readonly ValueType[],
  returns: ValueType = v,
  variadic = 0,
): Signature => ({ args, variadic, returns });

function every(names: string, shape: Signature): [string, Signature][] {
  return names.split(' ').map((name) => [name, shape]);
}

export const functions: ReadonlyMap<string, Signature> = new Map([
  ...every(
    'abs absent ceil floor exp sqrt ln log2 log10 sgn deg rad timestamp sort sort_desc',
    signature([v]),
  ),
  ...every('sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh', signature([v])),
  ...every(
    'year month day_of_month day_of_week day_of_year days_in_month hour minute',
    signature([v], v, 1),
  ),
  ...every('rate increase delta irate idelta deriv changes resets', signature([m])),
  ...every(
    'avg_over_time sum_over_time min_over_time max_over_time count_over_time stddev_over_time stdvar_over_time mad_over_time',
    signature([m]),
  ),
  ...every('last_over_time first_over_time present_over_time absent_over_time', signature([m])),
  ...every(
    'ts_of_first_over_time ts_of_last_over_time ts_of_max_over_time ts_of_min_over_time',
    signature([m]),
  ),
  ...every('double_exponential_smoothing holt_winters', signature([m, s, s])),
  ...every('clamp_min clamp_max', signature([v, s])),
  ...every('sort_by_label sort_by_label_desc', signature([v, t], v, -1)),
  ...every('max_of min_of', signature([s, s], s)),
  ...every('time pi start end step range', signature([], s)),
  ...every(
    'histogram_avg histogram_count histogram_sum histogram_stddev histogram_stdvar',
    signature([v]),
  ),
  ['quantile_over_time', signature([s, m])],
  ['predict_linear', signature([m, s])],
  ['clamp', signature([v, s, s])],
  ['round', signature([v, s], v, 1)],
  ['scalar', signature([v], s)],
  ['vector', signature([s])],
  ['label_replace', signature([v, t, t, t, t])],
  ['label_join', signature([v, t, t, t], v, -1)],
  ['histogram_quantile', signature([s, v])],
  ['histogram_quantiles', signature([v, t, s, s], v, 9)],
  ['histogram_fraction', signature([s, s, v])],
  ['info', signature([v, v], v, 1)],
]);

/** Functions whose result depends on the time of evaluation even if their arguments do not. */
const timeBound: ReadonlySet<string> = new Set(
  'days_in_month day_of_month day_of_week day_of_year end hour minute month year predict_linear range start step time timestamp'.split(
    ' ',
  ),
);

export function valueTypeOf(expr: Expr): ValueType {
  switch (expr.node) {
    case 'number':
      return 'scalar';
    case 'string':
      return 'string';
    case 'selector':
    case 'aggregation':
      return 'vector';
    case 'matrix':
    case 'subquery':
      return 'matrix';
    case 'call':
      return functions.get(expr.func)!.returns;
    case 'binary':
      return valueTypeOf(expr.left) === 'scalar' && valueTypeOf(expr.right) === 'scalar'
        ? 'scalar'
        : 'vector';
    case 'unary':
    case 'paren':
      return valueTypeOf(expr.expr);
  }
}

/** Returns whether an expression has the same value at every step, so that it is evaluated once. */
export function isStepInvariant(expr: Expr): boolean {
  switch (expr.node) {
    case 'number':
    case 'string':
      return true;
    case 'selector':
    case 'subquery':
      return expr.at !== undefined;
    case 'aggregation':
      return isStepInvariant(expr.expr);
    case 'call':
      return (
        queryConstants.has(expr.func) ||
        (timeBound.has(expr.func) ? isPinnedTimestamp(expr) : expr.args.every(isStepInvariant))
      );
    default:
      return childrenOf(expr).every(isStepInvariant);
  }
}

/** Functions of the query's window, which is constant. */
export const queryConstants: ReadonlySet<string> = new Set(['start', 'end', 'step', 'range']);

function isPinnedTimestamp(expr: {
  readonly func: string;
  readonly args: readonly Expr[];
}): boolean {
  let argument = expr.args[0];
  while (argument?.node === 'paren') {
    argument = argument.expr;
  }
  return expr.func === 'timestamp' && argument?.node === 'selector' && argument.at !== undefined;
}
