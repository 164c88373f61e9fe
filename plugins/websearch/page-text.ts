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

/**
 * Extracts the text of a page as a person would read it, in one pass whose time is linear in its
 * length. Nothing of it is run or fetched.
 */
export function pageText(html: string): PageText {
  // Of its Latin letters alone: others may grow, and places in the one text are places in the other.
  const lower = html.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const titled = /<title[^>]{0,200}>([^<]{0,2000})/i.exec(html.slice(0, 65_536));
  const parts: string[] = [];
  for (let at = 0; at < html.length;) {
    const open = html.indexOf('<', at);
    if (open < 0) {
      parts.push(html.slice(at));
      break;
    }
    parts.push(html.slice(at, open));
    if (html.startsWith('<!--', open)) {
      at = behind(html, '-->', open + 4);
      continue;
    }
    const name = nameAt(lower, open + 1);
    if (name === '') {
      // A sign that means "less than", or a tag of no element: neither is anything to read.
      const isTag = /[!?/]/.test(html[open + 1] ?? '');
      parts.push(isTag ? '' : '<');
      at = isTag ? tagEnd(html, open) : open + 1;
      continue;
    }
    const isClosing = lower[open + 1] === '/';
    parts.push(blocks.has(name) ? '\n' : name === 'a' || name === 'span' ? '' : ' ');
    at = tagEnd(html, open);
    if (!isClosing && unread.has(name) && html[at - 2] !== '/') {
      at = tagEnd(html, indexOr(lower, `</${name}`, at));
    }
  }
  return {
    title: titled === null ? '' : tidy(decoded(titled[1]!)),
    text: tidy(decoded(parts.join(''))),
  };
}

/** A piece of text that may have marks in it. */
export const plainText = (text: string): string => (/[<&]/.test(text) ? pageText(text).text : text);

function nameAt(lower: string, at: number): string {
  let from = at;
  if (lower[from] === '/') {
    from++;
  }
  let end = from;
  while (end < lower.length && end - from < 20 && /[a-z0-9]/.test(lower[end]!)) {
    end++;
  }
  return /^[a-z]/.test(lower[from] ?? '') ? lower.slice(from, end) : '';
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

/** Removes characters that control a terminal or change the direction of text, and empty lines. */
const tidy = (text: string): string =>
  text
    .replaceAll(/[^\P{C}\n\t]/gu, '')
    .split('\n')
    .map((line) => line.replaceAll(/[ \t\u00a0]+/g, ' ').trim())
    .filter((line) => line !== '')
    .join('\n');
