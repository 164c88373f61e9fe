import { type Labels, labelsKey } from 'svc/query';

import { generalFloat } from '../parse/go-text.ts';
import { executionError } from '../parse/position.ts';
import { compareNumbers } from '../vector/arithmetic.ts';
import { charge, indexAt, RowBuilder } from '../vector/rows.ts';
import { type Grid, pace, type Row, type Run } from '../vector/run.ts';
import type { Group } from './grouping.ts';

/** Aggregations whose result is some of their input: topk, bottomk, limitk, limit_ratio. */
export async function chooseRows(
  run: Run,
  op: string,
  groups: readonly Group[],
  grid: Grid,
  scalars: Float64Array,
  position: number,
  inputs: number,
): Promise<readonly Row[]> {
  if (op === 'limit_ratio') {
    return limitRatio(run, groups, grid, scalars, position);
  }
  if (!hasWork(scalars)) {
    return [];
  }
  const result: Row[] = [];
  for (const group of groups) {
    if (grid.count === 1) {
      const k = Math.min(Math.trunc(scalars[0]!), inputs);
      result.push(...pick(op, group.rows, 0, k).map((index) => group.rows[index]!));
      charge(run, k);
    } else {
      result.push(...(await chooseSteps(run, op, group, grid, scalars)));
    }
  }
  return result;
}

function hasWork(k: Float64Array): boolean {
  if (k.some(Number.isNaN)) {
    throw executionError('Parameter value is NaN');
  }
  const most = k.reduce((a, b) => Math.max(a, b));
  const least = k.reduce((a, b) => Math.min(a, b));
  if (most < 1) {
    return false;
  }
  if (least <= -(2 ** 63)) {
    throw executionError(`Scalar value ${generalFloat(least)} underflows int64`);
  }
  if (most >= 2 ** 63) {
    throw executionError(`Scalar value ${generalFloat(most)} overflows int64`);
  }
  return true;
}

async function chooseSteps(
  run: Run,
  op: string,
  { rows }: Group,
  grid: Grid,
  scalars: Float64Array,
): Promise<Row[]> {
  run.budget.bytes(rows.length * grid.count);
  const paced = pace(run);
  /** Which values of a row are chosen; of most rows none is. */
  const kept = new Map<number, Uint8Array>();
  for (let step = 0; step < grid.count; step++) {
    const k = Math.trunc(scalars[step]!);
    for (const index of k < 1 ? [] : pick(op, rows, step, k)) {
      let chosen = kept.get(index);
      if (chosen === undefined) {
        chosen = new Uint8Array(rows[index]!.values.length);
        kept.set(index, chosen);
      }
      chosen[step - rows[index]!.from] = 1;
    }
    const pause = paced(rows.length);
    if (pause !== undefined) {
      await pause;
    }
  }
  const builder = new RowBuilder(run, grid);
  return rows.flatMap((row, index) => {
    kept.get(index)?.forEach((keep, i) => {
      if (keep === 1) {
        builder.copy(row.from + i, row, i);
      }
    });
    return builder.take(row.labels, row.dropName) ?? [];
  });
}

/** Positions of the rows that are chosen at a step, best first. NaN comes last; among equals the first stays. */
function pick(op: string, rows: readonly Row[], step: number, k: number): number[] {
  const sign = op === 'topk' ? -1 : 1;
  if (op !== 'limitk' && k <= few) {
    return pickFew(rows, step, k, sign);
  }
  const candidates: number[] = [];
  for (let i = 0; i < rows.length; i++) {
    if (indexAt(rows[i]!, step) !== -1) {
      candidates.push(i);
      if (op === 'limitk' && candidates.length === k) {
        break;
      }
    }
  }
  if (op === 'limitk') {
    return candidates;
  }
  const valueOf = (index: number): number => rows[index]!.values[step - rows[index]!.from]!;
  return candidates.sort((a, b) => compareNumbers(valueOf(a), valueOf(b), sign)).slice(0, k);
}

/** Number up to which inserting each candidate in order is faster than sorting all of them. */
const few = 50;

function pickFew(rows: readonly Row[], step: number, k: number, sign: number): number[] {
  const best: number[] = [];
  const values: number[] = [];
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    const index = indexAt(row, step);
    if (index === -1) {
      continue;
    }
    const value = row.values[index]!;
    let place = best.length;
    while (place > 0 && compareNumbers(value, values[place - 1]!, sign) < 0) {
      place--;
    }
    if (place < k) {
      best.splice(place, 0, i);
      values.splice(place, 0, value);
      if (best.length > k) {
        best.pop();
        values.pop();
      }
    }
  }
  return best;
}

/** Which share of the series is kept hangs on their labels alone, so that ratios r and r-1 never overlap. */
function limitRatio(
  run: Run,
  groups: readonly Group[],
  grid: Grid,
  scalars: Float64Array,
  position: number,
): readonly Row[] {
  if (scalars.every((ratio) => ratio === 0)) {
    return [];
  }
  if (scalars.some(Number.isNaN)) {
    throw executionError('Ratio value is NaN');
  }
  noteRatios(run, scalars, position);
  const builder = new RowBuilder(run, grid);
  return groups.flatMap(({ rows }) =>
    rows.flatMap((row) => {
      const share = shareOf(row.labels);
      for (let step = row.from; step < row.from + row.values.length; step++) {
        const ratio = Math.max(-1, Math.min(1, scalars[step]!));
        const index = indexAt(row, step);
        if (index !== -1 && (ratio >= 0 ? share < ratio : share >= 1 + ratio)) {
          builder.copy(step, row, index);
        }
      }
      return builder.take(row.labels, row.dropName) ?? [];
    }),
  );
}

function noteRatios(run: Run, scalars: Float64Array, position: number): void {
  const most = scalars.reduce((a, b) => Math.max(a, b));
  const least = scalars.reduce((a, b) => Math.min(a, b));
  if (most > 1) {
    run.notes.warn(
      position,
      `ratio value should be between -1 and 1, got ${generalFloat(most)}, capping to 1`,
    );
  }
  if (least < -1) {
    run.notes.warn(
      position,
      `ratio value should be between -1 and 1, got ${generalFloat(least)}, capping to -1`,
    );
  }
}

/** Returns an evenly spread hash in [0, 1): FNV-1a with a final mix. */
function shareOf(labels: Labels): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(labelsKey(labels))) {
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
