interface Running {
  readonly sum: number;
  readonly time: number;
}

/** Series that are remembered; the one that was quiet longest begins anew, which reads as a reset of its counter. */
const mostSeries = 100_000;

/** What series come to whose senders tell only what was added since the last time. */
export class DeltaSums {
  readonly #sums = new Map<number, Running>();

  /** The sum with `delta`; undefined for a time that is in it already. `before`: what the store has of a series that is not remembered. */
  add(ref: number, time: number, delta: number, before: () => Running): number | undefined {
    const { sum, time: last } = this.#sums.get(ref) ?? before();
    if (time <= last) {
      return undefined;
    }
    this.#sums.delete(ref);
    this.#sums.set(ref, { sum: sum + delta, time });
    if (this.#sums.size > mostSeries) {
      this.#sums.delete(this.#sums.keys().next().value!);
    }
    return sum + delta;
  }

  /** What was added did not reach the disk: the sender will send it again. */
  forget(ref: number): void {
    this.#sums.delete(ref);
  }
}
