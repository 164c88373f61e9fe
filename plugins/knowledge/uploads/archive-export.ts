import { BadZip, ZipArchive, type ZipEntry } from 'svc/zip';

import { pagesOfEntities } from './confluence-xml.ts';
import { htmlText } from './html.ts';
import { ParseRefusal, sentences } from './parts.ts';

/** Document of an export. */
export interface ExportedDoc {
  /** Path within the export, without what the exporter adds to names. */
  readonly path: string;
  readonly title: string;
  readonly text: string;
}

export interface Exported {
  readonly documents: readonly ExportedDoc[];
  /** Number of files that are no documents, such as pictures. */
  readonly skipped: number;
}

const maxEntries = 20_000;
const maxDocuments = 2_000;
const maxPage = 4 * 1024 * 1024;
const maxBytes = 48 * 1024 * 1024;
const maxRows = 1_000;
const deepest = 2;
/** Notion ends each name with the id of its page. */
const notionId = /[ -]?[0-9a-f]{32}(?=\.\w+$|$)/;

/**
 * Reads the documents of an export: the HTML or XML of a Confluence space, or the Markdown, HTML and
 * CSV of Notion, whose archives may lie within another one.
 */
export function exportedDocuments(bytes: Buffer): Exported {
  const budget = { bytes: 0, documents: 0 };
  const found = readArchive(bytes, budget, 0);
  if (found.documents.length === 0) {
    throw new ParseRefusal(
      'the file is a zip archive, but neither a .docx nor an export of Confluence (HTML or XML) or Notion (Markdown & CSV, or HTML)',
    );
  }
  return found;
}

function readArchive(
  bytes: Buffer,
  budget: { bytes: number; documents: number },
  depth: number,
): Exported {
  const zip = opened(() => new ZipArchive(bytes));
  if (zip.entries.length > maxEntries) {
    throw new ParseRefusal(`the archive has more than ${maxEntries} files; split it`);
  }
  const documents: ExportedDoc[] = [];
  let skipped = 0;
  for (const entry of zip.entries) {
    const name = nameOf(entry);
    const kind = kindOf(name);
    if (entry.isFolder || kind === undefined || isAside(name)) {
      skipped += Number(!entry.isFolder);
      continue;
    }
    const most = kind === 'zip' || kind === 'entities' ? maxBytes : maxPage;
    budget.bytes += entry.size;
    if (entry.size > most || budget.bytes > maxBytes) {
      throw new ParseRefusal(
        `the archive unpacks to more than ${maxBytes / 1024 / 1024} MiB, or a page of it to more than ${maxPage / 1024 / 1024}; split it`,
      );
    }
    const content = opened(() => zip.read(entry));
    if (kind === 'zip') {
      const within =
        depth < deepest ? readArchive(content, budget, depth + 1) : { documents: [], skipped: 1 };
      documents.push(...within.documents);
      skipped += within.skipped;
      continue;
    }
    const own = kind === 'entities' ? documentsOf(content) : [documentOf(name, kind, content)];
    for (const doc of own) {
      if (doc === undefined) {
        skipped += 1;
      } else if ((budget.documents += 1) > maxDocuments) {
        throw new ParseRefusal(`the archive has more than ${maxDocuments} pages; split it`);
      } else {
        documents.push(doc);
      }
    }
  }
  return { documents, skipped };
}

function opened<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof BadZip ? new ParseRefusal(sentences[error.problem]) : error;
  }
}

/** Returns the name as its exporter wrote it, in UTF-8. */
const nameOf = ({ name }: ZipEntry): string =>
  Buffer.from(name, 'latin1').toString('utf8').normalize('NFC');

function kindOf(name: string): string | undefined {
  return /^(?:[^/]*\/)?entities\.xml$/.test(name)
    ? 'entities'
    : /\.(md|html?|csv|zip)$/i.exec(name)?.[1]?.toLowerCase();
}

/** Returns whether a file is what an exporter puts beside the pages. */
const isAside = (name: string): boolean =>
  /(?:^|\/)(?:attachments|images|styles|__MACOSX)\//.test(name) || /_all\.csv$/i.test(name);

function documentOf(name: string, kind: string, content: Buffer): ExportedDoc | undefined {
  const text = content.toString('utf8').replace(/^\uFEFF/, '');
  if (text.includes('\0')) {
    return undefined;
  }
  const doc =
    kind === 'md'
      ? notionPage(name, text)
      : kind === 'csv'
        ? notionTable(name, text)
        : confluencePage(name, text);
  return doc.text.trim() === '' ? undefined : doc;
}

const partsOf = (name: string): string[] =>
  name
    .split('/')
    .filter((part) => part !== '' && part !== '.' && part !== '..')
    .map((part) => part.replace(notionId, '').trim() || 'page');

function notionPage(name: string, text: string): ExportedDoc {
  const parts = partsOf(name);
  const title =
    /^#[ \t]+(.{1,200}?)[ \t]*$/m.exec(text.slice(0, 2_000))?.[1] ??
    parts.at(-1)!.replace(/\.md$/i, '');
  // Links to other pages of the export lead nowhere from here.
  const plain = text.replace(/\[([^\]]{0,300})\]\((?!https?:)[^)]{0,1000}\)/g, '$1');
  return { path: parts.join('/'), title, text: plain };
}

/** Converts a database to a table of its rows. */
function notionTable(name: string, text: string): ExportedDoc {
  const parts = partsOf(name);
  const title = parts.at(-1)!.replace(/\.csv$/i, '');
  const [head = [], ...rows] = rowsOf(text);
  const line = (cells: readonly string[]): string =>
    `| ${head.map((_, index) => (cells[index] ?? '').replace(/\s+/g, ' ').replaceAll('|', '\\|')).join(' | ')} |`;
  const table = [line(head), `|${' --- |'.repeat(head.length)}`, ...rows.map(line)].join('\n');
  return {
    path: parts.join('/').replace(/\.csv$/i, '.md'),
    title,
    text: head.length === 0 ? '' : `# ${title}\n\n${table}`,
  };
}

/** Rows of a CSV as RFC 4180 has it. */
function rowsOf(text: string): string[][] {
  const rows: string[][] = [[]];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g;
  for (let match = cell.exec(text); match !== null; match = cell.exec(text)) {
    rows.at(-1)!.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    if (match[3] === '' || rows.length > maxRows) {
      break;
    }
    if (match[3] !== ',') {
      rows.push([]);
    }
  }
  return rows.filter((row) => row.some((value) => value !== ''));
}

/** Reads the pages of a whole space; one without a text is left out. */
const documentsOf = (content: Buffer): (ExportedDoc | undefined)[] =>
  pagesOfEntities(content.toString('utf8')).map(({ titles, text }) =>
    text.trim() === '' ? undefined : placedPage(titles, text),
  );

function placedPage(titles: readonly string[], text: string): ExportedDoc {
  const parts = titles.map(
    (part) => part.replaceAll(/[/\\]/g, '-').replace(/\s+/g, ' ').trim() || 'page',
  );
  const title = titles.at(-1)!;
  return {
    path: `${parts.join('/')}.md`,
    title,
    text: /^#\s/.test(text) ? text : `# ${title}\n\n${text}`,
  };
}

/** Converts a page of a space; its place among the others is that of its breadcrumbs. */
function confluencePage(name: string, html: string): ExportedDoc {
  const { title, text } = htmlText(html);
  const [, crumbs = ''] = /<ol[^>]*id="breadcrumbs"[^>]*>([^]{0,20000}?)<\/ol>/i.exec(html) ?? [];
  const above = [...crumbs.matchAll(/<a\b[^>]*>([^<]{1,200})<\/a>/g)].map(([, shown]) =>
    htmlText(shown!).text.trim(),
  );
  // "Space : Page" is how an export titles its pages.
  const own = title.includes(' : ') ? title.slice(title.indexOf(' : ') + 3) : title;
  const folder = above.length > 0 ? above : partsOf(name).slice(0, -1);
  const last =
    own === ''
      ? partsOf(name)
          .at(-1)!
          .replace(/\.html?$/i, '')
      : own;
  return placedPage([...folder, last], text);
}
