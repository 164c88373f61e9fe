/** Returns a text from a server on one line, without characters that a terminal would obey. */
export const plain = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
