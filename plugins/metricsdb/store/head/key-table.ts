import { widened } from '../columns/late-samples.ts';
import { mixed, settled } from '../columns/mixing.ts';

/**
 * Which series raw label bytes mean: a hash table over bytes in one arena, without an object per entry. Senders repeat
 * their series in one order, so the entry that followed last time is tried before anything is hashed.
 */
export class KeyTable {
  #arena = new Uint8Array(64 * 1_024);
  #arenaView = new DataView(this.#arena.buffer);
  #asked: Uint8Array = this.#arena;
  #askedView: DataView = this.#arenaView;
  #used = 0;
  #starts = new Float64Array(1_024);
  #lengths = new Uint32Array(1_024);
  #salts = new Uint32Array(1_024);
  #hashes = new Uint32Array(1_024);
  #slots = new Int32Array(1_024);
  #followers = new Int32Array(1_024);
  #buckets = new Int32Array(2_048);
  #last = -1;
  readonly #seed: number;
  size = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  get bytes(): number {
    return this.#arena.length + this.#starts.length * 28 + this.#buckets.length * 4;
  }

  /** Bytes of all keys together. */
  get keyBytes(): number {
    return this.#used;
  }

  /** The slot that `bytes[from, to)` means under `salt`, or -1. */
  find(bytes: Uint8Array, from: number, to: number, salt: number): number {
    if (bytes !== this.#asked) {
      this.#asked = bytes;
      this.#askedView = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    }
    if (this.#last !== -1) {
      const guess = this.#followers[this.#last]!;
      if (guess !== -1 && this.#isAt(guess, from, to, salt)) {
        this.#last = guess;
        return this.#slots[guess]!;
      }
    }
    const hash = hashOf(this.#askedView, from, to, this.#seed ^ salt);
    const mask = this.#buckets.length - 1;
    for (let bucket = hash & mask; ; bucket = (bucket + 1) & mask) {
      const entry = this.#buckets[bucket]! - 1;
      if (entry === -1) {
        return -1;
      }
      if (this.#hashes[entry] === hash && this.#isAt(entry, from, to, salt)) {
        this.#follow(entry);
        return this.#slots[entry]!;
      }
    }
  }

  /** Adds a key that `find` did not find. */
  add(bytes: Uint8Array, from: number, to: number, salt: number, slot: number): void {
    if (this.size === this.#slots.length) {
      this.#widen();
    }
    const length = to - from;
    if (this.#used + length > this.#arena.length) {
      this.#arena = widened(
        this.#arena,
        new Uint8Array(Math.max(this.#arena.length * 2, this.#used + length)),
      );
      this.#arenaView = new DataView(this.#arena.buffer);
    }
    const entry = this.size++;
    for (let i = 0; i < length; i++) {
      this.#arena[this.#used + i] = bytes[from + i]!;
    }
    this.#starts[entry] = this.#used;
    this.#lengths[entry] = length;
    this.#salts[entry] = salt;
    this.#hashes[entry] = hashOf(
      this.#arenaView,
      this.#used,
      this.#used + length,
      this.#seed ^ salt,
    );
    this.#slots[entry] = slot;
    this.#followers[entry] = -1;
    this.#used += length;
    this.#place(entry);
    this.#follow(entry);
  }

  /** The keys of slots for which `stays` holds, in a table of its own. */
  filtered(stays: (slot: number) => boolean): KeyTable {
    const table = new KeyTable(this.#seed);
    for (let entry = 0; entry < this.size; entry++) {
      if (stays(this.#slots[entry]!)) {
        const start = this.#starts[entry]!;
        table.add(
          this.#arena,
          start,
          start + this.#lengths[entry]!,
          this.#salts[entry]!,
          this.#slots[entry]!,
        );
      }
    }
    return table;
  }

  #isAt(entry: number, from: number, to: number, salt: number): boolean {
    if (this.#lengths[entry] !== to - from || this.#salts[entry] !== salt) {
      return false;
    }
    const arenaView = this.#arenaView;
    const askedView = this.#askedView;
    let a = this.#starts[entry]!;
    let b = from;
    for (; b + 8 <= to; a += 8, b += 8) {
      // As numbers, since that is one comparison; NaN differs from itself, and zeros of both signs do not.
      const eight = arenaView.getFloat64(a, true);
      if (
        (eight !== askedView.getFloat64(b, true) || eight === 0) &&
        (arenaView.getInt32(a, true) !== askedView.getInt32(b, true) ||
          arenaView.getInt32(a + 4, true) !== askedView.getInt32(b + 4, true))
      ) {
        return false;
      }
    }
    for (; b < to; a++, b++) {
      if (arenaView.getUint8(a) !== askedView.getUint8(b)) {
        return false;
      }
    }
    return true;
  }

  #follow(entry: number): void {
    if (this.#last !== -1) {
      this.#followers[this.#last] = entry;
    }
    this.#last = entry;
  }

  #place(entry: number): void {
    if (this.size * 2 > this.#buckets.length) {
      this.#buckets = new Int32Array(this.#buckets.length * 2);
      for (let other = 0; other < entry; other++) {
        this.#intoBucket(other);
      }
    }
    this.#intoBucket(entry);
  }

  #intoBucket(entry: number): void {
    const mask = this.#buckets.length - 1;
    let bucket = this.#hashes[entry]! & mask;
    while (this.#buckets[bucket] !== 0) {
      bucket = (bucket + 1) & mask;
    }
    this.#buckets[bucket] = entry + 1;
  }

  #widen(): void {
    const room = this.#slots.length * 2;
    this.#starts = widened(this.#starts, new Float64Array(room));
    this.#lengths = widened(this.#lengths, new Uint32Array(room));
    this.#salts = widened(this.#salts, new Uint32Array(room));
    this.#hashes = widened(this.#hashes, new Uint32Array(room));
    this.#slots = widened(this.#slots, new Int32Array(room));
    this.#followers = widened(this.#followers, new Int32Array(room));
  }
}

/** Four bytes at a time. */
function hashOf(view: DataView, from: number, to: number, seed: number): number {
  let hash = seed | 0;
  let i = from;
  for (; i + 4 <= to; i += 4) {
    hash = mixed(hash, view.getInt32(i, true));
  }
  for (; i < to; i++) {
    hash = Math.imul(hash ^ view.getUint8(i), 0x01000193);
  }
  return settled(hash);
}
