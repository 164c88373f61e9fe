/** Samples of one series on their way from pages and chunks to a result or a block. Used again for the next series. */
export class Samples {
  times = new Float64Array(1_024);
  values = new Float64Array(1_024);
  /** 1 where the sample is a staleness marker; its value means nothing. */
  stale = new Uint8Array(1_024);
  /**
   * Number of samples that each represents, itself and those dropped before it; only if thinned
   * ones are among them.
   */
  counts: Float64Array | undefined;
  length = 0;
  anyStale = false;
  /** False if values are not read where that takes time. */
  valued = true;
  #order = new Uint32Array(0);

  clear(): this {
    if (this.anyStale) {
      this.stale.fill(0);
    }
    this.length = 0;
    this.anyStale = false;
    return this;
  }

  /** Leaves values out from now on. */
  withoutValues(): this {
    this.valued = false;
    return this;
  }

  /** Counts from now on. */
  counting(): this {
    this.counts ??= new Float64Array(this.times.length);
    return this;
  }

  /** Marks samples appended since `from` as representing only themselves. */
  countEach(from: number): void {
    this.counts?.fill(1, from, this.length);
  }

  /** Drops what was appended beyond this length. */
  truncate(length: number): void {
    this.stale.fill(0, length);
    this.length = length;
  }

  reserve(more: number): void {
    const needed = this.length + more;
    if (needed > this.times.length) {
      const size = Math.max(needed, this.times.length * 2);
      this.times = enlarged(this.times, this.length, size);
      this.values = enlarged(this.values, this.length, size);
      this.counts &&= enlarged(this.counts, this.length, size);
      const stale = new Uint8Array(size);
      stale.set(this.stale.subarray(0, this.length));
      this.stale = stale;
    }
  }

  push(time: number, value: number, stale: boolean): void {
    this.reserve(1);
    this.times[this.length] = time;
    this.values[this.length] = value;
    if (stale) {
      this.mark(this.length);
    }
    this.length++;
  }

  mark(index: number): void {
    this.stale[index] = 1;
    this.anyStale = true;
  }

  /** Puts the samples in order of time; of several with one time the one that came first stays. */
  settle(): this {
    const { times, length } = this;
    for (let i = 1; i < length; i++) {
      if (times[i]! <= times[i - 1]!) {
        return this.#sort();
      }
    }
    return this;
  }

  /** Index of the first sample later than `time`; only after `settle`. */
  after(time: number): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.times[middle]! <= time) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  #sort(): this {
    const { length } = this;
    const times = this.times.slice(0, length);
    const values = this.values.slice(0, length);
    const stale = this.stale.slice(0, length);
    const counts = this.counts?.slice(0, length);
    if (this.#order.length < length) {
      this.#order = new Uint32Array(length * 2);
    }
    const order = this.#order.subarray(0, length);
    for (let i = 0; i < length; i++) {
      order[i] = i;
    }
    order.sort((a, b) => times[a]! - times[b]! || a - b);
    let kept = 0;
    for (const i of order) {
      if (kept > 0 && this.times[kept - 1] === times[i]) {
        continue;
      }
      this.times[kept] = times[i]!;
      this.values[kept] = values[i]!;
      if (counts !== undefined) {
        this.counts![kept] = counts[i]!;
      }
      this.stale[kept++] = stale[i]!;
    }
    this.stale.fill(0, kept, length);
    this.length = kept;
    return this;
  }
}

function enlarged(array: Float64Array, length: number, size: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(size);
  larger.set(array.subarray(0, length));
  return larger;
}
