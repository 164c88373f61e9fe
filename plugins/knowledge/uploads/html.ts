import { attributeOf, type HtmlPiece, piecesOf } from './html-pieces.ts';

export interface HtmlText {
  readonly title: string;
  readonly text: string;
}

/** Parts around the content of a page. */
const around = /^(?:nav|header|footer|aside|form|button|dialog|head)$/;
const block =
  /^(?:p|div|section|article|main|figure|figcaption|dl|dt|dd|address|details|summary|body|center)$/;
const deepest = 12;

/**
 * Converts a page to markdown: headings, lists, tables, code and links of its main part, or of all
 * but its navigation if it names none.
 */
export function htmlText(html: string): HtmlText {
  const main = /<main[\s>]/i.test(html)
    ? 'main'
    : /\sid\s*=\s*["']?main-content["'\s>]/i.test(html)
      ? '#main-content'
      : /<article[\s>]/i.test(html)
        ? 'article'
        : undefined;
  return new Page(main).read(html);
}

interface Table {
  readonly rows: string[][];
}

/** Collects blocks of markdown as elements end. */
class Page {
  readonly #main: string | undefined;
  readonly #blocks: string[] = [];
  readonly #lists: ('ul' | 'ol')[] = [];
  /** The main part that is being read: its tag, and how many of that name are open within. */
  #inside: { readonly tag: string; depth: number } | undefined;
  #outside = 0;
  #text = '';
  #prefix = '';
  #title = '';
  #isTitle = false;
  #firstHeading = '';
  #pre = 0;
  readonly #marked = new Map<'`' | '**', number>();
  #link: { readonly href: string; readonly from: number } | undefined;
  #table: Table | undefined;
  #tables = 0;

  constructor(main: string | undefined) {
    this.#main = main;
  }

  read(html: string): HtmlText {
    for (const piece of piecesOf(html)) {
      if (piece.tag === '') {
        this.#takeText(piece.text);
      } else {
        this.#take(piece);
      }
    }
    this.#close();
    return {
      title: (this.#title || this.#firstHeading).replace(/\s+/g, ' ').trim().slice(0, 200),
      text: this.#blocks.join('\n\n').replace(/\n{3,}/g, '\n\n'),
    };
  }

  get #isRead(): boolean {
    return this.#outside === 0 && (this.#main === undefined || this.#inside !== undefined);
  }

  #takeText(text: string): void {
    if (this.#isTitle) {
      this.#title += text;
    } else if (this.#isRead) {
      this.#text += this.#pre > 0 ? text : text.replace(/\s+/g, ' ');
    }
  }

  #take(piece: HtmlPiece): void {
    const { tag, isEnd, attributes } = piece;
    if (tag === 'title') {
      this.#isTitle = !isEnd && this.#title === '';
      return;
    }
    if (around.test(tag)) {
      this.#close();
      this.#outside = Math.max(0, this.#outside + (isEnd ? -1 : 1));
      return;
    }
    if (this.#main !== undefined) {
      this.#enter(tag, isEnd, attributes);
    }
    if (this.#isRead) {
      this.#takeElement(piece);
    }
  }

  #enter(tag: string, isEnd: boolean, attributes: string): void {
    const inside = this.#inside;
    if (inside === undefined) {
      const isMain =
        !isEnd &&
        (this.#main === '#main-content'
          ? attributeOf(attributes, 'id') === 'main-content'
          : tag === this.#main);
      this.#inside = isMain ? { tag, depth: 1 } : undefined;
    } else if (tag === inside.tag) {
      inside.depth += isEnd ? -1 : 1;
      if (inside.depth === 0) {
        this.#close();
        this.#inside = undefined;
      }
    }
  }

  #takeElement({ tag, isEnd, attributes }: HtmlPiece): void {
    const level = /^h([1-6])$/.exec(tag)?.[1];
    if (level !== undefined) {
      this.#takeHeading(Number(level), isEnd);
    } else if (tag === 'pre') {
      this.#takePre(isEnd);
    } else if (this.#table !== undefined || tag === 'table') {
      this.#takeTable(tag, isEnd);
    } else if (tag === 'ul' || tag === 'ol') {
      this.#close();
      if (isEnd) {
        this.#lists.pop();
      } else if (this.#lists.length < deepest) {
        this.#lists.push(tag);
      }
    } else if (tag === 'li') {
      this.#close();
      const indent = '  '.repeat(Math.max(0, this.#lists.length - 1));
      this.#prefix = isEnd ? '' : `${indent}${this.#lists.at(-1) === 'ol' ? '1.' : '-'} `;
    } else if (tag === 'br') {
      this.#text += '\n';
    } else if (tag === 'hr' || tag === 'blockquote' || block.test(tag)) {
      this.#close();
    } else {
      this.#takeInline(tag, isEnd, attributes);
    }
  }

  #takeHeading(level: number, isEnd: boolean): void {
    if (isEnd) {
      this.#text = this.#text.replaceAll('\n', ' ');
      this.#firstHeading ||= this.#text.trim();
    }
    this.#close();
    this.#prefix = isEnd ? '' : `${'#'.repeat(level)} `;
  }

  #takePre(isEnd: boolean): void {
    if (this.#table !== undefined) {
      return;
    }
    if (!isEnd) {
      this.#close();
      this.#pre += 1;
      return;
    }
    this.#pre = Math.max(0, this.#pre - 1);
    const code = this.#text.replace(/^\n+|\s+$/g, '');
    this.#text = '';
    if (code !== '') {
      const fence = code.includes('```') ? '~~~~' : '```';
      this.#blocks.push(`${fence}\n${code}\n${fence}`);
    }
  }

  /** A table within a cell is part of its text. */
  #takeTable(tag: string, isEnd: boolean): void {
    if (tag === 'table') {
      this.#tables = Math.max(0, this.#tables + (isEnd ? -1 : 1));
      if (!isEnd && this.#tables === 1) {
        this.#close();
        this.#table = { rows: [] };
      } else if (isEnd && this.#tables === 0) {
        this.#closeTable();
      }
    } else if (this.#tables === 1 && tag === 'tr' && !isEnd) {
      this.#table?.rows.push([]);
      this.#text = '';
    } else if (this.#tables === 1 && (tag === 'td' || tag === 'th')) {
      if (isEnd) {
        this.#table?.rows
          .at(-1)
          ?.push(this.#text.replace(/\s+/g, ' ').trim().replaceAll('|', '\\|'));
      }
      this.#text = '';
    } else if (block.test(tag) || tag === 'br' || tag === 'li') {
      this.#text += ' ';
    }
  }

  #closeTable(): void {
    const rows = (this.#table?.rows ?? []).filter(({ length }) => length > 0);
    this.#table = undefined;
    this.#text = '';
    const width = Math.max(0, ...rows.map(({ length }) => length));
    const line = (cells: readonly string[]): string =>
      `| ${Array.from({ length: width }, (_, index) => cells[index] ?? '').join(' | ')} |`;
    const [head, ...rest] = rows;
    if (head !== undefined) {
      this.#blocks.push([line(head), `|${' --- |'.repeat(width)}`, ...rest.map(line)].join('\n'));
    }
  }

  #takeInline(tag: string, isEnd: boolean, attributes: string): void {
    if (this.#pre > 0) {
      return;
    }
    if (tag === 'code' || tag === 'kbd' || tag === 'tt') {
      this.#takeMarked('`', isEnd);
    } else if (tag === 'strong' || tag === 'b') {
      this.#takeMarked('**', isEnd);
    } else if (tag === 'img') {
      this.#text += attributeOf(attributes, 'alt') ?? '';
    } else if (tag === 'a') {
      this.#takeLink(isEnd, attributes);
    }
  }

  /** Marks what an element encloses; one that does not end within its block marks nothing. */
  #takeMarked(mark: '`' | '**', isEnd: boolean): void {
    const from = this.#marked.get(mark);
    this.#marked.delete(mark);
    if (!isEnd) {
      this.#marked.set(mark, this.#text.length);
    } else if (from !== undefined) {
      const whole = this.#text.slice(from);
      const inner = whole.trim();
      if (inner !== '') {
        const start = this.#text.length - whole.trimStart().length;
        const before = this.#text.slice(0, start);
        const after = this.#text.slice(start + inner.length);
        this.#text = before + mark + inner + mark + after;
      }
    }
  }

  #takeLink(isEnd: boolean, attributes: string): void {
    if (!isEnd) {
      const href = attributeOf(attributes, 'href') ?? '';
      this.#link = /^https?:\/\/[^\s()<>]+$/.test(href)
        ? { href, from: this.#text.length }
        : undefined;
    } else if (this.#link !== undefined) {
      const { href, from } = this.#link;
      const shown = this.#text.slice(from).trim();
      if (shown !== '' && from <= this.#text.length) {
        this.#text = `${this.#text.slice(0, from)}[${shown}](${href})`;
      }
      this.#link = undefined;
    }
  }

  #close(): void {
    if (this.#pre > 0 || this.#table !== undefined) {
      return;
    }
    const text = this.#text.replace(/[ \t]*\n[ \t]*/g, '\n').trim();
    this.#text = '';
    this.#link = undefined;
    this.#marked.clear();
    if (text !== '') {
      const isItem = /^\s*(?:-|1\.) $/.test(this.#prefix);
      const line = this.#prefix + text;
      if (isItem && /^\s*(?:-|1\.) /.test(this.#blocks.at(-1)?.split('\n').at(-1) ?? '')) {
        this.#blocks[this.#blocks.length - 1] += `\n${line}`;
      } else {
        this.#blocks.push(line);
      }
      this.#prefix = isItem ? ' '.repeat(this.#prefix.length) : '';
    }
  }
}
