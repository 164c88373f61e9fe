/** Characters that escapes stand for, by letter; 0 means no escape. */
export const escapes = new Uint8Array(256);
for (const [letter, char] of Object.entries({
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
})) {
  escapes[letter.charCodeAt(0)] = char.charCodeAt(0);
}

/** Four hexadecimal digits; -1 when they are not. */
export function unitAt(bytes: Uint8Array, from: number, end: number): number {
  if (from + 4 > end) {
    return -1;
  }
  let unit = 0;
  for (let i = from; i < from + 4; i++) {
    const byte = bytes[i]!;
    const letter = byte | 0x20;
    const digit =
      byte >= 0x30 && byte <= 0x39
        ? byte - 0x30
        : letter >= 0x61 && letter <= 0x66
          ? letter - 0x57
          : -1;
    if (digit === -1) {
      return -1;
    }
    unit = unit * 16 + digit;
  }
  return unit;
}

/** Encodes a character as UTF-8; returns the end position. */
export function encode(unit: number, into: Uint8Array, at: number): number {
  if (unit < 0x80) {
    into[at] = unit;
    return at + 1;
  }
  if (unit < 0x800) {
    into[at] = 0xc0 | (unit >> 6);
    into[at + 1] = 0x80 | (unit & 63);
    return at + 2;
  }
  into[at] = 0xe0 | (unit >> 12);
  into[at + 1] = 0x80 | ((unit >> 6) & 63);
  into[at + 2] = 0x80 | (unit & 63);
  return at + 3;
}

/**
 * Returns which of four bytes end a run of plain text: the quote, the backslash, and those below
 * the space. The lowest bit that is set is the highest one of the first such byte; bits above it
 * are meaningless.
 */
export function specials(word: number): number {
  // The quote becomes 0x20, next to what is below the space.
  const low = word ^ 0x02020202;
  const backslashes = word ^ 0x5c5c5c5c;
  return (((low - 0x21212121) & ~low) | ((backslashes - 0x01010101) & ~backslashes)) & 0x80808080;
}

/** Returns how many of four bytes precede the first such byte. */
export const plainIn = (found: number): number =>
  found === 0 ? 4 : (31 - Math.clz32(found & -found)) >> 3;
