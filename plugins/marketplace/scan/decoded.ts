import { assertBounded } from 'svc/foreign-yaml';
import { parseAllDocuments } from 'yaml';

const maxStrings = 20_000;
const maxBlobs = 200;
const longestBlob = 256 * 1024;
const deepest = 64;
const maxAliases = 100;

/** Another reading of a text, as what reads it would have it. */
export interface Reading {
  readonly text: string;
  /** Line in its file; 0 means none in particular. */
  readonly line: number;
  /** Suffix that says how it was found. */
  readonly how: string;
}

/** Yields the strings that a parser finds in a file: those of JSON and YAML, including headers. */
export function* decodedStrings(file: string, text: string): Generator<Reading> {
  const source = structured(file, text);
  for (const value of source === undefined ? [] : stringsOf(source)) {
    // A plain single line is in the file unchanged.
    if (value.includes('\n') || !text.includes(value)) {
      yield { text: value, line: 0, how: ' (as it is decoded)' };
    }
  }
}

function structured(file: string, text: string): unknown {
  try {
    if (/\.(?:json|jsonc|mcp|ipynb)$/i.test(file)) {
      return JSON.parse(text.replace(/^\uFEFF/, ''));
    }
    const yaml = /\.ya?ml$/i.test(file)
      ? text
      : /^\uFEFF?---\r?\n([^]{0,65536}?)\r?\n---\s*(?:\r?\n|$)/.exec(text)?.[1];
    if (yaml === undefined || yaml.length > 1024 * 1024) {
      return undefined;
    }
    assertBounded(yaml);
    return parseAllDocuments(yaml, {
      logLevel: 'silent',
      prettyErrors: false,
      uniqueKeys: false,
    }).map((document) =>
      'toJS' in document ? document.toJS({ maxAliasCount: maxAliases }) : undefined,
    );
  } catch {
    // Without a parser only the text itself is scanned.
    return undefined;
  }
}

function* stringsOf(root: unknown): Generator<string> {
  const open: [unknown, number][] = [[root, 0]];
  for (
    let count = 0, next = open.pop();
    next !== undefined && count < maxStrings;
    next = open.pop(), count += 1
  ) {
    const [value, depth] = next;
    if (typeof value === 'string') {
      yield value;
    } else if (typeof value === 'object' && value !== null && depth < deepest) {
      for (const [key, inner] of Object.entries(value)) {
        open.push([key, depth], [inner, depth + 1]);
      }
    }
  }
}

/** Yields paragraphs as one line: readers of prose do not stop at the end of a line. */
export function* foldedParagraphs(text: string): Generator<Reading> {
  let begun = 0;
  let lines: string[] = [];
  const all = text.split('\n');
  for (const [index, line] of [...all, ''].entries()) {
    const plain = line.replace(/^\s{0,40}(?:(?:>|#|\/\/|\*|-|--|;)\s{0,4}){0,8}/, '').trim();
    if (plain !== '' && lines.length < 200) {
      begun = lines.length === 0 ? index + 1 : begun;
      lines.push(plain);
    } else {
      if (lines.length > 1) {
        yield { text: lines.join(' '), line: begun, how: '' };
      }
      lines = plain === '' ? [] : [plain];
      begun = index + 1;
    }
  }
}

/** Letters of other scripts that look like Latin ones. */
const alike: ReadonlyMap<string, string> = new Map(
  [
    ...'аaеeоoрpсcуyхxіiјjѕsһhԁdԛqԝwґrѵvΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧXαaοoνvιiАAВBЕEКKМMНHОOРPСCТTХX'.matchAll(
      /(.)(.)/gu,
    ),
  ].map(([, from, to]) => [from!, to!]),
);

/**
 * Normalizes a line to its appearance: compatibility forms and look-alikes as plain letters,
 * without invisible characters; undefined if that changes nothing.
 */
export function normalised(line: string): string | undefined {
  if (!/[^\t\r -~]/.test(line)) {
    return undefined;
  }
  const plain = line
    .normalize('NFKC')
    .replaceAll(/[\p{Cf}\p{Mn}\uFE00-\uFE0F\u{E0100}-\u{E01EF}\u115F\u1160\u3164\u2800]/gu, '')
    .replaceAll(/\p{Script=Cyrillic}|\p{Script=Greek}/gu, (letter) => alike.get(letter) ?? letter)
    .replaceAll(/\p{Zs}/gu, ' ');
  return plain === line ? undefined : plain;
}

/** Yields base64 text decoded once; other data is skipped. */
export function* unpackedBase64(text: string): Generator<Reading> {
  // Lines of such a block belong together.
  const joined = text.replaceAll(
    /(?<=^[A-Za-z0-9+/_-]{40,80})\r?\n(?=[A-Za-z0-9+/_-]+={0,2}\r?$)/gm,
    '',
  );
  let blobs = 0;
  for (const { 0: blob, index } of joined.matchAll(
    /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}={0,2}/g,
  )) {
    blobs += 1;
    if (blobs > maxBlobs) {
      return;
    }
    const decoded = Buffer.from(blob.slice(0, longestBlob), 'base64').toString('utf8');
    if (/^[\t\n\r -~\u00A0-\uFFFC]{12,}$/u.test(decoded) && /\s|:\/\//.test(decoded)) {
      yield { text: decoded, line: joined.slice(0, index).split('\n').length, how: ' (in base64)' };
    }
  }
}

/** A word of prose, which may stand before or behind base64 in groups. */
const isWord = (group: string): boolean => /^[A-Z]?[a-z]+$/.test(group);

/** Yields base64 that is written in groups with blanks between them. */
export function* unpackedGroups(text: string): Generator<Reading> {
  let runs = 0;
  for (const { 0: run, index } of text.matchAll(
    /(?<![A-Za-z0-9+/_-])(?:[A-Za-z0-9+/_-]{2,76}[ \t]{1,4}){2,2000}[A-Za-z0-9+/_-]{2,76}={0,2}/g,
  )) {
    runs += 1;
    if (runs > maxBlobs) {
      return;
    }
    const groups = run.split(/[ \t]+/);
    const begin = groups.findIndex((group) => !isWord(group));
    // A word may also be a group, so both ends are tried with and without.
    for (const from of begin === -1 ? [] : new Set([begin, Math.max(0, begin - 1)])) {
      const joined = groups.slice(from).join('').slice(0, longestBlob);
      const [decoded = ''] =
        /^[\t\n\r -~]{18,}/.exec(Buffer.from(joined, 'base64').toString('latin1')) ?? [];
      if (/\s|:\/\//.test(decoded)) {
        yield { text: decoded, line: text.slice(0, index).split('\n').length, how: ' (in base64)' };
      }
    }
  }
}

const named: ReadonlyMap<string, string> = new Map(
  Object.entries({
    colon: ':',
    sol: '/',
    period: '.',
    quest: '?',
    equals: '=',
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    nbsp: ' ',
    lpar: '(',
    rpar: ')',
    lsqb: '[',
    rsqb: ']',
    excl: '!',
    lcub: '{',
    rcub: '}',
    lbrace: '{',
    rbrace: '}',
    lbrack: '[',
    rbrack: ']',
    dollar: '$',
    percnt: '%',
    num: '#',
    bsol: '\\',
    lowbar: '_',
    grave: '`',
    vert: '|',
    hyphen: '-',
    commat: '@',
    Tab: ' ',
    NewLine: ' ',
    shy: '',
    ZeroWidthSpace: '',
  }),
);

/** Returns a line with its entities as HTML and markdown show them; undefined if it has none. */
export function withoutEntities(line: string): string | undefined {
  const plain = line.replaceAll(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([A-Za-z]{2,20}));/gi,
    (whole, decimal?: string, hex?: string, name = '') => {
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      return Number.isNaN(code)
        ? (named.get(name) ?? whole)
        : code > 0x10ffff
          ? ''
          : String.fromCodePoint(code);
    },
  );
  return plain === line ? undefined : plain;
}
