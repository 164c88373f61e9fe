import { Cursor, cutShort, type Scratch } from './scratch.ts';

/**
 * A run of whole numbers (each below 2^52 in size) as zigzag varints; zeros, the most frequent, as runs: a zero byte, then how many more follow.
 * The general purpose compression behind it does the rest.
 */
export function writeWholeNumbers(
  out: Scratch,
  numbers: Float64Array,
  from: number,
  to: number,
): void {
  out.ensure((to - from) * 9 + 9);
  const { bytes } = out;
  let { at } = out;
  for (let i = from; i < to; i++) {
    const number = numbers[i]!;
    if (number === 0) {
      const begin = i;
      while (i + 1 < to && numbers[i + 1] === 0) {
        i++;
      }
      bytes[at++] = 0;
      let more = i - begin;
      while (more >= 128) {
        bytes[at++] = (more & 127) | 128;
        more >>>= 7;
      }
      bytes[at++] = more;
      continue;
    }
    if (number < 0x4000_0000 && number > -0x4000_0000) {
      let rest = (number << 1) ^ (number >> 31);
      while (rest >= 128) {
        bytes[at++] = (rest & 127) | 128;
        rest >>>= 7;
      }
      bytes[at++] = rest;
    } else {
      let rest = number < 0 ? -2 * number - 1 : 2 * number;
      while (rest >= 128) {
        bytes[at++] = (rest % 128) | 128;
        rest = Math.floor(rest / 128);
      }
      bytes[at++] = rest;
    }
  }
  out.at = at;
}

/** Fills `numbers` from `from` up to `to` and answers with where it stopped reading. */
export function readWholeNumbers(
  bytes: Uint8Array,
  begin: number,
  end: number,
  numbers: Float64Array,
  from: number,
  to: number,
): number {
  let at = begin;
  let i = from;
  while (i < to) {
    if (at >= end) {
      throw cutShort();
    }
    const first = bytes[at++]!;
    if (first === 0) {
      let more = 0;
      let shift = 0;
      let byte: number;
      do {
        if (at >= end || shift > 28) {
          throw cutShort();
        }
        byte = bytes[at++]!;
        more |= (byte & 127) << shift;
        shift += 7;
      } while (byte >= 128);
      const until = i + more + 1;
      if (until > to || until <= i) {
        throw cutShort();
      }
      numbers.fill(0, i, until);
      i = until;
    } else if (first < 128) {
      numbers[i++] = (first >>> 1) ^ -(first & 1);
    } else if (at < end && bytes[at]! < 128) {
      const coded = (first & 127) | (bytes[at++]! << 7);
      numbers[i++] = (coded >>> 1) ^ -(coded & 1);
    } else {
      let coded = first & 127;
      let factor = 128;
      for (;;) {
        if (at >= end || factor > 2 ** 56) {
          throw cutShort();
        }
        const byte = bytes[at++]!;
        coded += (byte & 127) * factor;
        if (byte < 128) {
          break;
        }
        factor *= 128;
      }
      numbers[i++] = coded % 2 === 0 ? coded / 2 : -(coded + 1) / 2;
    }
  }
  return at;
}

/**
 * Fills `values` with the running sums of numbers, or, `twice`, with the sums of those, divided by `power`; the first number is the
 * first sum. One loop, since most of what is read goes through it.
 */
export function readSums(
  bytes: Uint8Array,
  begin: number,
  end: number,
  values: Float64Array,
  from: number,
  to: number,
  power: number,
  twice: boolean,
): void {
  let at = begin;
  let i = from;
  let sum = 0;
  let delta = 0;
  while (i < to) {
    if (at >= end) {
      throw cutShort();
    }
    const first = bytes[at++]!;
    let number: number;
    let repeats = 1;
    if (first === 0) {
      number = 0;
      if (at < end && bytes[at]! < 128) {
        repeats += bytes[at++]!;
      } else {
        const cursor = new Cursor(bytes, at, end);
        repeats += cursor.uvarint();
        at = cursor.at;
      }
      if (repeats > to - i) {
        throw cutShort();
      }
    } else if (first < 128) {
      number = (first >>> 1) ^ -(first & 1);
    } else if (at < end && bytes[at]! < 128) {
      const coded = (first & 127) | (bytes[at++]! << 7);
      number = (coded >>> 1) ^ -(coded & 1);
    } else if (at + 1 < end && bytes[at + 1]! < 128) {
      const coded = (first & 127) | ((bytes[at]! & 127) << 7) | (bytes[at + 1]! << 14);
      at += 2;
      number = (coded >>> 1) ^ -(coded & 1);
    } else {
      const cursor = new Cursor(bytes, at - 1, end);
      number = cursor.svarint();
      at = cursor.at;
    }
    if (!twice) {
      sum += number;
      const value = sum / power;
      for (; repeats > 0; repeats--) {
        values[i++] = value;
      }
    } else {
      for (; repeats > 0; repeats--) {
        // The first number is a value, not a change of one.
        if (i === from) {
          sum = number;
        } else {
          delta += number;
          sum += delta;
        }
        values[i++] = sum / power;
      }
    }
  }
}

/** Roughly the bytes a number takes as varint; zeros are nearly free. */
export function weightOf(number: number): number {
  const size = number < 0 ? -number : number;
  return size === 0
    ? 0.1
    : size < 64
      ? 1
      : size < 8_192
        ? 2
        : size < 1_048_576
          ? 3
          : size < 134_217_728
            ? 4
            : 6;
}
