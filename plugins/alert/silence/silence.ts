import type { Mutable } from '../incident/gates/review.ts';
import type { LabelMatcher } from './label-matcher.ts';
import { isWithin, type Recurrence, type TimeSpan, windowsIn } from './recurrence.ts';

/** A mute by label, or a maintenance window. */
export interface Silence {
  readonly id: number;
  /** Null: nobody has given it one. */
  readonly name: string | null;
  readonly matchers: readonly LabelMatcher[];
  /** The devices of those who made it and see some alone: it mutes nothing else. Null: whatever matches. */
  readonly devices: ReadonlySet<string> | null;
  readonly starts_at: number;
  readonly ends_at: number;
  readonly recurrence: Recurrence | null;
  readonly reason: string;
  readonly created_by: string;
  readonly updated_by: string;
  readonly created_at: number;
  readonly updated_at: number;
}

export type SilenceState = 'pending' | 'active' | 'expired';

/** Returns whether the silence mutes at this moment. */
export function isInForce(
  {
    starts_at: starts,
    ends_at: ends,
    recurrence,
  }: Pick<Silence, 'starts_at' | 'ends_at' | 'recurrence'>,
  now: number,
): boolean {
  return now >= starts && now < ends && (recurrence === null || isWithin(recurrence, now));
}

/** Yields the stretches in which the silence mutes within a span of time, cut at its own ends. */
export function* spansOf(
  {
    starts_at: starts,
    ends_at: ends,
    recurrence,
  }: Pick<Silence, 'starts_at' | 'ends_at' | 'recurrence'>,
  { from, to }: TimeSpan,
): Generator<TimeSpan> {
  const whole = { from: Math.max(from, starts), to: Math.min(to, ends) };
  if (whole.from < whole.to) {
    for (const window of recurrence === null ? [whole] : windowsIn(recurrence, whole)) {
      yield { from: Math.max(window.from, starts), to: Math.min(window.to, ends) };
    }
  }
}

export const stateOf = ({ starts_at: starts, ends_at: ends }: Silence, now: number): SilenceState =>
  now >= ends ? 'expired' : now < starts ? 'pending' : 'active';

/** What matchers look at. */
export type Selectable = Pick<Mutable, 'labels' | 'device_id'> &
  Readonly<Record<'rule_key' | 'severity' | 'scope_type' | 'scope_id', string>>;

/** Built-in facts of an instance that matchers see; labels cannot override them. */
const facts: Readonly<Record<string, (one: Selectable) => string>> = {
  rule: ({ rule_key: key }) => key,
  rule_key: ({ rule_key: key }) => key,
  severity: ({ severity }) => severity,
  scope_type: ({ scope_type: type }) => type,
  scope_id: ({ scope_id: id }) => id,
  device_id: ({ device_id: device, labels }) => device ?? labels['device_id'] ?? '',
};

/** Returns the labels of an instance, with the built-in facts that matchers see. */
export const labelsSeenBy = (one: Mutable): Readonly<Record<string, string>> => ({
  ...one.labels,
  ...Object.fromEntries(
    Object.entries(facts)
      .filter(([name]) => name !== 'rule_key')
      .map(([name, read]) => [name, read(one)]),
  ),
});

export const mutes = (
  { matchers, devices }: Pick<Silence, 'matchers' | 'devices'>,
  one: Selectable,
): boolean =>
  (devices === null || (one.device_id !== null && devices.has(one.device_id))) &&
  matchers.every(({ name, matches }) =>
    matches(
      Object.hasOwn(facts, name)
        ? facts[name]!(one)
        : Object.hasOwn(one.labels, name)
          ? one.labels[name]!
          : '',
    ),
  );
