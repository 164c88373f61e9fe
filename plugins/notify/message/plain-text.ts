/** Matches invisible characters that change the direction of the surrounding text. */
const turns = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g;
/** Halves of characters, which no platform reads. */
const halves = /\p{Cs}/gu;

const shownOnly = (text: string): string => text.replaceAll(turns, '').replaceAll(halves, '\ufffd');

/** One line without control characters, of a bounded length. */
export function oneLine(text: string, most: number): string {
  const line = shownOnly(text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')).trim();
  return line.length > most ? `${cutAt(line, most - 1)}…` : line;
}

/** Lines may stay; other control characters may not. */
export const withoutControls = (text: string): string =>
  shownOnly(text.replaceAll(/[^\P{Cc}\n\t]/gu, ''));

export const withLink = (lines: readonly string[], link: string): readonly string[] =>
  link === '' ? lines : [...lines, link];

/** Truncates by UTF-16 units, without splitting a surrogate pair. */
function cutAt(text: string, most: number): string {
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most);
}
