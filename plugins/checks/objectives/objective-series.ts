import type { SampleRow } from 'svc/contracts/metricsdb';

import type { Check } from '../check/check.ts';
import type { Budget } from './budget.ts';
import { membersOf, type Objective } from './objective.ts';

/** Returns the target of an objective, and whether each of its checks is up: none of one whose time does not count now. */
export const objectiveRows = (
  objective: Objective,
  checks: readonly Check[],
  counts: (check: Check) => boolean,
  time: number,
): readonly SampleRow[] => {
  const labels = { objective: objective.name };
  return [
    {
      labels: { __name__: 'svc_objective_target_ratio', ...labels },
      time,
      value: objective.target / 100,
    },
    ...membersOf(objective, checks).map((check) => ({
      labels: { __name__: 'svc_objective_up', ...labels, check: check.name },
      time,
      value: check.state === 'up' ? 1 : 0,
      // The series ends until the time counts again.
      ...(!counts(check) && { stale: true }),
    })),
  ];
};

/** Returns the share of the budget that is left. */
export const budgetRows = (
  { name }: Objective,
  { budget_left: left }: Budget,
  time: number,
): readonly SampleRow[] => [
  {
    labels: { __name__: 'svc_objective_budget_left_ratio', objective: name },
    time,
    value: (left ?? 0) / 100,
    ...(left === null && { stale: true }),
  },
];
