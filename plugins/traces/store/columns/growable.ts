/** Typed arrays that grow by doubling: a column of a head. `data` is only valid until the next `push`. */
export class NumberColumn<T extends Uint8Array | Uint32Array | Int32Array | Float64Array> {
  data: T;
  length = 0;
  readonly #make: (size: number) => T;

  constructor(make: (size: number) => T, capacity = 1024) {
    this.#make = make;
    this.data = make(capacity);
  }

  push(value: number): void {
    if (this.length === this.data.length) {
      this.#grow(this.length + 1);
    }
    this.data[this.length++] = value;
  }

  /** A copy of part of some bytes; for columns of bytes. */
  pushBytes(bytes: Uint8Array, start: number, count: number): void {
    if (this.length + count > this.data.length) {
      this.#grow(this.length + count);
    }
    const { data } = this;
    let at = this.length;
    for (let i = start; i < start + count; i++) {
      data[at++] = bytes[i]!;
    }
    this.length = at;
  }

  #grow(least: number): void {
    const grown = this.#make(Math.max(least, this.data.length * 2));
    grown.set(this.data);
    this.data = grown;
  }
}

export const u8 = (capacity?: number): NumberColumn<Uint8Array> =>
  new NumberColumn((size) => new Uint8Array(size), capacity);
export const u32 = (capacity?: number): NumberColumn<Uint32Array> =>
  new NumberColumn((size) => new Uint32Array(size), capacity);
export const i32 = (capacity?: number): NumberColumn<Int32Array> =>
  new NumberColumn((size) => new Int32Array(size), capacity);
export const f64 = (capacity?: number): NumberColumn<Float64Array> =>
  new NumberColumn((size) => new Float64Array(size), capacity);
