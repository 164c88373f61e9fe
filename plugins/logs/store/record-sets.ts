import type { Labels } from 'svc/query';

import { remembered } from './remembered.ts';

/**
 * The metadata of records, by the bytes that say it: within what a resource and a scope say of all of theirs, records say
 * the same over and over.
 */
export class RecordSets {
  readonly #prefixes = new Map<string, string>();
  readonly #known = new Map<string, Labels>();
  #next = 0;

  /** What the keys of records begin with that have this in common; never the same for two, also when the first is forgotten. */
  prefixOf(around: readonly (readonly [string, string])[]): string {
    const text = JSON.stringify(around);
    return this.#prefixes.get(text) ?? remembered(this.#prefixes, text, `${this.#next++} `);
  }

  get(key: string): Labels | undefined {
    return this.#known.get(key);
  }

  set(key: string, labels: Labels): void {
    remembered(this.#known, key, labels);
  }
}
