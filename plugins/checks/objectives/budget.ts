import type { Objective } from './objective.ts';

const dayMs = 86_400_000;

/** Time that the checks of an objective spent in its window. */
export interface Measured {
  readonly up_ms: number;
  readonly down_ms: number;
}

export interface Budget {
  /** `unmeasured`: nothing is known of its window; `at_risk`: it is spent before the window ends if the last day is repeated. */
  readonly state: 'met' | 'at_risk' | 'spent' | 'unmeasured';
  /** Percent of the measured time in which they were up; null: nothing was measured. */
  readonly uptime: number | null;
  readonly measured_ms: number;
  /** Downtime that the target leaves to a whole window, over all checks together. */
  readonly budget_ms: number;
  readonly spent_ms: number;
  /** Percent of the budget; negative once more than all of it is spent, null while nothing is known. */
  readonly budget_left: number | null;
  /** How many times faster than sustainable the last day has spent it; null: nothing was measured in it. */
  readonly burn_rate: number | null;
}

/** Works out what is left of the downtime that an objective allows. */
export function budgetOf(
  { target, days }: Pick<Objective, 'target' | 'days'>,
  checks: number,
  window: Measured,
  lastDay: Measured,
): Budget {
  const allowed = 1 - target / 100;
  const measured = window.up_ms + window.down_ms;
  const budget = Math.round(allowed * days * dayMs * checks);
  const lastMeasured = lastDay.up_ms + lastDay.down_ms;
  const burn = lastMeasured === 0 ? null : lastDay.down_ms / lastMeasured / allowed;
  const isKnown = measured > 0 && budget > 0;
  return {
    state: !isKnown
      ? 'unmeasured'
      : window.down_ms >= budget
        ? 'spent'
        : burn !== null && burn > 1
          ? 'at_risk'
          : 'met',
    uptime: measured === 0 ? null : (window.up_ms / measured) * 100,
    measured_ms: measured,
    budget_ms: budget,
    spent_ms: window.down_ms,
    budget_left: isKnown ? (1 - window.down_ms / budget) * 100 : null,
    burn_rate: burn,
  };
}
