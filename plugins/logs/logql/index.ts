export { detectedLevel, withServiceName } from './discovery.ts';
export {
  instant,
  type InstantQuery,
  type InstantResult,
  type LineQuery,
  lines,
  type LinesQuery,
  type LinesResult,
  range,
  type RangeQuery,
  type RangeResult,
  tailer,
} from './engine.ts';
export { type FoundLine, type LabelsBeside, streamsOf } from './page.ts';
export { check, parse, type QueryType, typeOf } from './parse.ts';
export type { LogBatch, LogEntry, LogSource, Nanos, SelectOptions } from './lines/source.ts';
export type { Expr } from './syntax/ast.ts';
export { layOut } from './syntax/layout.ts';
export { printExpr } from './syntax/print.ts';
