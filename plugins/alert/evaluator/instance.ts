import type { Plan } from '../rule.ts';

/** A series of a condition that breaches. */
export interface Row {
  readonly key: string;
  readonly scopeId: string;
  readonly deviceId: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** Of a forecast: seconds until its bound is reached. */
  readonly eta?: number;
}

/**
 * Where the condition of one dedupe key stands. partial: some, not all, of the conditions that must come together.
 * held: resolved by a user while it lasted. Times are steady.
 */
export interface Instance {
  readonly key: string;
  readonly phase: 'partial' | 'pending' | 'firing' | 'held';
  /** Since when each condition breaches without a break. */
  readonly legs: readonly (number | null)[];
  /** Since when it is in its phase. */
  readonly since: number;
  /** The first evaluation that found it clear, until another finds the same. */
  readonly clearedAt: number | null;
}

/** What one evaluation makes of one key. */
export interface Move {
  readonly key: string;
  /** Undefined: clear, nothing to remember. */
  readonly next: Instance | undefined;
  readonly did: 'fire' | 'clear' | 'last' | undefined;
}

export interface Evaluation {
  readonly plan: Plan;
  /** Steady time of the slot. */
  readonly at: number;
  /** Whether the last evaluation that succeeded is so near that this one goes on from it. */
  readonly continuous: boolean;
  /** How much of the time since then nothing was evaluated: it counts for nothing; default: none. */
  readonly pausedMs?: number;
  /** Rows by key, for each condition. */
  readonly rows: readonly ReadonlyMap<string, Row>[];
  /** Keys that may be clear or gone without a word; default: none. */
  readonly unknown?: ReadonlySet<string>;
  /** How long a manual resolve stands against a condition that never clears. */
  readonly holdMs: number;
}

/** The next state of one key; the same object when nothing has changed. */
export function advance(key: string, known: Instance | undefined, evaluation: Evaluation): Move {
  const { plan, at, continuous, rows, pausedMs = 0 } = evaluation;
  const present = plan.legs.map((_leg, index) => rows[index]!.has(key));
  const joined = plan.join === 'all' ? present.every(Boolean) : present.includes(true);
  if (known?.phase === 'firing' || known?.phase === 'held') {
    if (joined) {
      return lasting(known, evaluation);
    }
    return evaluation.unknown?.has(key) === true ? { key, next: known, did: undefined } : clearing(known, at, continuous);
  }
  const legs = present.map((is, index) => {
    const since = continuous ? known?.legs[index] : undefined;
    return is ? (typeof since === 'number' ? since + pausedMs : at) : null;
  });
  const sustained = plan.legs.map(({ forMs }, index) => legs[index] !== null && at - legs[index]! >= forMs);
  if (joined && (plan.join === 'all' ? sustained.every(Boolean) : sustained.includes(true))) {
    return { key, next: { key, phase: 'firing', legs, since: at, clearedAt: null }, did: 'fire' };
  }
  // A condition that has to last is worth remembering before the others come to it.
  const worth = joined || plan.legs.some(({ forMs }, index) => forMs > 0 && present[index]);
  if (!worth) {
    return { key, next: undefined, did: undefined };
  }
  const phase = joined ? 'pending' : 'partial';
  const same = known?.phase === phase && legs.every((since, index) => since === known.legs[index]);
  return { key, next: same ? known : { key, phase, legs, since: known?.phase === phase && continuous ? known.since : at, clearedAt: null }, did: undefined };
}

function lasting(known: Instance, { at, holdMs }: Evaluation): Move {
  const { key } = known;
  const next = known.clearedAt === null ? known : { ...known, clearedAt: null };
  if (known.phase === 'held' && at - known.since >= holdMs) {
    return { key, next: { ...next, phase: 'firing', since: at }, did: 'fire' };
  }
  return { key, next, did: known.phase === 'firing' ? 'last' : undefined };
}

/** Clear is what two evaluations in a row find clear, a full cycle apart. */
function clearing(known: Instance, at: number, continuous: boolean): Move {
  const { key, clearedAt } = known;
  if (clearedAt !== null && continuous && at > clearedAt) {
    return { key, next: undefined, did: known.phase === 'firing' ? 'clear' : undefined };
  }
  return { key, next: clearedAt === at ? known : { ...known, clearedAt: at }, did: undefined };
}
