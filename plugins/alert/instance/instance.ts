import type { NativeHistogram } from 'svc/native-histogram';

import type { Plan } from '../rule/rule.ts';

type Words = Readonly<Record<string, string>>;

/** A series of a condition that breaches. */
export interface Row {
  /** Key of its instance. */
  readonly key: string;
  /** The dedupe key of its incident. */
  readonly group: string;
  readonly scopeId: string;
  readonly deviceId: string | null;
  /** Labels of the series without its name, overlaid with those of the rule. */
  readonly labels: Words;
  /** Labels of the series as the store answered them. */
  readonly series: Words;
  readonly value: number;
  /** Histogram that replaces the value in templates; only series of rule tests have one. */
  readonly histogram?: NativeHistogram;
  /** Forecast only: seconds until its bound is reached. */
  readonly eta?: number;
}

/**
 * Latest reading of an instance. Changes with each evaluation; stored with the next change of
 * state, and periodically.
 */
export interface Reading {
  /** Null: no number. */
  value: number | null;
  worst: number | null;
  /** The slot that found it last, by the wall. */
  seenAt: number;
}

/**
 * One label set for which the condition of a rule is not simply clear. partial: some, not all, of the conditions that must
 * come together. held: resolved by a user while it lasted. Times are steady.
 */
export interface Instance extends Pick<Row, 'key' | 'group' | 'scopeId' | 'deviceId' | 'labels'> {
  readonly phase: 'partial' | 'pending' | 'firing' | 'held';
  /** Start of the unbroken breach of each condition. */
  readonly legs: readonly (number | null)[];
  /** Start of its phase, with the slot (wall time) that caused it. */
  readonly since: number;
  readonly startedAt: number;
  /** The first evaluation that found it clear, as long as that does not end it. */
  readonly clearedAt: number | null;
  /** True if channels have been notified that it fires. */
  readonly notified: boolean;
  readonly reading: Reading;
}

/** Transition of one instance by one evaluation. */
export interface Move {
  readonly key: string;
  readonly known: Instance | undefined;
  /** Undefined: clear, nothing to remember. */
  readonly next: Instance | undefined;
  readonly did: 'fire' | 'clear' | undefined;
}

export interface Evaluation {
  readonly plan: Plan;
  /** Steady time of the slot, and the same by the wall. */
  readonly at: number;
  readonly slot: number;
  /** True if the last successful evaluation is recent enough for this one to continue from it. */
  readonly continuous: boolean;
  /**
   * Part of the time since then in which nothing was evaluated, which does not count; default 0.
   */
  readonly pausedMs?: number;
  /** Rows by key, for each condition. */
  readonly rows: readonly ReadonlyMap<string, Row>[];
  /** Keys that may be clear or gone without a word; default: none. */
  readonly unknown?: Pick<ReadonlySet<string>, 'has'>;
  /** Duration for which a manual resolve holds against a condition that never clears. */
  readonly holdMs: number;
}

/** The next state of one instance; the same object when nothing has changed but its reading. */
export function advance(key: string, known: Instance | undefined, evaluation: Evaluation): Move {
  const { plan, at, slot, continuous, rows, pausedMs = 0 } = evaluation;
  const present = plan.legs.map((_leg, index) => rows[index]!.has(key));
  const joined = plan.join === 'all' ? present.every(Boolean) : present.includes(true);
  if (known !== undefined) {
    read(known.reading, key, evaluation);
  }
  if (known?.phase === 'firing' || known?.phase === 'held') {
    if (joined) {
      return lasting(known, evaluation);
    }
    return evaluation.unknown?.has(key) === true
      ? { key, known, next: known, did: undefined }
      : clearing(known, evaluation);
  }
  const legs = present.map((is, index) => {
    const since = continuous ? known?.legs[index] : undefined;
    return is ? (typeof since === 'number' ? since + pausedMs : at) : null;
  });
  const sustained = plan.legs.map(
    ({ forMs }, index) => legs[index] !== null && at - legs[index]! >= forMs,
  );
  if (joined && (plan.join === 'all' ? sustained.every(Boolean) : sustained.includes(true))) {
    return {
      key,
      known,
      next: {
        ...(known ?? fresh(key, evaluation)),
        phase: 'firing',
        legs,
        since: at,
        startedAt: slot,
      },
      did: 'fire',
    };
  }
  // A condition that has to last is worth remembering before the others come to it.
  const worth = joined || plan.legs.some(({ forMs }, index) => forMs > 0 && present[index]);
  if (!worth) {
    return { key, known, next: undefined, did: undefined };
  }
  const phase = joined ? 'pending' : 'partial';
  const same = known?.phase === phase && legs.every((since, index) => since === known.legs[index]);
  const begun =
    known?.phase === phase && continuous
      ? { since: known.since, startedAt: known.startedAt }
      : { since: at, startedAt: slot };
  return {
    key,
    known,
    next: same ? known : { ...(known ?? fresh(key, evaluation)), phase, legs, ...begun },
    did: undefined,
  };
}

/** Returns since when its condition is met, in whatever phase it is. */
export const activeSince = ({ legs, since }: Pick<Instance, 'legs' | 'since'>): number =>
  legs.reduce<number>((first, leg) => Math.min(first, leg ?? first), since);

/** Returns whether it fires and the last evaluation found its condition met. */
export const isBurning = ({ phase, clearedAt }: Pick<Instance, 'phase' | 'clearedAt'>): boolean =>
  phase === 'firing' && clearedAt === null;

function fresh(
  key: string,
  evaluation: Evaluation,
): Omit<Instance, 'phase' | 'legs' | 'since' | 'startedAt'> {
  const { group, scopeId, deviceId, labels } = evaluation.rows
    .find((found) => found.has(key))!
    .get(key)!;
  const reading: Reading = { value: null, worst: null, seenAt: evaluation.slot };
  read(reading, key, evaluation);
  return { key, group, scopeId, deviceId, labels, clearedAt: null, notified: false, reading };
}

/** Reads the value, which is that of the first condition. */
function read(reading: Reading, key: string, { plan, rows, slot }: Evaluation): void {
  const leg = rows.findIndex((found) => found.has(key));
  if (leg >= 0) {
    const { value } = rows[leg]!.get(key)!;
    reading.value = Number.isFinite(value) ? value : null;
    reading.worst = worseOf(reading.worst, reading.value, plan.legs[leg]!.threshold);
    reading.seenAt = slot;
  }
}

/** Away from the threshold, on whichever side of it they are. */
export function isWorse(value: number, than: number, threshold: number | undefined): boolean {
  return threshold !== undefined && than < threshold ? value < than : value > than;
}

export const worseOf = (
  a: number | null,
  b: number | null,
  threshold: number | undefined,
): number | null => (a === null || b === null ? (a ?? b) : isWorse(b, a, threshold) ? b : a);

function lasting(known: Instance, { at, slot, holdMs }: Evaluation): Move {
  const { key } = known;
  const next = known.clearedAt === null ? known : { ...known, clearedAt: null };
  if (known.phase === 'held' && at - known.since >= holdMs) {
    return {
      key,
      known,
      next: { ...next, phase: 'firing', since: at, startedAt: slot, notified: false },
      did: 'fire',
    };
  }
  return { key, known, next, did: undefined };
}

/**
 * Returns whether it is clear: in two consecutive evaluations, a full cycle apart; or for as long
 * as the rule keeps it firing.
 */
function clearing(known: Instance, { plan, at, continuous }: Evaluation): Move {
  const { key, clearedAt } = known;
  const isClear =
    plan.keepMs === undefined
      ? clearedAt !== null && continuous && at > clearedAt
      : at - (clearedAt ?? at) >= plan.keepMs;
  if (isClear) {
    return { key, known, next: undefined, did: known.phase === 'firing' ? 'clear' : undefined };
  }
  const since = plan.keepMs === undefined ? at : (clearedAt ?? at);
  return {
    key,
    known,
    next: clearedAt === since ? known : { ...known, clearedAt: since },
    did: undefined,
  };
}
