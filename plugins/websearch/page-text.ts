import { atOnce } from 'svc/flow';

/** Elements that people do not read. Their text is skipped up to their end tag. */
const unread = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'math',
  'title',
  'iframe',
  'object',
  'canvas',
  'select',
  'textarea',
]);
const blocks = new Set(
  'address article aside blockquote br dd div dl dt fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table td th tr ul'.split(
    ' ',
  ),
);
const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  copy: '©',
  reg: '®',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  laquo: '«',
  raquo: '»',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  bull: '•',
  middot: '·',
  times: '×',
  rarr: '→',
  larr: '←',
  deg: '°',
  euro: '€',
  trade: '™',
};

export interface PageText {
  readonly title: string;
  readonly text: string;
}

/** Characters after which a step ends with its line. */
const tidiedAtOnce = 100;

/** Extracts the text of a page at once, for short ones. */
export const pageText = (html: string): PageText => atOnce(readPage(html));

/**
 * Extracts the text of a page as a person would read it, in small steps whose total time is linear
 * in its length. Nothing of it is run or fetched.
 */
export function* readPage(html: string): Generator<void, PageText> {
  const titled = /<title[^>]{0,200}>([^<]{0,2000})/i.exec(html.slice(0, 65_536));
  const parts: string[] = [];
  for (let at = 0; at < html.length;) {
    yield;
    const open = indexOr(html, '<', at);
    parts.push(html.slice(at, open));
    if (open === html.length) {
      break;
    }
    if (html.startsWith('<!--', open)) {
      at = behind(html, '-->', open + 4);
      continue;
    }
    const name = nameAt(html, open + 1);
    if (name === '') {
      // A sign that means "less than", or a tag of no element: neither is anything to read.
      const isTag = /[!?/]/.test(html[open + 1] ?? '');
      parts.push(isTag ? '' : '<');
      at = isTag ? tagEnd(html, open) : open + 1;
      continue;
    }
    const isClosing = html[open + 1] === '/';
    parts.push(blocks.has(name) ? '\n' : name === 'a' || name === 'span' ? '' : ' ');
    at = tagEnd(html, open);
    if (!isClosing && unread.has(name) && html[at - 2] !== '/') {
      at = tagEnd(html, yield* closingOf(html, name, at));
    }
  }
  const lines: string[] = [];
  const text = parts.join('');
  for (let at = 0; at < text.length;) {
    yield;
    const end = indexOr(text, '\n', at + tidiedAtOnce);
    lines.push(...tidy(decoded(text.slice(at, end))));
    at = end + 1;
  }
  return {
    title: titled === null ? '' : tidy(decoded(titled[1]!)).join('\n'),
    text: lines.join('\n'),
  };
}

/** Characters of a plain text that one step takes. */
const plainAtOnce = 1_000;

/** Removes from a text that is no page what controls a terminal or changes the direction of text. */
export function* readPlain(text: string): Generator<void, PageText> {
  const parts: string[] = [];
  for (let at = 0; at < text.length;) {
    yield;
    // Two halves of a character stay together.
    const end =
      at + plainAtOnce + (/[\uD800-\uDBFF]/.test(text[at + plainAtOnce - 1] ?? '') ? 1 : 0);
    parts.push(visible(text.slice(at, end)));
    at = end;
  }
  return { title: '', text: parts.join('') };
}

/** A piece of text that may have marks in it. */
export const plainText = (text: string): string => (/[<&]/.test(text) ? pageText(text).text : text);

/** The name of an element whose tag, opening or closing, has its name at a place; empty if there is none. */
function nameAt(html: string, at: number): string {
  const from = html[at] === '/' ? at + 1 : at;
  const [name = ''] = /^[a-z][a-z0-9]{0,19}/i.exec(html.slice(from, from + 20)) ?? [];
  return name.toLowerCase();
}

/** Finds the beginning of the end tag of an element. */
function* closingOf(html: string, name: string, from: number): Generator<void, number> {
  for (let at = indexOr(html, '</', from); at < html.length; at = indexOr(html, '</', at + 2)) {
    yield;
    if (html.slice(at + 2, at + 2 + name.length).toLowerCase() === name) {
      return at;
    }
  }
  return html.length;
}

/**
 * Returns the position after the end of a tag; a quoted value may contain the character that ends
 * one.
 */
function tagEnd(html: string, open: number): number {
  let quote = '';
  for (let at = open; at < html.length; at++) {
    const sign = html[at]!;
    if (quote !== '') {
      quote = sign === quote ? '' : quote;
    } else if (sign === '>') {
      return at + 1;
    } else if ((sign === '"' || sign === "'") && html[at - 1] === '=') {
      quote = sign;
    }
  }
  return html.length;
}

const indexOr = (text: string, sought: string, from: number): number => {
  const found = text.indexOf(sought, from);
  return found < 0 ? text.length : found;
};

const behind = (text: string, sought: string, from: number): number =>
  Math.min(text.length, indexOr(text, sought, from) + sought.length);

const decoded = (text: string): string =>
  text.replaceAll(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi,
    (whole: string, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) {
        return Object.hasOwn(named, name.toLowerCase()) ? named[name.toLowerCase()]! : whole;
      }
      const code = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal);
      return code > 0 && code <= 0x10_ff_ff && (code < 0xd8_00 || code > 0xdf_ff)
        ? String.fromCodePoint(code)
        : '';
    },
  );

/** Removes characters that control a terminal or change the direction of text. */
const visible = (text: string): string => text.replaceAll(/[^\P{C}\n\t]/gu, '');

/** The lines of a text that have something in them. */
const tidy = (text: string): readonly string[] =>
  visible(text)
    .split('\n')
    .map((line) => line.replaceAll(/[ \t\u00a0]+/g, ' ').trim())
    .filter((line) => line !== '');
