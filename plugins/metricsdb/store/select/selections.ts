import { createHash } from 'node:crypto';

import type { Labels, Matcher } from 'svc/query';

/** Location of the samples of one series. */
export interface Found {
  readonly labels: Labels;
  slot: number;
  generation: number;
  /** Position among the taken blocks, and number of the series there, one behind the other. */
  readonly inBlocks: number[];
}

/** Max series of all selections together: a few megabytes. */
const maxSeries = 40_000;
/** Weight of a selection besides its series: one that found nothing is kept, too. */
const ownWeight = 16;
/** Max selections that were asked for once and are not kept yet. */
const maxSeen = 4_096;

/**
 * Memory of what selectors found. The same questions come again and again, from dashboards and rules, and which series exist changes
 * seldom: a selection is kept from the second time on, under a key that names everything it depends on.
 */
export class Selections {
  readonly #maxSeries: number;
  readonly #seen = new Set<string>();
  /** Selections, least recently used first. */
  readonly #kept = new Map<string, readonly Found[]>();
  #series = 0;

  constructor(most = maxSeries) {
    this.#maxSeries = most;
  }

  get(key: string): readonly Found[] | undefined {
    const known = this.#kept.get(key);
    if (known !== undefined) {
      this.#kept.delete(key);
      this.#kept.set(key, known);
    }
    return known;
  }

  /** Returns whether so many series are worth a list: they were asked for before. */
  isWanted(key: string, count: number): boolean {
    if (count > this.#maxSeries / 2) {
      return false;
    }
    if (this.#seen.delete(key)) {
      return true;
    }
    if (this.#seen.size >= maxSeen) {
      this.#seen.clear();
    }
    this.#seen.add(key);
    return false;
  }

  keep(key: string, found: readonly Found[]): void {
    this.#drop(key);
    this.#kept.set(key, found);
    this.#series += found.length + ownWeight;
    for (const oldest of this.#kept.keys()) {
      if (this.#series <= this.#maxSeries) {
        break;
      }
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    const known = this.#kept.get(key);
    if (known !== undefined) {
      this.#kept.delete(key);
      this.#series -= known.length + ownWeight;
    }
  }
}

/**
 * Returns the key of a selection: the matchers, the blocks by name, and the state of the head's index, if that is read. It is as long
 * for every selector, since thousands of keys are remembered.
 */
export const selectionKey = (
  matchers: readonly Matcher[],
  files: readonly string[],
  head: number | undefined,
): string =>
  createHash('sha256')
    .update(
      JSON.stringify([
        matchers.map(({ name, op, value }) => [name, op, value]),
        files,
        head ?? null,
      ]),
    )
    .digest('base64');
