/** A tag of a page, or the text between two. */
export interface HtmlPiece {
  /** Lower-case name; empty for text. */
  readonly tag: string;
  readonly isEnd: boolean;
  readonly attributes: string;
  readonly text: string;
}

/** Elements whose content is no text of the page. */
const raw = /^(?:script|style|noscript|template|svg|iframe|textarea|select|object|math)$/;

/**
 * Reads a page piece by piece, in one pass: comments, scripts and styles are left out, and what is
 * not well formed is text.
 */
export function* piecesOf(html: string): Generator<HtmlPiece> {
  const tag = /<(?:!--|[!?]|(\/?)([A-Za-z][A-Za-z0-9:-]*))/g;
  // Letter by letter: other alphabets may change their length.
  const lower = html.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  let at = 0;
  for (let match = tag.exec(html); match !== null; match = tag.exec(html)) {
    if (match.index > at) {
      yield textPiece(html.slice(at, match.index));
    }
    const name = match[2]?.toLowerCase();
    if (name === undefined) {
      const close = match[0] === '<!--' ? '-->' : '>';
      const end = html.indexOf(close, tag.lastIndex);
      at = end < 0 ? html.length : end + close.length;
    } else {
      const end = endOfTag(html, tag.lastIndex);
      const attributes = html.slice(tag.lastIndex, end);
      const isEnd = match[1] === '/';
      at = Math.min(html.length, end + 1);
      if (!isEnd && raw.test(name) && !attributes.endsWith('/')) {
        at = endOfRaw(html, lower, name, at);
      } else {
        yield { tag: name, isEnd, attributes, text: '' };
      }
    }
    tag.lastIndex = at;
  }
  if (at < html.length) {
    yield textPiece(html.slice(at));
  }
}

const textPiece = (text: string): HtmlPiece => ({
  tag: '',
  isEnd: false,
  attributes: '',
  text: unescaped(text),
});

/** Returns where a tag ends; a `>` within quotes does not end it. */
function endOfTag(html: string, from: number): number {
  let quote = '';
  for (let at = from; at < html.length; at++) {
    const sign = html[at]!;
    if (quote === '' ? sign === '>' : false) {
      return at;
    }
    if (quote === '') {
      quote = sign === '"' || sign === "'" ? sign : '';
    } else if (sign === quote) {
      quote = '';
    }
  }
  return html.length;
}

function endOfRaw(html: string, lower: string, name: string, from: number): number {
  const end = lower.indexOf(`</${name}`, from);
  return end < 0 ? html.length : Math.min(html.length, endOfTag(html, end) + 1);
}

/** Returns an attribute of a tag; undefined if it has none of that name. */
export function attributeOf(attributes: string, name: string): string | undefined {
  for (const [, found, double, single, bare] of attributes.matchAll(
    /([^\s=>"'/]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/g,
  )) {
    if (found!.toLowerCase() === name) {
      return unescaped(double ?? single ?? bare ?? '');
    }
  }
  return undefined;
}

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  bull: '•',
  middot: '·',
  copy: '©',
  reg: '®',
  trade: '™',
  deg: '°',
  plusmn: '±',
  times: '×',
  rarr: '→',
  larr: '←',
  auml: 'ä',
  ouml: 'ö',
  uuml: 'ü',
  Auml: 'Ä',
  Ouml: 'Ö',
  Uuml: 'Ü',
  szlig: 'ß',
  eacute: 'é',
  egrave: 'è',
  agrave: 'à',
  ccedil: 'ç',
};

export const unescaped = (text: string): string =>
  text.replace(
    /&(?:([A-Za-z]{2,8})|#(\d{1,7})|#[xX]([\da-fA-F]{1,6}));/g,
    (whole, name?: string, decimal?: string, hex?: string) => {
      const point = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      return name !== undefined
        ? (named[name] ?? whole)
        : point > 0 && point <= 0x10ffff && !(point >= 0xd800 && point < 0xe000)
          ? String.fromCodePoint(point)
          : whole;
    },
  );
