import type { Instance } from './instance.ts';

/** So long after it became stale, what has still not been seen counts as gone. */
const longestMs = 900_000;

export interface Moment {
  readonly steady: number;
  readonly wall: number;
}

/** What an evaluation has found, and the keys about which it could say nothing. */
interface Look {
  readonly rows: readonly ReadonlyMap<string, unknown>[];
  readonly unknown: ReadonlySet<string>;
}

/** Since when instances are stale, by their keys. */
export type Stale = ReadonlyMap<string, Moment>;

/**
 * What fires and whose source is not heard: since the start, or since the wall clock jumped. Whether it lasts is not known.
 */
export class StaleInstances {
  readonly #byRule = new Map<number, Stale>();
  readonly #began: Moment;
  /** So long nothing counts as clear: a wall clock that was set back makes rules look at what they have seen before. */
  readonly #blindMs: number;

  constructor(instances: ReadonlyMap<number, ReadonlyMap<string, Instance>>, began: Moment, blindMs = 0) {
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

  /** Brings in what an evaluation could say nothing about: what is stale now, and what is to stay as it is. */
  after(ruleId: number, { rows, unknown }: Look, now: Moment): { readonly stale: Stale; readonly unknown: ReadonlySet<string> } {
    const known = this.of(ruleId);
    const isBlind = now.steady - this.#began.steady < this.#blindMs;
    const unsaid = isBlind ? new Set([...unknown, ...[...known.keys()].filter((key) => !rows.some((of) => of.has(key)))]) : unknown;
    const stale = new Map([...unsaid].filter((key) => known.has(key)).map((key) => [key, known.get(key)!]));
    // Until the clock shows new times, what was seen is only seen of the past.
    this.#keep(ruleId, isBlind ? new Map([...known, ...stale]) : stale);
    return { stale, unknown: new Set([...unsaid].filter((key) => now.steady - (stale.get(key) ?? now).steady < longestMs)) };
  }

  #keep(ruleId: number, stale: Stale): void {
    if (stale.size > 0) {
      this.#byRule.set(ruleId, stale);
    } else {
      this.#byRule.delete(ruleId);
    }
  }
}

const none: Stale = new Map();
