const simple: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ['\\', '\\'],
  ["'", "'"],
  ['"', '"'],
]);
const escape = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|([^]))/g;

/** The value of the inside of a Go string in double quotes; undefined when an escape is none. */
export function unquote(inside: string): string | undefined {
  if (!inside.includes('\\')) {
    return inside;
  }
  let bad = false;
  const value = inside.replace(escape, (_all, hex?: string, four?: string, eight?: string, octal?: string, letter?: string) => {
    const code = hex ?? four ?? eight;
    const point = code !== undefined ? Number.parseInt(code, 16) : octal !== undefined ? Number.parseInt(octal, 8) : undefined;
    const said = point === undefined ? simple.get(letter ?? '') : point <= 0x10ffff ? String.fromCodePoint(point) : undefined;
    bad ||= said === undefined;
    return said ?? '';
  });
  return bad ? undefined : value;
}

const named: ReadonlyMap<string, string> = new Map([...simple].filter(([letter]) => letter !== "'").map(([letter, value]) => [value, `\\${letter}`]));
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
  return point < 0x10000 ? `\\u${point.toString(16).padStart(4, '0')}` : `\\U${point.toString(16).padStart(8, '0')}`;
}
