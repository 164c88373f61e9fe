/** Operators on two numbers, where they differ from those of this language only at the edges. */

/** 1 to the anything is 1, and so is -1 to an infinity. */
export const power = (a: number, b: number): number =>
  a === 1 || (a === -1 && !Number.isFinite(b) && !Number.isNaN(b)) ? 1 : a ** b;

/** Returns the greater number; an infinity wins over NaN. */
export const greater = (a: number, b: number): number =>
  a === Infinity || b === Infinity ? Infinity : Math.max(a, b);
export const lesser = (a: number, b: number): number =>
  a === -Infinity || b === -Infinity ? -Infinity : Math.min(a, b);

export const arithmetic: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
  '^': power,
  atan2: Math.atan2,
};

export const comparisons: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

/** Compares numbers in the direction of `sign`, with NaN last. */
export function compareNumbers(a: number, b: number, sign: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) {
    return Number.isNaN(a) ? (Number.isNaN(b) ? 0 : 1) : -1;
  }
  return a === b ? 0 : a < b ? -sign : sign;
}
