/** The engine: text in, series out. It reads through a `SeriesSource` and touches nothing else. */
export { type Expr, selectorsOf, type ValueType, type VectorSelector } from './ast.ts';
export {
  type EngineOptions,
  instant,
  type InstantResult,
  type InstantSample,
  range,
  type RangeResult,
  type RangeSeries,
} from './engine.ts';
export { valueTypeOf } from './functions.ts';
export { groupingLabelsOf } from './grouping-labels.ts';
export { parse } from './parser.ts';
export { print } from './print.ts';
export type { SelectHints, Series, SeriesSource } from './source.ts';
export { isLabelName } from './go-text.ts';
