import { u8, u32 } from './growable.ts';

const none = -1;
const nothing = new Uint8Array(0);
const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

/**
 * Dictionary of byte strings, numbered in order of appearance. Attributes recur as the same few
 * bytes: recognized as bytes, they are decoded once, not once per span. `seed` keeps senders from
 * choosing keys that collide.
 */
export class ByteDictionary {
  readonly #bytes = u8(16 * 1024);
  readonly #ends = u32();
  readonly #hashes = u32();
  /** Hashes and numbers, interleaved, so that both are in the same cache line. */
  #slots = new Int32Array(2 * 8192).fill(none);
  /**
   * View of the bytes queried last: shared by all dictionaries, so that at most one body is
   * retained.
   */
  static #asked = viewOf(nothing);
  static #askedBytes: Uint8Array = nothing;
  /** View of the known bytes. */
  #own = viewOf(nothing);
  #ownBytes: Uint8Array = nothing;
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed | 0;
  }

  get size(): number {
    return this.#ends.length;
  }

  get bytes(): number {
    return this.#bytes.data.length + this.#slots.length * 4 + this.#ends.data.length * 8;
  }

  /** The number of these bytes; -1 where they are not known. */
  find(bytes: Uint8Array, start: number, end: number): number {
    return this.#slots[this.#slotOf(bytes, start, end, this.#hash(bytes, start, end)) + 1]!;
  }

  /** Returns the number of these bytes, which is `size - 1` if they are new. */
  intern(bytes: Uint8Array, start: number, end: number): number {
    const hash = this.#hash(bytes, start, end);
    const slot = this.#slotOf(bytes, start, end, hash);
    const known = this.#slots[slot + 1]!;
    if (known >= 0) {
      return known;
    }
    const id = this.#ends.length;
    this.#bytes.pushBytes(bytes, start, end - start);
    this.#ends.push(this.#bytes.length);
    this.#hashes.push(hash);
    this.#slots[slot] = hash;
    this.#slots[slot + 1] = id;
    if (id * 4 > this.#slots.length) {
      this.#rehash();
    }
    return id;
  }

  /** The bytes of a number; valid until the next `intern`. */
  bytesOf(id: number): Uint8Array {
    return this.#bytes.data.subarray(this.startOf(id), this.#ends.data[id]);
  }

  /** All bytes one behind the other; valid until the next `intern`. */
  get data(): Uint8Array {
    return this.#bytes.data;
  }

  /** Returns where the bytes of a number start in `data`. */
  startOf(id: number): number {
    return id === 0 ? 0 : this.#ends.data[id - 1]!;
  }

  #slotOf(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = (hash << 1) & mask; ; slot = (slot + 2) & mask) {
      const id = slots[slot + 1]!;
      if (id < 0 || (slots[slot] === hash && this.#equals(id, bytes, start, end))) {
        return slot;
      }
    }
  }

  #equals(id: number, bytes: Uint8Array, start: number, end: number): boolean {
    const ends = this.#ends.data;
    const from = id === 0 ? 0 : ends[id - 1]!;
    if (ends[id]! - from !== end - start) {
      return false;
    }
    const own = this.#bytes.data;
    if (this.#ownBytes !== own) {
      this.#own = viewOf((this.#ownBytes = own));
    }
    const asked = ByteDictionary.#asked;
    const known = this.#own;
    let i = start;
    let at = from;
    for (; i + 4 <= end; i += 4, at += 4) {
      if (known.getInt32(at) !== asked.getInt32(i)) {
        return false;
      }
    }
    for (; i < end; i++, at++) {
      if (own[at] !== bytes[i]) {
        return false;
      }
    }
    return true;
  }

  #hash(bytes: Uint8Array, start: number, end: number): number {
    if (ByteDictionary.#askedBytes !== bytes) {
      ByteDictionary.#asked = viewOf((ByteDictionary.#askedBytes = bytes));
    }
    const asked = ByteDictionary.#asked;
    let hash = this.#seed;
    let i = start;
    for (; i + 4 <= end; i += 4) {
      hash = Math.imul(hash ^ asked.getInt32(i, true), 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    for (; i < end; i++) {
      hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
    }
    hash ^= hash >>> 15;
    hash = Math.imul(hash, 0x2c1b3c6d);
    return hash ^ (hash >>> 13);
  }

  #rehash(): void {
    const slots = new Int32Array(this.#slots.length * 4).fill(none);
    const mask = slots.length - 1;
    for (let id = 0; id < this.#ends.length; id++) {
      const hash = this.#hashes.data[id]! | 0;
      let slot = (hash << 1) & mask;
      while (slots[slot + 1]! >= 0) {
        slot = (slot + 2) & mask;
      }
      slots[slot] = hash;
      slots[slot + 1] = id;
    }
    this.#slots = slots;
  }
}
