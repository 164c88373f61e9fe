/** The engine: text in, series out. It reads through a `SeriesSource` and touches nothing else. */
export { type Expr, selectorsOf, type ValueType, type VectorSelector } from './parse/ast.ts';
export {
  type EngineOptions,
  instant,
  type InstantResult,
  type InstantSample,
  range,
  type RangeResult,
  type RangeSeries,
} from './engine.ts';
export { valueTypeOf } from './parse/signatures.ts';
export { groupingLabelsOf } from './parse/grouping-labels.ts';
export { parse } from './parse/parser.ts';
export { print } from './parse/print.ts';
export type { SelectHints, Series, SeriesSource } from './vector/source.ts';
export { isLabelName } from './parse/go-text.ts';
