export interface BacklogLimits<T> {
  readonly maxItems: number;
  readonly maxBytes: number;
  readonly sizeOf: (item: T) => number;
}

/**
 * Backlog of what waits to be stored: bounded in number and size; when full, the oldest items are
 * dropped.
 */
export class Backlog<T> {
  readonly #limits: BacklogLimits<T>;
  #items: T[] = [];
  #bytes = 0;

  constructor(limits: BacklogLimits<T>) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#items.length;
  }

  /** Adds an item; returns how many were dropped for it. */
  add(item: T): number {
    this.#items.push(item);
    this.#bytes += this.#limits.sizeOf(item);
    return this.#fit();
  }

  /** Removes the oldest, up to so many. */
  take(most: number): readonly T[] {
    const taken = this.#items.splice(0, most);
    for (const item of taken) {
      this.#bytes -= this.#limits.sizeOf(item);
    }
    return taken;
  }

  /** Puts back what was taken; returns how many were dropped for it. */
  restore(items: readonly T[]): number {
    this.#items.unshift(...items);
    for (const item of items) {
      this.#bytes += this.#limits.sizeOf(item);
    }
    return this.#fit();
  }

  #fit(): number {
    const { maxItems, maxBytes } = this.#limits;
    let gone = 0;
    while (this.#items.length > maxItems || this.#bytes > maxBytes) {
      // Many at once, so that a full backlog does not move at every further item.
      gone += this.take(Math.ceil(this.#items.length / 10)).length;
    }
    return gone;
  }
}
