/** Numbers as text, the way the services that are written in Go print and read them. */

/** Shortest text that reads back as the same number; `1e-07`, `1e+21`, `+Inf`, `-Inf`, `NaN`. */
export function formatFloat(value: number): string {
  if (value === 0) {
    return Object.is(value, -0) ? '-0' : '0';
  }
  if (!Number.isFinite(value)) {
    return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  }
  const text = String(value);
  // Only below 1e-6 does JavaScript write an exponent of one digit.
  return text.at(-3) === 'e' && text.at(-2) === '-' ? `${text.slice(0, -1)}0${text.at(-1)}` : text;
}

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const hexadecimal = /^([+-]?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?\d+)$/;
const special = /^([+-]?)(?:(inf|infinity)|nan)$/i;

/** Parses a number in Go's syntax; undefined if it is invalid, or too large. */
export function parseFloatGo(text: string): number | undefined {
  const digits = text.includes('_') ? withoutUnderscores(text) : text;
  if (digits === undefined) {
    return undefined;
  }
  if (decimal.test(digits)) {
    const value = Number(digits);
    return Number.isFinite(value) ? value : undefined;
  }
  const word = special.exec(digits);
  if (word !== null) {
    return word[2] === undefined
      ? word[1] === ''
        ? NaN
        : undefined
      : word[1] === '-'
        ? -Infinity
        : Infinity;
  }
  const hex = hexadecimal.exec(digits);
  return hex === null
    ? undefined
    : hexadecimalFloat(hex[1] === '-' ? -1 : 1, hex[2]!, hex[3]!, Number(hex[4]));
}

/**
 * Removes underscores, which are allowed between two digits, or between a base prefix and a digit.
 */
function withoutUnderscores(text: string): string | undefined {
  return /(?:^|[^0-9a-fA-FxX])_|_(?:$|[^0-9a-fA-F])/.test(text) || /^[+-]?[^0]*[xX]_/.test(text)
    ? undefined
    : text.replaceAll('_', '');
}

/** Rounded once: the digits beyond what a double holds only count as "more than half". */
function hexadecimalFloat(
  sign: number,
  whole: string,
  fraction: string,
  exponent: number,
): number | undefined {
  const digits = `${whole}${fraction}`;
  if (digits === '') {
    return undefined;
  }
  let mantissa = BigInt(`0x${digits}`);
  if (mantissa === 0n) {
    return sign < 0 ? -0 : 0;
  }
  let scale = exponent - 4 * fraction.length;
  const bits = mantissa.toString(2).length;
  const lowest = Math.max(scale + bits - 53, -1074);
  const drop = lowest - scale;
  if (drop > bits + 1) {
    return sign < 0 ? -0 : 0;
  }
  if (drop > 0) {
    const shift = BigInt(drop);
    const rest = mantissa & ((1n << shift) - 1n);
    const half = 1n << (shift - 1n);
    mantissa >>= shift;
    scale += drop;
    if (rest > half || (rest === half && (mantissa & 1n) === 1n)) {
      mantissa += 1n;
    }
  }
  // In two steps, because 2 ** scale alone may leave the range of a double; both are exact.
  const near = Math.max(-1000, Math.min(900, scale));
  const value = sign * Number(mantissa) * 2 ** near * 2 ** (scale - near);
  return Number.isFinite(value) ? value : undefined;
}

/** A sum that carries along what rounding took away (Neumaier's form). */
export class CompensatedSum {
  total = 0;
  lost = 0;

  reset(total = 0, lost = 0): void {
    this.total = total;
    this.lost = lost;
  }

  add(value: number): void {
    const before = this.total;
    const total = before + value;
    if (total === Infinity || total === -Infinity) {
      this.lost = 0;
    } else if (Math.abs(before) >= Math.abs(value)) {
      this.lost += before - total + value;
    } else {
      this.lost += value - total + before;
    }
    this.total = total;
  }

  get value(): number {
    return this.total === Infinity || this.total === -Infinity
      ? this.total
      : this.total + this.lost;
  }
}
