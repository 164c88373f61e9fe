/** Which characters one place of a pattern takes: of ASCII one bit each, of the others all or none. */
export interface CharSet {
  readonly ascii: bigint;
  readonly others: boolean;
}

const all = (1n << 128n) - 1n;

export const anything: CharSet = { ascii: all, others: true };

export const setOf = (chars: string): CharSet => ({
  ascii: Array.from(chars).reduce((bits, char) => bits | (1n << BigInt(char.codePointAt(0)!)), 0n),
  others: false,
});

function range(first: string, last: string): bigint {
  let bits = 0n;
  for (let code = first.charCodeAt(0); code <= last.charCodeAt(0); code++) {
    bits |= 1n << BigInt(code);
  }
  return bits;
}

export const complement = ({ ascii, others }: CharSet): CharSet => ({
  ascii: all & ~ascii,
  others: !others,
});

export const areDisjoint = (a: CharSet, b: CharSet): boolean =>
  (a.ascii & b.ascii) === 0n && !(a.others && b.others);

const digit = range('0', '9');
const letters = range('a', 'z') | range('A', 'Z');
const escapes: Readonly<Record<string, bigint>> = {
  d: digit,
  w: digit | letters | (1n << 95n),
  s: setOf('\t\n\f\r ').ascii,
};

/** `\d`, `\W` and the like: of ASCII only, as RE2 has them. */
export function escapeOf(letter: string): CharSet | undefined {
  const bits = escapes[letter.toLowerCase()];
  if (bits === undefined) {
    return undefined;
  }
  const set = { ascii: bits, others: false };
  return letter === letter.toLowerCase() ? set : complement(set);
}

/**
 * Returns whether folding could enlarge it; a set of no letters, or of all characters except some
 * that are none, stays as it is.
 */
export const hasCase = (set: CharSet): boolean =>
  ((set.others ? complement(set) : set).ascii & letters) !== 0n;

const classItem =
  /\\([dsw])|(?:\\([^\w\s])|([!-,./:-@^-~0-9A-Z ]))(?:-(?:\\([^\w\s])|([!-,./:-@^-~0-9A-Z ])))?|(-)(?=$)/y;

/** A class in brackets that holds plain ASCII; undefined for any other. */
export function classOf(text: string): CharSet | undefined {
  const negated = text.startsWith('[^');
  const body = text.slice(negated ? 2 : 1, -1);
  let ascii = 0n;
  classItem.lastIndex = 0;
  while (classItem.lastIndex < body.length) {
    const item = classItem.exec(body);
    if (item === null) {
      return undefined;
    }
    const first = item[2] ?? item[3] ?? item[6];
    const last = item[4] ?? item[5] ?? first;
    if (item[1] === undefined && (first! > '~' || last! > '~' || first! > last!)) {
      return undefined;
    }
    ascii |= item[1] === undefined ? range(first!, last!) : escapes[item[1]]!;
  }
  const set = { ascii, others: false };
  return body === '' ? undefined : negated ? complement(set) : set;
}

/** Returns the set as a character class of the runtime's expressions. */
export function classText({ ascii, others }: CharSet): string {
  let text = '';
  for (let code = 0; code < 128; code++) {
    if ((ascii >> BigInt(code)) & 1n) {
      let last = code;
      while (last < 127 && (ascii >> BigInt(last + 1)) & 1n) {
        last++;
      }
      text += `${hex(code)}-${hex(last)}`;
      code = last;
    }
  }
  return `[${text}${others ? '\\u{80}-\\u{10ffff}' : ''}]`;
}

const hex = (code: number): string => `\\x${code.toString(16).padStart(2, '0')}`;
