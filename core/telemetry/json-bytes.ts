import { formatFloat } from './numbers.ts';

const quote = 0x22;
const zero = 0x30;
const dot = 0x2e;
const minus = 0x2d;

/** Beside what may stand in a JSON string as it is: quotes, control characters, what breaks a line of script, surrogates. */
const special = /[^ !#-[\]-\u2027\u202a-\ud7ff\ue000-\uffff]/;

/** JSON written straight into bytes: an answer of a million numbers never exists as text. */
export class JsonBytes {
  #bytes: Buffer;
  #length = 0;

  constructor(capacity = 4096) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity);
  }

  get length(): number {
    return this.#length;
  }

  /** Text that is JSON already. */
  raw(text: string): this {
    const { length } = text;
    this.#reserve(length * 3);
    if (length < 16) {
      const bytes = this.#bytes;
      const start = this.#length;
      for (let i = 0; i < length; i++) {
        const code = text.charCodeAt(i);
        if (code > 0x7f) {
          this.#length = start + bytes.write(text, start, 'utf8');
          return this;
        }
        bytes[start + i] = code;
      }
      this.#length = start + length;
      return this;
    }
    this.#length += this.#bytes.write(text, this.#length, 'utf8');
    return this;
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
    if (special.test(text)) {
      return this.raw(JSON.stringify(text).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029'));
    }
    this.#reserve(2);
    this.#bytes[this.#length++] = quote;
    this.raw(text);
    this.#reserve(1);
    this.#bytes[this.#length++] = quote;
    return this;
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

  /** What was written, without a copy: the writer is not used again. */
  finish(): Uint8Array<ArrayBuffer> {
    const { buffer } = this.#bytes;
    const bytes = new Uint8Array(buffer as ArrayBuffer, 0, this.#length);
    this.#bytes = Buffer.alloc(0);
    this.#length = 0;
    return bytes;
  }

  #digits(value: number): void {
    const magnitude = Math.abs(value);
    if (magnitude < 1e15 && Number.isInteger(value) && value !== 0) {
      this.#sign(value);
      this.#whole(magnitude);
      return;
    }
    if (magnitude >= 1e-3 && magnitude < 1e9) {
      const scaled = this.#scale(magnitude);
      if (scaled !== 0) {
        this.#sign(value);
        this.#decimal(scaled < 0 ? -scaled : scaled, scaled < 0 ? 3 : 6);
        return;
      }
    }
    this.#length += this.#bytes.write(formatFloat(value), this.#length, 'latin1');
  }

  /**
   * The digits of a short decimal: times 1,000 (negative) or times 1,000,000 (positive); 0 where it is not short.
   * Dividing by a power of ten rounds correctly, so what divides back to the same number is a decimal that reads as it,
   * and below 2^53/10 there is no other of as few digits.
   */
  #scale(magnitude: number): number {
    const thousandths = Math.round(magnitude * 1e3);
    if (thousandths / 1e3 === magnitude) {
      return -thousandths;
    }
    const millionths = Math.round(magnitude * 1e6);
    return millionths / 1e6 === magnitude ? millionths : 0;
  }

  #sign(value: number): void {
    if (value < 0) {
      this.#bytes[this.#length++] = minus;
    }
  }

  #decimal(scaled: number, places: number): void {
    const unit = places === 3 ? 1e3 : 1e6;
    const whole = Math.floor(scaled / unit);
    this.#whole(whole);
    let rest = scaled - whole * unit;
    let width = places;
    while (rest % 10 === 0) {
      rest /= 10;
      width--;
    }
    this.#bytes[this.#length++] = dot;
    this.#padded(rest, width);
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
    }
  }
}

function widthOf(value: number): number {
  if (value < 1e5) {
    return value < 1e2 ? (value < 1e1 ? 1 : 2) : value < 1e3 ? 3 : value < 1e4 ? 4 : 5;
  }
  return value < 1e7 ? (value < 1e6 ? 6 : 7) : value < 1e8 ? 8 : 9;
}
