import type { SvcError } from 'svc/sdk';

import { errors } from './errors.ts';

export type State = 'ok' | 'warning' | 'critical';

/**
 * Threshold: from `value` on a figure is in `state`. Null stands for everything below the next
 * step, which is ok without such a step.
 */
export interface Threshold {
  readonly value: number | null;
  readonly state: State;
  /** CSS color instead of that of the state. */
  readonly color?: string;
}

export function stateOf(value: number, thresholds: readonly Threshold[]): State | undefined {
  if (thresholds.length === 0 || Number.isNaN(value)) {
    return undefined;
  }
  return stepOf(value, thresholds)?.state ?? 'ok';
}

/** Returns the last step that a value reaches. */
export const stepOf = (value: number, thresholds: readonly Threshold[]): Threshold | undefined =>
  thresholds.findLast((step) => step.value === null || value >= step.value);

/** A step that nothing could ever reach would be a mistake that stays unseen. */
export function assertAscending(thresholds: readonly Threshold[]): void {
  thresholds.forEach(({ value }, index) => {
    const before = index === 0 ? undefined : thresholds[index - 1]!.value;
    const path = `/thresholds/${index}/value`;
    if (value === null && index > 0) {
      throw refusal(
        path,
        'only the first threshold may have the value null, which stands for everything below the second',
      );
    }
    if (value !== null && before !== undefined && before !== null && value <= before) {
      throw refusal(path, `thresholds must rise, and ${value} comes after ${before}`);
    }
  });
}

const refusal = (path: string, message: string): SvcError =>
  errors.panel_form({ problem: message }, { details: [{ path, message }] });
