import {
  combined,
  type NativeHistogram,
  over,
  sameHistogram,
  times,
  trimmed,
} from 'svc/native-histogram';

import { isTrim } from '../parse/token.ts';
import type { RowBuilder } from '../vector/rows.ts';
import type { NativeNotes } from './notes.ts';

/** Result of an operator on two samples. */
export interface Outcome {
  readonly value: NativeHistogram;
  /** True if the comparison holds. */
  readonly holds: boolean;
}

export type Operand = number | NativeHistogram;

/**
 * Applies an operator to samples of which at least one is a histogram; undefined if it is not
 * defined for them.
 */
export function operateNatively(
  op: string,
  left: Operand,
  right: Operand,
  notes: NativeNotes,
): Outcome | undefined {
  const found =
    typeof left === 'number'
      ? typeof right === 'number' || op !== '*'
        ? undefined
        : { value: times(right, left), holds: true }
      : typeof right === 'number'
        ? withNumber(op, left, right)
        : withHistogram(op, left, right, notes);
  if (found === undefined) {
    const [a, b] = [left, right].map((one) =>
      typeof one === 'number' ? 'float' : 'histogram',
    ) as [string, string];
    notes.incompatibleTypes(op, a, b);
  }
  return found === null ? undefined : found;
}

/**
 * Stores a result: with `bool` a comparison yields its truth value, otherwise the left side where
 * it holds.
 */
export function putOutcome(
  builder: RowBuilder,
  step: number,
  found: Outcome | undefined,
  bool: boolean,
): void {
  if (found === undefined || !(bool || found.holds)) {
    return;
  }
  builder.putSample(step, bool ? Number(found.holds) : found.value);
}

function withNumber(op: string, histogram: NativeHistogram, number: number): Outcome | undefined {
  if (op === '*') {
    return { value: times(histogram, number), holds: true };
  }
  if (op === '/') {
    return { value: over(histogram, number), holds: true };
  }
  return isTrim(op) ? { value: trimmed(histogram, number, op === '</'), holds: true } : undefined;
}

/** Null where their buckets do not go together. */
function withHistogram(
  op: string,
  left: NativeHistogram,
  right: NativeHistogram,
  notes: NativeNotes,
): Outcome | undefined | null {
  if (op === '==' || op === '!=') {
    return { value: left, holds: sameHistogram(left, right) === (op === '==') };
  }
  if (op !== '+' && op !== '-') {
    return undefined;
  }
  const found = combined(left, right, op === '+' ? 1 : -1);
  if (found === undefined) {
    notes.incompatibleLayouts(op);
    return null;
  }
  const during = op === '+' ? 'addition' : 'subtraction';
  if (found.collided) {
    notes.collided(during);
  } else if (found.reconciled) {
    notes.reconciled(during);
  }
  return { value: op === '+' ? found.value : { ...found.value, hint: 'gauge' }, holds: true };
}
