import { textOf } from './enforce.ts';
import { attribute, type Attribute, type Span } from './span.ts';

const firstSlots = 1 << 14;

interface Sender {
  /** Device as svc knows it; empty if there is none. */
  readonly device: string;
  readonly hash: number;
}

/** Resources are few, and shared by their spans. */
const senders = new WeakMap<readonly Attribute[], Sender>();

/** Returns the sender of the span: equal spans from different machines are no duplicates. */
export function senderOf({ resource }: Pick<Span, 'resource'>): Sender {
  let sender = senders.get(resource);
  if (sender === undefined) {
    const device = textOf(attribute(resource, 'device_id'));
    sender = { device, hash: hashed(device) };
    senders.set(resource, sender);
  }
  return sender;
}

/**
 * Which spans have been counted: one that was sent twice may lie in two tables, or twice in one. Keeps 64 bits of each: of ten million
 * spans, two are taken for one another once in some hundred thousand questions.
 */
export class SeenSpans {
  /** Called with the number of additional bytes held. */
  readonly #charge: (bytes: number) => void;
  #slots: Uint32Array;
  #count = 0;
  /** Key parts of the current trace, reused because its spans come one after another. */
  #trace = { id: '', high: 0, low: 0 };

  constructor(charge: (bytes: number) => void) {
    this.#charge = charge;
    this.#slots = new Uint32Array(2 * firstSlots);
  }

  /** Adds a span and returns whether it is new. */
  add(traceId: string, span: Pick<Span, 'idHigh' | 'idLow' | 'kind' | 'resource'>): boolean {
    if (this.#trace.id !== traceId) {
      this.#trace = traceOf(traceId);
    }
    const { hash } = senderOf(span);
    const { idHigh, idLow, kind } = span;
    // Neighbours in ids and kinds must not meet: each part has a factor of its own, in both halves.
    const high = mixed(
      hash ^
        this.#trace.high ^
        Math.imul(idHigh, 0x9e3779b1) ^
        Math.imul(idLow, 0x27d4eb2f) ^
        Math.imul(kind, 0x165667b1),
    );
    const low =
      mixed(
        Math.imul(hash, 41) ^
          this.#trace.low ^
          Math.imul(idLow, 0x85ebca6b) ^
          Math.imul(idHigh, 0xc2b2ae35) ^
          Math.imul(kind, 0x9e3779b1),
      ) | 1;
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

/** Ids are random, or tell where they are from: both halves of them take part, as those of the spans do. */
function traceOf(id: string): { readonly id: string; readonly high: number; readonly low: number } {
  const word = (at: number): number => parseInt(id.slice(at, at + 8), 16);
  return { id, high: word(0) ^ Math.imul(word(16), 31), low: word(8) ^ Math.imul(word(24), 37) };
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

function hashed(text: string): number {
  let hash = 0;
  for (let index = 0; index < text.length; index += 1) {
    hash = mixed(hash ^ (text.charCodeAt(index) + 1));
  }
  return hash;
}

function mixed(value: number): number {
  let bits = Math.imul(value ^ (value >>> 16), 0x7feb352d);
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b);
  return (bits ^ (bits >>> 16)) >>> 0;
}
