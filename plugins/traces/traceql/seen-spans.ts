import type { Span } from './span.ts';

const firstSlots = 1 << 14;

/**
 * Which spans have been counted: one that was sent twice may lie in two tables, or twice in one. Keeps 64 bits of each: of ten million
 * spans, two are taken for one another once in some hundred thousand questions.
 */
export class SeenSpans {
  /** Called with the bytes that are held more from now on. */
  readonly #charge: (bytes: number) => void;
  #slots: Uint32Array;
  #count = 0;

  constructor(charge: (bytes: number) => void) {
    this.#charge = charge;
    this.#slots = new Uint32Array(2 * firstSlots);
  }

  /** Whether the span is new. */
  add(traceId: string, { id, kind }: Span): boolean {
    // Ids are random, or tell where they are from: both halves of both take part.
    const high = mixed(
      parseInt(traceId.slice(0, 8), 16) ^ Math.imul(parseInt(traceId.slice(16, 24), 16), 31) ^ Math.imul(parseInt(id.slice(0, 8), 16), 0x9e3779b1),
    );
    const low =
      mixed(parseInt(traceId.slice(8, 16), 16) ^ Math.imul(parseInt(traceId.slice(24), 16), 37) ^ Math.imul(parseInt(id.slice(8), 16) + kind, 0x85ebca6b)) | 1;
    if (!put(this.#slots, high, low >>> 0)) {
      return false;
    }
    this.#count += 1;
    if (this.#count * 4 > this.#slots.length) {
      this.#grow();
    }
    return true;
  }

  #grow(): void {
    const old = this.#slots;
    this.#charge(old.byteLength * 2);
    this.#slots = new Uint32Array(old.length * 2);
    for (let at = 0; at < old.length; at += 2) {
      if (old[at + 1] !== 0) {
        put(this.#slots, old[at]!, old[at + 1]!);
      }
    }
  }
}

/** `low` is never 0, which marks a free slot. */
function put(slots: Uint32Array, high: number, low: number): boolean {
  const mask = slots.length / 2 - 1;
  for (let slot = (high ^ low) & mask; ; slot = (slot + 1) & mask) {
    const at = slot * 2;
    if (slots[at + 1] === 0) {
      slots[at] = high;
      slots[at + 1] = low;
      return true;
    }
    if (slots[at] === high && slots[at + 1] === low) {
      return false;
    }
  }
}

function mixed(value: number): number {
  let bits = Math.imul(value ^ (value >>> 16), 0x7feb352d);
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b);
  return (bits ^ (bits >>> 16)) >>> 0;
}
