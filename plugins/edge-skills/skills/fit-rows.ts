/** Max size of one answer in rows or text; the surrounding frame and other fields come on top. */
export const maxAnswerBytes = 160 * 1024;

/** Returns as many of the first rows as fit. */
export function fitRows<T>(rows: readonly T[], most = maxAnswerBytes): readonly T[] {
  let bytes = 0;
  const end = rows.findIndex((row) => (bytes += Buffer.byteLength(JSON.stringify(row)) + 1) > most);
  return end === -1 ? rows : rows.slice(0, end);
}

/** A foreign text as it may be shown: on as many lines as it has, no character that moves a cursor. */
export const plainText = (text: string): string =>
  text.replaceAll(/(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '�');
