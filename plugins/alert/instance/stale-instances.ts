import type { Instance } from './instance.ts';
import type { Heard } from './sources.ts';

/**
 * Time after which a silent instance counts as gone, unless its edge is known and offline: that one
 * is awaited.
 */
const longestMs = 900_000;
/**
 * Time within which a source that is back has reported everything; what it has not reported by then
 * is gone.
 */
const settledMs = 300_000;

export interface Moment {
  readonly steady: number;
  readonly wall: number;
}

/**
 * Times of a stale instance: since when it is stale and, in steady time, since when its source is
 * back, or neither sending nor expected.
 */
interface StaleMoment extends Moment {
  readonly heardSince?: number;
  readonly deafSince?: number;
}

/** Rows of an evaluation, with the keys whose state it could not determine. */
interface Look {
  readonly rows: readonly ReadonlyMap<string, unknown>[];
  readonly unknown: ReadonlySet<string>;
  /** Source states of firing instances that are neither answered nor measured. */
  readonly heard: ReadonlyMap<string, Heard>;
}

/** Stale instances by key, with the time since which they are. */
export type Stale = ReadonlyMap<string, StaleMoment>;

/**
 * Firing instances whose source is silent: since the start, since a jump of the wall clock, or
 * since its last sample. Whether they still breach is unknown.
 */
export class StaleInstances {
  readonly #byRule = new Map<number, Stale>();
  readonly #began: Moment;
  /**
   * Time during which nothing counts as clear: a wall clock that was set back makes rules query
   * what they have seen before.
   */
  readonly #blindMs: number;

  constructor(
    instances: ReadonlyMap<number, ReadonlyMap<string, Instance>>,
    began: Moment,
    blindMs = 0,
  ) {
    this.#began = began;
    this.#blindMs = Math.min(blindMs, longestMs);
    for (const [rule, byKey] of instances) {
      const firing = [...byKey.values()].filter(({ phase }) => phase === 'firing');
      this.#byRule.set(rule, new Map(firing.map(({ key }) => [key, began])));
    }
  }

  of(ruleId: number): Stale {
    return this.#byRule.get(ruleId) ?? none;
  }

  /** Records what an evaluation could not determine: what is stale now, and what stays as it is. */
  after(
    ruleId: number,
    { rows, unknown, heard }: Look,
    now: Moment,
  ): { readonly stale: Stale; readonly unknown: ReadonlySet<string> } {
    const known = this.of(ruleId);
    const isBlind = now.steady - this.#began.steady < this.#blindMs;
    const unsaid = new Set(unknown);
    const stale = new Map<string, StaleMoment>(
      [...unknown].flatMap((key) => (known.has(key) ? [[key, known.get(key)!]] : [])),
    );
    for (const [key, is] of heard) {
      const moment = afterLook(known.get(key), is, now);
      if (moment !== undefined) {
        stale.set(key, moment);
        if (now.steady - (moment.deafSince ?? now.steady) < longestMs) {
          unsaid.add(key);
        }
      }
    }
    for (const key of isBlind ? known.keys() : []) {
      if (!rows.some((of) => of.has(key))) {
        unsaid.add(key);
        stale.set(key, known.get(key)!);
      }
    }
    // Until the clock shows new times, only the past was observed.
    this.#keep(ruleId, isBlind ? new Map([...known, ...stale]) : stale);
    return { stale, unknown: unsaid };
  }

  #keep(ruleId: number, stale: Stale): void {
    if (stale.size > 0) {
      this.#byRule.set(ruleId, stale);
    } else {
      this.#byRule.delete(ruleId);
    }
  }
}

/** Undefined: it is gone, and not for want of hearing. */
function afterLook(
  before: StaleMoment | undefined,
  heard: Heard,
  now: Moment,
): StaleMoment | undefined {
  const { steady, wall, heardSince = now.steady, deafSince = steady }: StaleMoment = before ?? now;
  switch (heard) {
    case 'heard':
      return before === undefined || now.steady - heardSince >= settledMs
        ? undefined
        : { steady, wall, heardSince, deafSince: now.steady };
    case 'untold':
      return before && { steady, wall, deafSince };
    case 'unheard':
      return { steady, wall, deafSince };
    case 'awaited':
      return { steady, wall, deafSince: now.steady };
  }
}

const none: Stale = new Map();
