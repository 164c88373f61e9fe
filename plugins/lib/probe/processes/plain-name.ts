/**
 * Returns a process name that is safe to show: without characters that move a cursor or end a line.
 */
export const plainName = (name: string): string =>
  name.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?');
