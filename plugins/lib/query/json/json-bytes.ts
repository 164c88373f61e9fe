import { formatFloat } from './numbers.ts';
import { writeShortDecimal } from './short-decimal.ts';

const quote = 0x22;
const zero = 0x30;
const dot = 0x2e;
const minus = 0x2d;
const backslash = 0x5c;
const newline = 0x0a;
/** `"]` */
const closingPoint = 0x225d;
const longestLoop = 40;
const longestPass = 4096;

/** Bytes that are copied at once. */
const word = 4;

/** The text before each value of some points, in `words` of them each, of which the last may not be full. */
interface Stamps {
  readonly times: Float64Array;
  readonly view: DataView;
  readonly lengths: Uint8Array;
  readonly words: number;
}

/** JSON written straight into bytes: an answer of a million numbers never exists as text. */
export class JsonBytes {
  #bytes: Buffer;
  #view: DataView;
  #length = 0;
  #stamps: Stamps | undefined;

  constructor(capacity = 4096) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity);
    this.#view = viewOf(this.#bytes);
  }

  get length(): number {
    return this.#length;
  }

  /** Text that is JSON already. */
  raw(text: string): this {
    this.#reserve(text.length * 3);
    return this.#plain(text) ? this : this.#native(text);
  }

  /** Bytes that are JSON already, such as a label set that was written once before. */
  rawBytes(json: Uint8Array): this {
    this.#reserve(json.length);
    this.#bytes.set(json, this.#length);
    this.#length += json.length;
    return this;
  }

  /** A string with its quotes. */
  string(text: string): this {
    this.#reserve(text.length * 2 + 2);
    return this.#quoted(text) ? this : this.#native(escaped(text));
  }

  /** An object of strings, such as a label set; names and values by turns. */
  pairs(words: readonly string[]): this {
    this.raw('{');
    for (let i = 0; i < words.length; i += 2) {
      this.raw(i === 0 ? '' : ',')
        .string(words[i]!)
        .raw(':')
        .string(words[i + 1]!);
    }
    return this.raw('}');
  }

  /** A number; null where JSON has none for it. */
  number(value: number): this {
    if (!Number.isFinite(value)) {
      return this.raw('null');
    }
    this.#reserve(32);
    this.#digits(value);
    return this;
  }

  /** A sample value: a string, because JSON has no NaN and no infinity. */
  value(value: number): this {
    this.#reserve(34);
    this.#bytes[this.#length++] = quote;
    this.#digits(value);
    this.#bytes[this.#length++] = quote;
    return this;
  }

  /** Seconds with three decimals, or without any where they are zero. */
  timestampSeconds(ms: number): this {
    this.#reserve(32);
    let whole = Math.round(ms);
    if (whole < 0) {
      this.#bytes[this.#length++] = minus;
      whole = -whole;
    }
    const seconds = Math.floor(whole / 1000);
    const rest = whole - seconds * 1000;
    this.#whole(seconds);
    if (rest !== 0) {
      this.#bytes[this.#length++] = dot;
      this.#padded(rest, 3);
    }
    return this;
  }

  /** `[[seconds,"value"],…]`: series that share one array of times share the text of it, too. */
  points(times: Float64Array, values: Float64Array): this {
    const { view: stamps, lengths, words } = this.#stampsOf(times);
    const { length } = times;
    this.raw('[');
    this.#reserve(length * (words * word + 32) + 32);
    const out = this.#view;
    let at = this.#length;
    for (let i = 0, from = 0; i < length; i++) {
      for (let copied = 0; copied < words; copied++, from += word) {
        out.setUint32(at + copied * word, stamps.getUint32(from));
      }
      at += lengths[i]!;
      const value = values[i]!;
      let end = writeShortDecimal(out, at, value);
      if (end === -1) {
        this.#length = at;
        this.#digits(value);
        end = this.#length;
      }
      out.setUint16(end, closingPoint);
      at = end + 2;
    }
    this.#length = at;
    return this.raw(']');
  }

  /** Returns the output without a copy; the writer must not be used afterwards. */
  finish(): Uint8Array<ArrayBuffer> {
    const { buffer } = this.#bytes;
    const bytes = new Uint8Array(buffer as ArrayBuffer, 0, this.#length);
    this.#bytes = Buffer.alloc(0);
    this.#view = viewOf(this.#bytes);
    this.#length = 0;
    this.#stamps = undefined;
    return bytes;
  }

  /** Returns the text between the values of points: `[1.5,"` and then `,[2,"`. */
  #stampsOf(times: Float64Array): Stamps {
    if (this.#stamps !== undefined && sameNumbers(this.#stamps.times, times)) {
      return this.#stamps;
    }
    const json = new JsonBytes(times.length * 20 + 64);
    const lengths = new Uint8Array(times.length);
    for (let i = 0; i < times.length; i++) {
      const begin = json.#length;
      json
        .raw(i === 0 ? '[' : ',[')
        .timestampSeconds(times[i]!)
        .raw(',"');
      lengths[i] = json.#length - begin;
    }
    const words = Math.ceil(lengths.reduce((most, length) => Math.max(most, length), 0) / word);
    const spread = new Uint8Array(times.length * words * word);
    for (let i = 0, from = 0; i < times.length; from += lengths[i++]!) {
      spread.set(json.#bytes.subarray(from, from + lengths[i]!), i * words * word);
    }
    this.#stamps = { times, lengths, words, view: viewOf(spread) };
    return this.#stamps;
  }

  #digits(value: number): void {
    const magnitude = Math.abs(value);
    if (magnitude < 1e15 && Number.isInteger(value) && value !== 0) {
      this.#sign(value);
      this.#whole(magnitude);
      return;
    }
    if (value === 0 && 1 / value > 0) {
      this.#bytes[this.#length++] = zero;
      return;
    }
    const end = writeShortDecimal(this.#view, this.#length, value);
    if (end !== -1) {
      this.#length = end;
      return;
    }
    this.#plain(formatFloat(value));
  }

  #native(text: string): this {
    this.#reserve(text.length * 3 + 1);
    this.#length += this.#bytes.write(text, this.#length, 'utf8');
    return this;
  }

  /** Writes ASCII text in one pass; writes nothing if it is anything else. */
  #quoted(text: string): boolean {
    const { length } = text;
    if (length > longestPass) {
      return false;
    }
    const bytes = this.#bytes;
    let at = this.#length;
    bytes[at++] = quote;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7e || code < 0x20) {
        if (code !== newline) {
          return false;
        }
        bytes[at++] = backslash;
        bytes[at++] = 0x6e;
        continue;
      }
      if (code === quote || code === backslash) {
        bytes[at++] = backslash;
      }
      bytes[at++] = code;
    }
    bytes[at] = quote;
    this.#length = at + 1;
    return true;
  }

  /**
   * Writes short ASCII text, for which a loop is faster than a call into the runtime; writes
   * nothing if it is anything else.
   */
  #plain(text: string): boolean {
    const { length } = text;
    if (length > longestLoop) {
      return false;
    }
    const bytes = this.#bytes;
    const start = this.#length;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) {
        return false;
      }
      bytes[start + i] = code;
    }
    this.#length = start + length;
    return true;
  }

  #sign(value: number): void {
    if (value < 0) {
      this.#bytes[this.#length++] = minus;
    }
  }

  /** Digits of a whole number below 2^53. */
  #whole(value: number): void {
    let rest = value;
    if (rest >= 1e9) {
      const high = Math.floor(rest / 1e9);
      this.#whole(high);
      this.#padded(rest - high * 1e9, 9);
      return;
    }
    rest |= 0;
    const width = widthOf(rest);
    this.#padded(rest, width);
  }

  #padded(value: number, width: number): void {
    const bytes = this.#bytes;
    let rest = value | 0;
    const start = this.#length;
    for (let at = start + width - 1; at >= start; at--) {
      const tenth = (rest / 10) | 0;
      bytes[at] = zero + rest - tenth * 10;
      rest = tenth;
    }
    this.#length = start + width;
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed > this.#bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
      this.#bytes.copy(grown, 0, 0, this.#length);
      this.#bytes = grown;
      this.#view = viewOf(grown);
    }
  }
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

/** JSON allows the two line breaks of Unicode in a string, a script does not. */
function escaped(text: string): string {
  const json = JSON.stringify(text);
  return /[\u2028\u2029]/.test(json)
    ? json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
    : json;
}

function sameNumbers(a: Float64Array, b: Float64Array): boolean {
  if (a === b || a.length !== b.length) {
    return a === b;
  }
  for (let i = 0; i < a.length; i++) {
    if (a[i] !== b[i]) {
      return false;
    }
  }
  return true;
}

function widthOf(value: number): number {
  if (value < 1e5) {
    return value < 1e2 ? (value < 1e1 ? 1 : 2) : value < 1e3 ? 3 : value < 1e4 ? 4 : 5;
  }
  return value < 1e7 ? (value < 1e6 ? 6 : 7) : value < 1e8 ? 8 : 9;
}
