export * from './arithmetic.ts';
export { boundOf, bucketsOf, histogramText } from './buckets.ts';
export * from './histogram-sum.ts';
export {
  customSchema,
  isCustom,
  type NativeHistogram,
  type ResetHint,
  sameHistogram,
} from './histogram.ts';
export { reduced } from './layout.ts';
export { faultOf, printHistogram, readHistogram } from './notation.ts';
export * from './reset.ts';
export * from './series.ts';
export * from './statistics.ts';
export * from './trim.ts';
