import { type Samples } from './samples.ts';

/** Samples that came after a later one of their series: a list per series, all lists in one pool. */
export class LateSamples {
  #times = new Float64Array(1_024);
  #values = new Float64Array(1_024);
  #stale = new Uint8Array(1_024);
  #next = new Int32Array(1_024);
  #used = 0;
  #free = -1;
  count = 0;

  /** Puts a sample before the list that begins at `list`; answers with where the list begins now. -1 is the empty list. */
  add(list: number, time: number, value: number, stale: boolean): number {
    const at = this.#free === -1 ? this.#fresh() : this.#free;
    if (at === this.#free) {
      this.#free = this.#next[at]!;
    }
    this.#times[at] = time;
    this.#values[at] = value;
    this.#stale[at] = stale ? 1 : 0;
    this.#next[at] = list;
    this.count++;
    return at;
  }

  /** Appends the samples of a list that are earlier than `before`, in no order. */
  read(list: number, before: number, into: Samples): void {
    for (let at = list; at !== -1; at = this.#next[at]!) {
      if (this.#times[at]! < before) {
        into.push(this.#times[at]!, this.#values[at]!, this.#stale[at] === 1);
      }
    }
  }

  /** One list behind another; answers with where it begins. */
  join(list: number, rest: number): number {
    if (list === -1) {
      return rest;
    }
    let at = list;
    while (this.#next[at] !== -1) {
      at = this.#next[at]!;
    }
    this.#next[at] = rest;
    return list;
  }

  drop(list: number): void {
    for (let at = list; at !== -1;) {
      const next = this.#next[at]!;
      this.#next[at] = this.#free;
      this.#free = at;
      this.count--;
      at = next;
    }
  }

  #fresh(): number {
    if (this.#used === this.#next.length) {
      const size = this.#used * 2;
      this.#times = widened(this.#times, new Float64Array(size));
      this.#values = widened(this.#values, new Float64Array(size));
      this.#stale = widened(this.#stale, new Uint8Array(size));
      this.#next = widened(this.#next, new Int32Array(size));
    }
    return this.#used++;
  }
}

/** The content of a typed array in a larger one. */
export function widened<
  A extends Float64Array | Uint8Array | Uint16Array | Int32Array | Uint32Array,
>(from: A, to: A): A {
  to.set(from);
  return to;
}
