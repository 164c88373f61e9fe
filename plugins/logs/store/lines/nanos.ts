export interface Nanos {
  readonly ms: number;
  /** 0 to 999,999: nanoseconds beyond the millisecond, also before 1970. */
  readonly ns: number;
}

/** Reads decimal nanoseconds; undefined when the text is no number of 64 bits. */
export function parseNanos(text: string): Nanos | undefined {
  const negative = text.charCodeAt(0) === 0x2d;
  const start = negative ? 1 : 0;
  const end = text.length;
  if (end <= start || end - start > 19) {
    return undefined;
  }
  const split = Math.max(start, end - 6);
  let ms = 0;
  let ns = 0;
  for (let at = start; at < end; at++) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) {
      return undefined;
    }
    if (at < split) {
      ms = ms * 10 + digit;
    } else {
      ns = ns * 10 + digit;
    }
  }
  if (ms > maxMs) {
    return undefined;
  }
  return !negative
    ? { ms, ns }
    : ns === 0
      ? { ms: 0 - ms, ns }
      : { ms: -ms - 1, ns: 1_000_000 - ns };
}

/** Signed nanoseconds of 64 bits reach to the year 2262. */
export const maxMs = 9_223_372_036_854;

/** Formats decimal nanoseconds for answers. */
export function nanosText({ ms, ns }: Nanos): string {
  if (ms < 0) {
    return String(BigInt(ms) * 1_000_000n + BigInt(ns));
  }
  return ms === 0 ? String(ns) : `${ms}${String(ns).padStart(6, '0')}`;
}

export const compareNanos = (a: Nanos, b: Nanos): number => a.ms - b.ms || a.ns - b.ns;

/** Returns the number in four bytes; -1 if they are not digits. */
export function fourDigits(word: number): number {
  const digits = word ^ 0x30303030;
  if (((digits | (digits + 0x76767676)) & 0x80808080) !== 0) {
    return -1;
  }
  const pairs = (digits * 10 + (digits >> 8)) & 0x00ff00ff;
  return (pairs & 0xff) * 100 + (pairs >> 16);
}

export function number(bytes: Uint8Array, from: number, end: number): number {
  let value = 0;
  for (let at = from; at < end; at++) {
    value = value * 10 + bytes[at]! - 0x30;
  }
  return value;
}

export function lengthOfDigits(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && bytes[at]! >= 0x30 && bytes[at]! <= 0x39) {
    at++;
  }
  return at - from;
}
