import type { BlockRow } from 'svc/store';

import { rawLevel, sliceOf } from './block-layout.ts';

/** Metadata of a block beyond its columns. */
export interface BlockMeta {
  readonly series?: number;
  /** Slices that contain samples, of a full block: pairs of first and last. */
  readonly spans?: readonly number[];
  /** Name of the full block that a thinned one was made of; of earlier versions its id. */
  readonly of?: string | number;
  readonly written?: number;
}

export const metaOf = ({ meta }: Pick<BlockRow, 'meta'>): BlockMeta =>
  JSON.parse(meta) as BlockMeta;

export const spansOf = (row: BlockRow): readonly number[] =>
  metaOf(row).spans ?? [sliceOf(row.mint), sliceOf(row.maxt)];

/** Returns whether a block was thinned out of the other. */
export const isThinnedOf = (thin: BlockRow, whole: BlockRow): boolean => {
  const { of } = metaOf(thin);
  return thin.level !== rawLevel && (of === whole.file || of === whole.id);
};

/** Returns the block that a thinned one was made of. */
export const wholeOf = (rows: readonly BlockRow[], thin: BlockRow): BlockRow | undefined =>
  rows.find((row) => isThinnedOf(thin, row));

/** Neighbouring slices as pairs of first and last. */
export function spansOfSlices(slices: readonly number[]): number[] {
  const spans: number[] = [];
  for (const slice of slices) {
    if (spans.at(-1) === slice - 1) {
      spans[spans.length - 1] = slice;
    } else {
      spans.push(slice, slice);
    }
  }
  return spans;
}
