import type { Instance } from './instance.ts';

/** So long after the start, what has still not been seen counts as gone. */
const longestMs = 900_000;

/** What fired before the start and has not been seen since: whether it lasts is not known. */
export class StaleInstances {
  readonly #keys = new Map<number, ReadonlySet<string>>();
  /** Steady. */
  readonly #startedAt: number;
  /** Of the wall: since when they are stale. */
  readonly since: number;

  constructor(instances: ReadonlyMap<number, ReadonlyMap<string, Instance>>, started: { readonly steady: number; readonly wall: number }) {
    this.#startedAt = started.steady;
    this.since = started.wall;
    for (const [rule, byKey] of instances) {
      this.#keys.set(rule, new Set([...byKey.values()].filter(({ phase }) => phase === 'firing').map(({ key }) => key)));
    }
  }

  of(ruleId: number): ReadonlySet<string> {
    return this.#keys.get(ruleId) ?? none;
  }

  /** Brings in what an evaluation could say nothing about: what is stale now, and what is to stay as it is. */
  after(ruleId: number, unknown: ReadonlySet<string>, steady: number): { readonly stale: ReadonlySet<string>; readonly unknown: ReadonlySet<string> } {
    const stale = new Set([...this.of(ruleId)].filter((key) => unknown.has(key)));
    if (stale.size > 0) {
      this.#keys.set(ruleId, stale);
    } else {
      this.#keys.delete(ruleId);
    }
    const isOverdue = steady - this.#startedAt >= longestMs;
    return { stale, unknown: isOverdue ? new Set([...unknown].filter((key) => !stale.has(key))) : unknown };
  }
}

const none: ReadonlySet<string> = new Set();
