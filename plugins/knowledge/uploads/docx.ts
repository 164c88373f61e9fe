import { ParseRefusal, Parts } from './parts.ts';

/** A tag as it stands in the text, or the text between two. */
interface Piece {
  readonly tag: string;
  readonly isEnd: boolean;
  readonly attributes: string;
  readonly text: string;
}

const main = 'word/document.xml';
const scan = /<(\/?)([A-Za-z][\w:.-]*)((?:\s[^<>]*?)?)(\/?)>|([^<]+)/g;

/** A Word document as markdown: headings, lists, tables, links; fields, pictures and what was deleted are left out. */
export function docxText(bytes: Buffer): string {
  const parts = new Parts(bytes);
  const document = parts.text(main);
  if (document === undefined || !parts.has('[Content_Types].xml')) {
    throw new ParseRefusal(
      'the file is a zip archive but not a .docx; unpack it and upload its contents',
    );
  }
  const [styles, links] = [
    headingStyles(parts.text('word/styles.xml') ?? ''),
    linksOf(parts.text('word/_rels/document.xml.rels') ?? ''),
  ];
  if (/<!DOCTYPE|<!ENTITY/i.test(document)) {
    throw new ParseRefusal('the file defines XML entities, which Word documents do not have');
  }
  return new Body(styles, links).read(document);
}

/** Collects paragraphs and rows as they end. */
class Body {
  readonly #headings: ReadonlyMap<string, number>;
  readonly #links: ReadonlyMap<string, string>;
  readonly #blocks: string[] = [];
  #text = '';
  #prefix = '';
  #link: string | undefined;
  #linkStart = 0;
  #hidden = 0;
  #inText = false;
  #rows: string[][] | undefined;
  #cell: string[] = [];
  #depth = 0;

  constructor(headings: ReadonlyMap<string, number>, links: ReadonlyMap<string, string>) {
    this.#headings = headings;
    this.#links = links;
  }

  read(xml: string): string {
    for (const { tag, isEnd, attributes, text } of piecesOf(xml)) {
      if (tag === '') {
        this.#text += this.#inText && this.#hidden === 0 ? text : '';
      } else {
        this.#take(tag, isEnd, attributes);
      }
    }
    return this.#blocks.join('\n\n').replace(/\n{3,}/g, '\n\n');
  }

  #take(tag: string, isEnd: boolean, attributes: string): void {
    switch (tag) {
      case 'w:t':
        this.#inText = !isEnd;
        return;
      case 'w:tab':
        this.#text += isEnd ? '' : '\t';
        return;
      case 'w:br':
      case 'w:cr':
        this.#text += isEnd ? '' : '\n';
        return;
      case 'w:del':
      case 'mc:Fallback':
        this.#hidden += isEnd ? -1 : 1;
        return;
      case 'w:pStyle':
        this.#prefix =
          `${'#'.repeat(this.#headings.get(attributeOf(attributes, 'w:val') ?? '') ?? 0)} `.trimStart() ||
          this.#prefix;
        return;
      case 'w:ilvl':
        this.#prefix ||= `${'  '.repeat(Math.min(8, Number(attributeOf(attributes, 'w:val') ?? 0)))}- `;
        return;
      case 'w:hyperlink':
        this.#takeLink(isEnd, attributes);
        return;
      case 'w:p':
        this.#takeParagraph(isEnd);
        return;
      default:
        this.#takeTable(tag, isEnd);
    }
  }

  #takeLink(isEnd: boolean, attributes: string): void {
    if (isEnd && this.#link !== undefined) {
      const shown = this.#text.slice(this.#linkStart);
      this.#text = `${this.#text.slice(0, this.#linkStart)}[${shown}](${this.#link})`;
    }
    this.#link = isEnd ? undefined : this.#links.get(attributeOf(attributes, 'r:id') ?? '');
    this.#linkStart = this.#text.length;
  }

  #takeParagraph(isEnd: boolean): void {
    if (isEnd) {
      const text = this.#text.trim();
      if (text !== '' && this.#rows !== undefined) {
        this.#cell.push(text);
      } else if (text !== '') {
        this.#blocks.push(
          this.#prefix + (this.#prefix.startsWith('#') ? text.replaceAll('\n', ' ') : text),
        );
      }
    }
    this.#text = '';
    this.#prefix = '';
  }

  /** Skips a nested table, whose text belongs to the cell. */
  #takeTable(tag: string, isEnd: boolean): void {
    if (tag === 'w:tbl') {
      this.#depth += isEnd ? -1 : 1;
      if (!isEnd && this.#depth === 1) {
        this.#rows = [];
      } else if (isEnd && this.#depth === 0) {
        this.#blocks.push(tableOf(this.#rows ?? []));
        this.#rows = undefined;
      }
    } else if (this.#depth === 1 && tag === 'w:tr' && !isEnd) {
      this.#rows?.push([]);
    } else if (this.#depth === 1 && tag === 'w:tc' && isEnd) {
      this.#rows?.at(-1)?.push(this.#cell.join(' ').replace(/\s+/g, ' ').replaceAll('|', '\\|'));
      this.#cell = [];
    }
  }
}

function tableOf(rows: readonly (readonly string[])[]): string {
  const width = Math.max(0, ...rows.map(({ length }) => length));
  const line = (cells: readonly string[]): string =>
    `| ${Array.from({ length: width }, (_, index) => cells[index] ?? '').join(' | ')} |`;
  const [head = [], ...rest] = rows;
  return width === 0
    ? ''
    : [line(head), `|${' --- |'.repeat(width)}`, ...rest.map(line)].join('\n');
}

/** Levels of the styles that are headings, by their id, whatever their name is in the language of the writer. */
function headingStyles(xml: string): ReadonlyMap<string, number> {
  const levels = new Map<string, number>([['Title', 1]]);
  for (const [, attributes, body] of xml.matchAll(/<w:style\b([^>]*)>([^]*?)<\/w:style>/g)) {
    const [id, outline] = [
      attributeOf(attributes!, 'w:styleId'),
      /<w:outlineLvl\s+w:val="(\d)"/.exec(body!)?.[1],
    ];
    const named = /<w:name\s+w:val="heading (\d)"/i.exec(body!)?.[1];
    const level = named ?? (outline === undefined ? undefined : Number(outline) + 1);
    if (id !== undefined && level !== undefined && Number(level) <= 6) {
      levels.set(id, Math.max(1, Number(level)));
    }
  }
  return levels;
}

/** Addresses of links to pages; others lead nowhere from here. */
function linksOf(xml: string): ReadonlyMap<string, string> {
  const links = new Map<string, string>();
  for (const [, attributes] of xml.matchAll(/<Relationship\b([^>]*)\/?>/g)) {
    const [id, target] = [attributeOf(attributes!, 'Id'), attributeOf(attributes!, 'Target')];
    if (id !== undefined && target !== undefined && /^https?:\/\/[^\s()]+$/.test(target)) {
      links.set(id, target);
    }
  }
  return links;
}

function* piecesOf(xml: string): Generator<Piece> {
  for (const [, slash, tag = '', attributes = '', closed, text = ''] of xml.matchAll(scan)) {
    yield { tag, isEnd: slash === '/', attributes, text: tag === '' ? unescaped(text) : '' };
    if (closed === '/') {
      yield { tag, isEnd: true, attributes: '', text: '' };
    }
  }
}

const attributeOf = (attributes: string, name: string): string | undefined => {
  const at = attributes.indexOf(` ${name}="`);
  const start = at + name.length + 3;
  return at < 0 ? undefined : unescaped(attributes.slice(start, attributes.indexOf('"', start)));
};

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

const unescaped = (text: string): string =>
  text.replace(
    /&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([\da-fA-F]{1,6}));/g,
    (whole, name?: string, decimal?: string, hex?: string) => {
      const point = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      return name !== undefined
        ? named[name]!
        : point > 0 && point <= 0x10ffff && !(point >= 0xd800 && point < 0xe000)
          ? String.fromCodePoint(point)
          : whole;
    },
  );
