import { parseDuration } from 'svc/query';

import type { Plan, Rule } from '../rule/rule.ts';
import type { Condition } from './kind.ts';
import { kinds } from './kinds.ts';

/** Rule fields that determine how it is evaluated. */
export type Planned = Pick<
  Rule,
  | 'kind'
  | 'join_mode'
  | 'scope_type'
  | 'dimensions'
  | 'interval_seconds'
  | 'conditions'
  | 'keep_firing_for'
>;

export const usualIntervalMs = 30_000;

/** Returns the plan; `usualMs` is the interval of rules that set none. */
export function planOf(rule: Planned, usualMs = usualIntervalMs): Plan {
  const intervalMs = intervalOf(rule, usualMs);
  return {
    join: rule.join_mode,
    legs: rule.conditions.map((condition) =>
      kinds[rule.kind].leg(condition as Condition, rule, { intervalMs }),
    ),
    ...(rule.keep_firing_for !== '' && { keepMs: parseDuration(rule.keep_firing_for) }),
  };
}

export const intervalOf = (
  { interval_seconds: seconds }: Pick<Rule, 'interval_seconds'>,
  usualMs: number,
): number => (seconds > 0 ? seconds * 1_000 : usualMs);
