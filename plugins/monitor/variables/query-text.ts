/** A stretch of a query: what a language reads as words, one literal with its quotes, or a comment. */
export interface Stretch {
  readonly kind: 'code' | 'literal' | 'comment';
  readonly text: string;
  /** A literal whose end is missing. */
  readonly open?: boolean;
}

const literals: Readonly<Record<string, RegExp>> = {
  '"': /"(?:[^"\\\n]|\\[^\n])*("?)/y,
  "'": /'(?:[^'\\\n]|\\[^\n])*('?)/y,
  '`': /`[^`]*(`?)/y,
};
const code = /[^"'`#]+/y;
const comment = /#[^\n]*/y;

/** Tells literals from code, as PromQL and LogQL both write them. */
export function stretchesOf(query: string): readonly Stretch[] {
  const found: Stretch[] = [];
  for (let at = 0; at < query.length;) {
    const opening = query[at]!;
    const form = literals[opening] ?? (opening === '#' ? comment : code);
    form.lastIndex = at;
    const match = form.exec(query)!;
    const kind = opening in literals ? 'literal' : opening === '#' ? 'comment' : 'code';
    found.push({
      kind,
      text: match[0],
      ...(kind === 'literal' && match[1] === '' && { open: true }),
    });
    at += match[0].length;
  }
  return found;
}

/** Halves of characters, which no encoding has, become the replacement character. */
export const wellFormed = (text: string): string => Buffer.from(text).toString();

const shortEscapes: Readonly<Record<string, string>> = {
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\\': '\\\\',
};

/** Escapes `text` for a literal with these quotes, such that it can never end it. */
export function escapedFor(quote: '"' | "'", text: string): string {
  let out = '';
  for (const character of wellFormed(text)) {
    const point = character.codePointAt(0)!;
    out +=
      shortEscapes[character] ??
      (character === quote
        ? `\\${quote}`
        : point < 0x20 || (point >= 0x7f && point < 0xa0)
          ? `\\u${point.toString(16).padStart(4, '0')}`
          : character);
  }
  return out;
}

/** `text` as a regular expression that matches it and nothing else. */
export const escapedForRegex = (text: string): string =>
  text.replaceAll(/[!-/:-@[-^`{-~]/g, '\\$&');
