/**
 * The level that a line names, as `detectedLevel` of the query language reads it from text, but from bytes and in one
 * pass: it runs over everything that is ever pushed.
 */
export function levelInLine(bytes: Uint8Array, from: number, end: number): string {
  const to = Math.min(end, from + readFor);
  let first = from;
  while (first < to && isSpace(bytes[first]!)) {
    first++;
  }
  const json = bytes[first] === 0x7b;
  let word: string | undefined;
  let field = true;
  for (let at = from; at < to; at++) {
    const kind = kinds[bytes[at]!]!;
    if (kind === notWord) {
      continue;
    }
    let after = at + 1;
    while (after < to && kinds[bytes[after]!] !== notWord) {
      after++;
    }
    if (kind === candidate && after - at <= longestName) {
      const length = after - at;
      const name = keyOf(bytes, at, length);
      if (word === undefined && length <= 8) {
        word = words.get(name);
      }
      if (field && keys.has(name)) {
        const said = json ? valueInJson(bytes, from, at, after, to) : valueInLogfmt(bytes, from, at, after, to);
        if (said !== undefined && (json || name !== severityText)) {
          const level = levels.get(said);
          if (level !== undefined) {
            return level;
          }
          field = false;
        }
      }
    }
    at = after;
  }
  return word ?? 'unknown';
}

const readFor = 2_048;
const longestName = 13;
const severityText = 'severity_text';

const notWord = 0;
const candidate = 2;
/** What a byte is at the start of a word: no part of one, part of one, or the first letter of one that matters. */
const kinds = new Uint8Array(256);
for (const char of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_') {
  kinds[char.charCodeAt(0)] = 'tdiwecflsTDIWECFLS'.includes(char) ? candidate : 1;
}

const levels: ReadonlyMap<string, string> = new Map(
  Object.entries({
    trace: 'trace',
    trc: 'trace',
    debug: 'debug',
    dbg: 'debug',
    info: 'info',
    inf: 'info',
    information: 'info',
    warn: 'warn',
    wrn: 'warn',
    warning: 'warn',
    error: 'error',
    err: 'error',
    critical: 'critical',
    fatal: 'fatal',
  }),
);
const words: ReadonlyMap<string, string> = new Map(
  ['trace', 'debug', 'info', 'warn', 'warning', 'error', 'err', 'critical', 'fatal'].map((word) => [word, levels.get(word)!]),
);
const keys: ReadonlySet<string> = new Set(['level', 'lvl', 'severity', severityText]);

/** Second letters that begin none of the names are sorted out before a string is made. */
const seconds = new Set(['tr', 'de', 'in', 'wa', 'er', 'cr', 'fa', 'le', 'lv', 'se'].map((pair) => (pair.charCodeAt(0) << 8) | pair.charCodeAt(1)));

function keyOf(bytes: Uint8Array, at: number, length: number): string {
  if (length < 3 || !seconds.has(((bytes[at]! | 0x20) << 8) | (bytes[at + 1]! | 0x20))) {
    return '';
  }
  return lowered(bytes, at, at + length);
}

function lowered(bytes: Uint8Array, from: number, to: number): string {
  let text = '';
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!;
    text += String.fromCharCode(byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte);
  }
  return text;
}

/** `"level" : "warn"`. */
function valueInJson(bytes: Uint8Array, from: number, at: number, after: number, to: number): string | undefined {
  if (at === from || bytes[at - 1] !== 0x22 || bytes[after] !== 0x22) {
    return undefined;
  }
  let next = pastSpace(bytes, after + 1, to);
  if (bytes[next] !== 0x3a) {
    return undefined;
  }
  next = pastSpace(bytes, next + 1, to);
  if (bytes[next] !== 0x22) {
    return undefined;
  }
  const end = lettersTo(bytes, next + 1, to);
  return end > next + 1 && end - next <= 17 && bytes[end] === 0x22 && end < to ? lowered(bytes, next + 1, end) : undefined;
}

/** `level=warn` or `level="warn"`. */
function valueInLogfmt(bytes: Uint8Array, from: number, at: number, after: number, to: number): string | undefined {
  if ((at > from && !isSpace(bytes[at - 1]!) && bytes[at - 1] !== 0x2c) || bytes[after] !== 0x3d) {
    return undefined;
  }
  const start = bytes[after + 1] === 0x22 ? after + 2 : after + 1;
  const end = Math.min(lettersTo(bytes, start, to), start + 16);
  return end > start ? lowered(bytes, start, end) : undefined;
}

function lettersTo(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && isLetter(bytes[at]! | 0x20)) {
    at++;
  }
  return at;
}

function pastSpace(bytes: Uint8Array, from: number, to: number): number {
  const most = Math.min(to, from + 8);
  let at = from;
  while (at < most && isSpace(bytes[at]!)) {
    at++;
  }
  return at;
}

const isLetter = (lower: number): boolean => lower >= 0x61 && lower <= 0x7a;
const isSpace = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
