/** What a process calls itself, as it may be shown: no character that moves a cursor or ends a line. */
export const plainName = (name: string): string =>
  name.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?');
