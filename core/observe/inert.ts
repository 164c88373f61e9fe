/**
 * Matches characters that a terminal obeys or that hide their neighbours: C0 and C1 controls,
 * delete, line and paragraph separators, bidirectional and zero-width marks.
 */
// oxlint-disable-next-line no-control-regex -- these are the very characters to find
const active = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/**
 * `text` on one line that no terminal acts upon: active characters are shown as `\u001b`. A line of JSON stays
 * the same JSON, because there they can only stand inside strings, where that is their own escape.
 */
export const inert = (text: string): string =>
  text.replace(
    active,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
