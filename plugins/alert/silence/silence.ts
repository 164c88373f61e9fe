import type { Mutable } from '../gates/review.ts';
import type { LabelMatcher } from './label-matcher.ts';

/** A mute by label, or a maintenance window. */
export interface Silence {
  readonly id: number;
  readonly matchers: readonly LabelMatcher[];
  readonly starts_at: number;
  readonly ends_at: number;
  readonly recurrence: Recurrence | null;
  readonly reason: string;
  readonly created_by: string;
  readonly created_at: number;
  readonly updated_at: number;
}

/** Between start and end of the silence, only at these hours. All times are UTC. */
export interface Recurrence {
  /** Empty: every day. */
  readonly days: readonly Weekday[];
  /** Minutes after midnight. */
  readonly start_minute: number;
  readonly duration_ms: number;
}

export const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
export type Weekday = (typeof weekdays)[number];

export type SilenceState = 'pending' | 'active' | 'expired';

const dayMs = 86_400_000;
/** The first of January 1970 was a Thursday. */
const firstWeekday = 4;

/** Whether it mutes at this moment. */
export function isInForce({ starts_at: starts, ends_at: ends, recurrence }: Pick<Silence, 'starts_at' | 'ends_at' | 'recurrence'>, now: number): boolean {
  return now >= starts && now < ends && (recurrence === null || isWithin(recurrence, now));
}

/** A window may have begun on an earlier day and reach into this one. */
function isWithin({ days, start_minute: minute, duration_ms: duration }: Recurrence, now: number): boolean {
  const today = Math.floor(now / dayMs);
  for (let day = today; day * dayMs > now - duration - dayMs; day--) {
    const begins = day * dayMs + minute * 60_000;
    const weekday = weekdays[(((day + firstWeekday) % 7) + 7) % 7]!;
    if (now >= begins && now < begins + duration && (days.length === 0 || days.includes(weekday))) {
      return true;
    }
  }
  return false;
}

export const stateOf = ({ starts_at: starts, ends_at: ends }: Silence, now: number): SilenceState =>
  now >= ends ? 'expired' : now < starts ? 'pending' : 'active';

/** What matchers see of an instance besides its labels, which cannot stand in for these. */
const facts: Readonly<Record<string, (one: Mutable) => string>> = {
  rule: ({ rule_key: key }) => key,
  severity: ({ severity }) => severity,
  scope_type: ({ scope_type: type }) => type,
  scope_id: ({ scope_id: id }) => id,
  device_id: ({ device_id: device, labels }) => device ?? labels['device_id'] ?? '',
};

export const factNames: readonly string[] = Object.keys(facts);

export const mutes = ({ matchers }: Pick<Silence, 'matchers'>, one: Mutable): boolean =>
  matchers.every(({ name, matches }) => matches(Object.hasOwn(facts, name) ? facts[name]!(one) : Object.hasOwn(one.labels, name) ? one.labels[name]! : ''));
