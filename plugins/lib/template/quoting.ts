/**
 * Escapes of one letter, with their characters; a quote may be escaped only between quotes of the
 * same kind.
 */
const letters: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ['\\', '\\'],
]);
const coded = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3}))/y;

export interface Escape {
  readonly value: number;
  /** True if the value is a byte; otherwise it is a character. */
  readonly isByte: boolean;
  /** Position at which the text continues. */
  readonly end: number;
}

/** Returns the value of the escape whose backslash is here; undefined if Go has no such escape. */
export function escapeAt(text: string, at: number, quote = '"'): Escape | undefined {
  const letter = text[at + 1] ?? '';
  const plain = letter === quote ? quote : letters.get(letter);
  if (plain !== undefined) {
    return { value: plain.charCodeAt(0), isByte: false, end: at + 2 };
  }
  coded.lastIndex = at;
  const found = coded.exec(text);
  if (found === null) {
    return undefined;
  }
  const [whole, hex, short, long, octal] = found;
  const value =
    octal === undefined ? Number.parseInt((hex ?? short ?? long)!, 16) : Number.parseInt(octal, 8);
  const isByte = hex !== undefined || octal !== undefined;
  const isValid = isByte ? value <= 0xff : value <= 0x10ffff && (value < 0xd800 || value > 0xdfff);
  return isValid ? { value, isByte, end: at + whole.length } : undefined;
}

/**
 * Returns the bytes inside a Go string between these quotes; undefined if Go has no such escape.
 */
export function unquoteBytes(inside: string, quote = '"'): Buffer | undefined {
  const parts: Buffer[] = [];
  let from = 0;
  for (let at = inside.indexOf('\\'); at >= 0; at = inside.indexOf('\\', from)) {
    const escape = escapeAt(inside, at, quote);
    if (escape === undefined) {
      return undefined;
    }
    parts.push(
      Buffer.from(inside.slice(from, at)),
      escape.isByte ? Buffer.of(escape.value) : Buffer.from(String.fromCodePoint(escape.value)),
    );
    from = escape.end;
  }
  parts.push(Buffer.from(inside.slice(from)));
  return Buffer.concat(parts);
}

/** The same as text; bytes that are no UTF-8 become replacement characters. */
export function unquote(inside: string, quote = '"'): string | undefined {
  return inside.includes('\\') ? unquoteBytes(inside, quote)?.toString('utf8') : inside;
}

/** The character of the inside of a Go character constant, whose numbers are characters, not bytes. */
export function unquoteChar(inside: string): string | undefined {
  if (!inside.startsWith('\\')) {
    return inside;
  }
  const escape = escapeAt(inside, 0, "'");
  return escape?.end === inside.length ? String.fromCodePoint(escape.value) : undefined;
}

const named: ReadonlyMap<string, string> = new Map(
  [...letters, ['"', '"']].map(([letter, value]) => [value!, `\\${letter}`]),
);
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const unprintable = /["\\]|[\x00-\x1f\x7f-\xa0\xad\u2028\u2029\ufeff]|\p{Cs}|\p{Cn}/gu;

/** The text as Go's `%q` writes it. */
export function quote(text: string): string {
  return `"${text.replace(unprintable, (char) => named.get(char) ?? escaped(char.codePointAt(0)!))}"`;
}

function escaped(point: number): string {
  if (point < 0x80) {
    return `\\x${point.toString(16).padStart(2, '0')}`;
  }
  return point < 0x10000
    ? `\\u${point.toString(16).padStart(4, '0')}`
    : `\\U${point.toString(16).padStart(8, '0')}`;
}

const entities: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&#34;'],
  ["'", '&#39;'],
  ['\0', '\ufffd'],
]);

/** Escapes a text for HTML, within an element or a quoted attribute. */
export const escapedHtml = (text: string): string =>
  text.replace(/[&<>"'\0]/g, (char) => entities.get(char)!);
