/** Levels that a line may name; the last one is for lines that name none. */
export const levelNames = [
  'trace',
  'debug',
  'info',
  'warn',
  'error',
  'critical',
  'fatal',
  'unknown',
] as const;

const unknown = levelNames.indexOf('unknown');

/** The level that a line names, as `detectedLevel` of the query language reads it from text. */
export const levelInLine = (bytes: Uint8Array, from: number, end: number): string =>
  levelNames[levelOfLine(bytes, wordsOf(bytes), from, end)]!;

/** The same bytes, four at a time. */
export const wordsOf = ({ buffer, byteOffset, length }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, length);

/**
 * The same as an index into `levelNames`, in one pass over the bytes and without making a text of any of them: it runs over
 * everything that is ever pushed.
 */
export function levelOfLine(bytes: Uint8Array, words: DataView, from: number, end: number): number {
  const to = Math.min(end, from + readFor);
  const json = bytes[pastSpace(bytes, from, to, to)] === 0x7b;
  let word = unknown;
  let field = true;
  for (
    let start = nextStart(bytes, words, from, from, to);
    start < to;
    start = nextStart(bytes, words, from, start + 1, to)
  ) {
    let at = start;
    while (at < to && folded[bytes[at]!] !== 0) {
      at++;
    }
    const name = nameAt(bytes, start, at);
    if (name === undefined) {
      continue;
    }
    if (word === unknown && name.isWord) {
      word = name.level;
    }
    if (field && name.isKey) {
      const value = json
        ? valueInJson(bytes, from, start, at, to)
        : valueInLogfmt(bytes, from, start, at, to);
      if (value !== undefined && (json || name.text !== severityText)) {
        const level = nameAt(bytes, value.from, value.to)?.level ?? unknown;
        if (level !== unknown) {
          return level;
        }
        field = false;
      }
    }
  }
  return word;
}

/**
 * Returns the next word start at or after `after` whose two letters begin a level name; `to` if
 * there is none.
 */
function nextStart(
  bytes: Uint8Array,
  words: DataView,
  from: number,
  after: number,
  to: number,
): number {
  let at = after;
  // Every other pair is enough: it holds either the first two of the first three letters of a name, or the last two.
  for (; at + 8 <= to; at += 8) {
    const first = words.getInt32(at, true) & 0x5f5f5f5f;
    const second = words.getInt32(at + 4, true) & 0x5f5f5f5f;
    if (
      (within[first & 0xffff]! |
        within[first >>> 16]! |
        within[second & 0xffff]! |
        within[second >>> 16]!) !==
      0
    ) {
      const start = startIn(bytes, from, Math.max(after, at - 1), Math.min(at + 7, to - 1));
      if (start !== -1) {
        return start;
      }
    }
  }
  const start = startIn(bytes, from, Math.max(after, at - 1), to - 1);
  return start === -1 ? to : start;
}

/**
 * Returns the first of some positions at which a word begins like a level name; -1 if there is
 * none.
 */
function startIn(bytes: Uint8Array, from: number, first: number, end: number): number {
  for (let at = first; at < end; at++) {
    if (
      begins[slotOf(bytes[at]!, bytes[at + 1]!)]! !== 0 &&
      (at === from || folded[bytes[at - 1]!] === 0)
    ) {
      return at;
    }
  }
  return -1;
}

const readFor = 2_048;
const severityText = 'severity_text';

/** Lower-case letters, digits and `_` by byte, and 0 for anything that is in no word. */
const folded = new Uint8Array(256);
for (const char of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_') {
  folded[char.charCodeAt(0)] = char.toLowerCase().charCodeAt(0);
}

interface Name {
  readonly text: string;
  readonly bytes: Uint8Array;
  /** Level it stands for as the value of a field. */
  readonly level: number;
  /** True if it states the level wherever it occurs. */
  readonly isWord: boolean;
  /** True if the level follows it. */
  readonly isKey: boolean;
}

const words = ['trace', 'debug', 'info', 'warn', 'warning', 'error', 'err', 'critical', 'fatal'];
const spellings: Readonly<Record<string, readonly string[]>> = {
  trace: ['trace', 'trc'],
  debug: ['debug', 'dbg'],
  info: ['info', 'inf', 'information'],
  warn: ['warn', 'wrn', 'warning'],
  error: ['error', 'err'],
  critical: ['critical'],
  fatal: ['fatal'],
  unknown: ['level', 'lvl', 'severity', severityText],
};

/** All names by their first two letters: what begins otherwise is sorted out by one look. */
const names: (readonly Name[] | undefined)[] = Array.from({ length: 1024 }, () => undefined);
/** Start positions of words, as what is tested first. */
const begins = new Uint8Array(1024);
/** Which pairs of bytes, without what makes a letter small, are among the first three letters of a name. */
const within = new Uint8Array(0x5f60);
for (const [level, texts] of Object.entries(spellings)) {
  for (const text of texts) {
    const bytes = Buffer.from(text, 'latin1');
    const number = levelNames.findIndex((name) => name === level);
    const slot = slotOf(bytes[0]!, bytes[1]!);
    names[slot] = [
      ...(names[slot] ?? []),
      { text, bytes, level: number, isWord: words.includes(text), isKey: number === unknown },
    ];
    begins[slot] = 1;
    within[pairOf(bytes[0]!, bytes[1]!)] = 1;
    within[pairOf(bytes[1]!, bytes[2]!)] = 1;
  }
}

function slotOf(first: number, second: number): number {
  return ((first & 31) << 5) | (second & 31);
}

function pairOf(first: number, second: number): number {
  return ((second << 8) | first) & 0x5f5f;
}

/** The name that these bytes are, in small or capital letters. */
function nameAt(bytes: Uint8Array, from: number, to: number): Name | undefined {
  if (to - from < 3) {
    return undefined;
  }
  const known = names[slotOf(bytes[from]!, bytes[from + 1]!)];
  return known === undefined ? undefined : spelled(known, bytes, from, to);
}

function spelled(
  known: readonly Name[],
  bytes: Uint8Array,
  from: number,
  to: number,
): Name | undefined {
  for (const name of known) {
    const letters = name.bytes;
    if (letters.length === to - from) {
      let i = 0;
      while (i < letters.length && folded[bytes[from + i]!] === letters[i]) {
        i++;
      }
      if (i === letters.length) {
        return name;
      }
    }
  }
  return undefined;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** `"level" : "warn"`. */
function valueInJson(
  bytes: Uint8Array,
  from: number,
  at: number,
  after: number,
  to: number,
): Range | undefined {
  if (at === from || bytes[at - 1] !== 0x22 || bytes[after] !== 0x22) {
    return undefined;
  }
  let next = pastSpace(bytes, after + 1, to, after + 9);
  if (bytes[next] !== 0x3a) {
    return undefined;
  }
  next = pastSpace(bytes, next + 1, to, next + 9);
  if (bytes[next] !== 0x22) {
    return undefined;
  }
  const end = lettersTo(bytes, next + 1, to);
  return end > next + 1 && end - next <= 17 && bytes[end] === 0x22 && end < to
    ? { from: next + 1, to: end }
    : undefined;
}

/** `level=warn` or `level="warn"`. */
function valueInLogfmt(
  bytes: Uint8Array,
  from: number,
  at: number,
  after: number,
  to: number,
): Range | undefined {
  if ((at > from && !isSpace(bytes[at - 1]!) && bytes[at - 1] !== 0x2c) || bytes[after] !== 0x3d) {
    return undefined;
  }
  const start = bytes[after + 1] === 0x22 ? after + 2 : after + 1;
  const end = Math.min(lettersTo(bytes, start, to), start + 16);
  return end > start ? { from: start, to: end } : undefined;
}

function lettersTo(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && isLetter(bytes[at]! | 0x20)) {
    at++;
  }
  return at;
}

function pastSpace(bytes: Uint8Array, from: number, to: number, upTo: number): number {
  const most = Math.min(to, upTo);
  let at = from;
  while (at < most && isSpace(bytes[at]!)) {
    at++;
  }
  return at;
}

const isLetter = (lower: number): boolean => lower >= 0x61 && lower <= 0x7a;
const isSpace = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
