import { overdue, type BlockRow } from 'svc/store';

import { type MetricsLimits } from './limits.ts';
import { thinnedOf } from './rollup.ts';

const dayMs = 24 * 3_600_000;

/** Ids of blocks that have to go by age or by bytes. What was loaded from long ago stays a day, so that it can be looked at. */
export function expired(rows: readonly BlockRow[], { maxAgeMs, maxBytes }: Pick<MetricsLimits, 'maxAgeMs' | 'maxBytes'>, now: number): number[] {
  const aged = rows.map((row) => ({ ...row, maxt: Math.max(row.maxt, writtenAt(row) - maxAgeMs + dayMs) }));
  const ids = overdue(aged, { maxAgeMs, maxBytes }, now);
  return [...new Set([...ids, ...thinnedOf(rows, new Set(ids)).map(({ id }) => id)])];
}

function writtenAt({ meta }: BlockRow): number {
  const { written } = JSON.parse(meta) as { readonly written?: unknown };
  return typeof written === 'number' ? written : -Infinity;
}
