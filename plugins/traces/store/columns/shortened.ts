/**
 * Values that a head keeps in shortened form, by number: whoever sends one again is warned again.
 */
export class Shortened {
  readonly #texts = new Set<number>();
  readonly #pairs = new Set<number>();
  readonly #resources = new Set<number>();
  readonly #scopes = new Set<number>();

  text(id: number): boolean {
    return this.#texts.has(id);
  }

  pair(id: number): boolean {
    return this.#pairs.has(id);
  }

  /** All spans of either come short. */
  around(resource: number, scope: number): boolean {
    return this.#resources.has(resource) || this.#scopes.has(scope);
  }

  add(what: 'text' | 'pair' | 'resource' | 'scope', id: number): void {
    ({ text: this.#texts, pair: this.#pairs, resource: this.#resources, scope: this.#scopes })[
      what
    ].add(id);
  }
}

/** Counts what a reading of values has to leave out. */
export interface Losses {
  count: number;
}
