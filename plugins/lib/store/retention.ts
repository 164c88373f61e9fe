import type { BlockRow } from './block-table.ts';
import type { Catalogue } from './catalogue.ts';

export interface RetentionLimits {
  readonly maxAgeMs: number;
  readonly maxBytes: number;
}

type Aged = Pick<BlockRow, 'id' | 'maxt' | 'bytes'>;

/** The ids of the blocks that must go, oldest first. The newest stays whatever the limits say: they may be wrong. */
export function overdue(blocks: readonly Aged[], { maxAgeMs, maxBytes }: RetentionLimits, now: number): number[] {
  const oldestFirst = [...blocks].sort((a, b) => a.maxt - b.maxt || a.id - b.id);
  let bytes = blocks.reduce((sum, block) => sum + block.bytes, 0);
  const ids: number[] = [];
  for (const block of oldestFirst.slice(0, -1)) {
    if (block.maxt >= now - maxAgeMs && bytes <= maxBytes) {
      break;
    }
    ids.push(block.id);
    bytes -= block.bytes;
  }
  return ids;
}

/** Removes what is overdue; `also` runs in the same transaction. Answers the rows that are gone. */
export function retain(catalogue: Catalogue, limits: RetentionLimits, now: number, also?: (ids: readonly number[]) => void): readonly BlockRow[] {
  const ids = overdue(catalogue.blocks.list(), limits, now);
  return ids.length === 0 ? [] : catalogue.blocks.remove(ids, () => also?.(ids));
}
