import { HistogramSum, meanOf, type NativeHistogram, type ResetHint } from 'svc/native-histogram';

import type { NativeNotes } from './notes.ts';

/** Sum or mean of histograms; undefined where their buckets do not go together. */
export function foldHistograms(
  histograms: readonly NativeHistogram[],
  mean: boolean,
  name: string,
  notes: NativeNotes,
): NativeHistogram | undefined {
  const found = mean ? meanOf(histograms) : sumOf(histograms);
  if (found === undefined) {
    notes.mixedSchemas(name);
    return undefined;
  }
  const seen = (hint: ResetHint): boolean => histograms.some((one) => one.hint === hint);
  if (seen('reset') && seen('not_reset')) {
    notes.collided('aggregation');
  }
  if (found.reconciled) {
    notes.reconciled('aggregation');
  }
  return found.value;
}

function sumOf([first, ...rest]: readonly NativeHistogram[]):
  | { readonly value: NativeHistogram; readonly reconciled: boolean }
  | undefined {
  const sum = new HistogramSum(first!);
  return rest.every((one) => sum.add(one))
    ? { value: sum.value(), reconciled: sum.reconciled }
    : undefined;
}
