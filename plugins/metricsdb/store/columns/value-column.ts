import { Cursor, cutShort, type Scratch } from './scratch.ts';
import { readSums, weightOf, writeWholeNumbers } from './whole-numbers.ts';

/** Encoding of a run of values; the low bits of its first byte, the decimal places above them. */
const constant = 0;
const deltas = 1;
const deltasOfDeltas = 2;
const planes = 3;

const maxPlaces = 12;
const powers = Float64Array.from({ length: maxPlaces + 1 }, (_, places) => 10 ** places);
/** Max integer whose delta of deltas, zigzagged, is still exact in a double. */
const largestWhole = 2 ** 50;

/** Turns runs of values into few bytes, exactly: what comes out is what went in, sign of zero included. Owns scratch space; not re-entrant. */
export class ValueColumn {
  #wholes = new Float64Array(512);
  #second = new Float64Array(512);
  #halves = new Uint32Array(this.#wholes.buffer);

  /** Writes `values[from, to)`, at least one. */
  write(out: Scratch, values: Float64Array, from: number, to: number): void {
    const first = values[from]!;
    if (allAre(values, from, to, first)) {
      out.u8(constant);
      out.f64(first);
      return;
    }
    this.#reserve(to - from);
    const places = decimalPlaces(values, from, to);
    if (places === undefined || !this.#scale(values, from, to, places)) {
      this.#writePlanes(out, values, from, to);
      return;
    }
    this.#writeWholes(out, to - from, places);
  }

  /** Reads `count` values into `values` from `into` on. */
  read(
    bytes: Uint8Array,
    begin: number,
    end: number,
    values: Float64Array,
    into: number,
    count: number,
  ): void {
    if (begin >= end) {
      throw cutShort();
    }
    const head = bytes[begin]!;
    const kind = head & 7;
    if (kind === constant) {
      values.fill(new Cursor(bytes, begin + 1, end).f64(), into, into + count);
    } else if (kind === planes) {
      this.#readPlanes(new Cursor(bytes, begin + 1, end).take(count * 8), values, into, count);
    } else {
      const power = powers[head >>> 3]!;
      readSums(bytes, begin + 1, end, values, into, into + count, power, kind === deltasOfDeltas);
    }
  }

  #reserve(count: number): void {
    if (this.#wholes.length < count) {
      this.#wholes = new Float64Array(count * 2);
      this.#second = new Float64Array(count * 2);
      this.#halves = new Uint32Array(this.#wholes.buffer);
    }
  }

  /**
   * Returns whether all values are integer multiples of `10^-places`, which are then in `wholes`.
   */
  #scale(values: Float64Array, from: number, to: number, places: number): boolean {
    const wholes = this.#wholes;
    const power = powers[places]!;
    for (let i = from, k = 0; i < to; i++, k++) {
      const value = values[i]!;
      const whole = Math.round(value * power);
      if (whole / power !== value || whole > largestWhole || whole < -largestWhole) {
        return false;
      }
      wholes[k] = whole;
    }
    return true;
  }

  #writeWholes(out: Scratch, count: number, places: number): void {
    const wholes = this.#wholes;
    const second = this.#second;
    let weight = 0;
    let secondWeight = 0;
    let before = wholes[0]!;
    let deltaBefore = 0;
    second[0] = before;
    for (let i = 1; i < count; i++) {
      const whole = wholes[i]!;
      const delta = whole - before;
      const change = delta - deltaBefore;
      before = whole;
      deltaBefore = delta;
      wholes[i] = delta;
      second[i] = change;
      weight += weightOf(delta);
      secondWeight += weightOf(change);
    }
    const steady = secondWeight < weight * 0.9;
    out.u8((steady ? deltasOfDeltas : deltas) | (places << 3));
    writeWholeNumbers(out, steady ? second : wholes, 0, count);
  }

  /**
   * Writes values that arithmetic cannot shorten: each XORed with its predecessor, with bytes of
   * one rank side by side.
   */
  #writePlanes(out: Scratch, values: Float64Array, from: number, to: number): void {
    const wholes = this.#wholes;
    const halves = this.#halves;
    const count = to - from;
    wholes.set(values.subarray(from, to));
    out.u8(planes);
    out.ensure(count * 8);
    const { bytes } = out;
    let lowBefore = 0;
    let highBefore = 0;
    for (let i = 0, at = out.at; i < count; i++, at++) {
      const low = halves[i * 2]!;
      const high = halves[i * 2 + 1]!;
      const lowChange = low ^ lowBefore;
      const highChange = high ^ highBefore;
      lowBefore = low;
      highBefore = high;
      for (let plane = 0; plane < 4; plane++) {
        bytes[at + plane * count] = highChange >>> (24 - plane * 8);
        bytes[at + (plane + 4) * count] = lowChange >>> (24 - plane * 8);
      }
    }
    out.at += count * 8;
  }

  #readPlanes(bytes: Uint8Array, values: Float64Array, into: number, count: number): void {
    this.#reserve(count);
    const wholes = this.#wholes;
    const halves = this.#halves;
    let low = 0;
    let high = 0;
    for (let i = 0; i < count; i++) {
      let lowChange = 0;
      let highChange = 0;
      for (let plane = 0; plane < 4; plane++) {
        highChange = (highChange << 8) | bytes[plane * count + i]!;
        lowChange = (lowChange << 8) | bytes[(plane + 4) * count + i]!;
      }
      low ^= lowChange;
      high ^= highChange;
      halves[i * 2] = low;
      halves[i * 2 + 1] = high;
    }
    values.set(wholes.subarray(0, count), into);
  }
}

function allAre(values: Float64Array, from: number, to: number, first: number): boolean {
  for (let i = from; i < to; i++) {
    if (values[i] !== first) {
      return false;
    }
  }
  // Zeros of both signs are equal, and distinguished by the planes.
  return first !== 0 || noZeroDiffers(values, from, to);
}

function noZeroDiffers(values: Float64Array, from: number, to: number): boolean {
  const sign = 1 / values[from]!;
  for (let i = from; i < to; i++) {
    if (1 / values[i]! !== sign) {
      return false;
    }
  }
  return true;
}

/** The fewest decimal places that write every value exactly; none when there is no such number, or a negative zero among them. */
function decimalPlaces(values: Float64Array, from: number, to: number): number | undefined {
  let places = 0;
  let power = 1;
  for (let i = from; i < to; i++) {
    const value = values[i]!;
    if (value === 0) {
      if (1 / value < 0) {
        return undefined;
      }
      continue;
    }
    while (Math.round(value * power) / power !== value) {
      if (places === maxPlaces) {
        return undefined;
      }
      power = powers[++places]!;
    }
  }
  return places;
}
