import { unescaped } from './html-pieces.ts';
import { htmlText } from './html.ts';

/** Page of a space, as the XML of an export has it. */
export interface ExportedPage {
  /** Titles of the pages above, and its own. */
  readonly titles: readonly string[];
  readonly text: string;
}

/** Fields of an object by their names; one that refers to another object has its id. */
type Fields = ReadonlyMap<string, string>;

const contents: ReadonlySet<string> = new Set(['Page', 'BlogPost']);
const deepest = 20;

/**
 * Reads the pages of an `entities.xml`: those that are current, neither drafts nor earlier versions.
 */
export function pagesOfEntities(xml: string): readonly ExportedPage[] {
  const pages = new Map<string, Fields>();
  const bodies = new Map<string, string>();
  for (const { kind, id, fields } of objectsIn(xml)) {
    if (contents.has(kind)) {
      const isCurrent = (fields.get('contentStatus') ?? 'current') === 'current';
      if (isCurrent && !fields.has('originalVersion') && (fields.get('title') ?? '') !== '') {
        pages.set(id, fields);
      }
    } else if (kind === 'BodyContent') {
      bodies.set(fields.get('content') ?? '', fields.get('body') ?? '');
    }
  }
  return [...pages].map(([id, fields]) => ({
    titles: titlesOf(fields, pages),
    text: textOf(bodies.get(id) ?? ''),
  }));
}

function titlesOf(page: Fields, pages: ReadonlyMap<string, Fields>): readonly string[] {
  const titles: string[] = [];
  for (let at: Fields | undefined = page; at !== undefined && titles.length < deepest;) {
    titles.unshift(at.get('title')!);
    at = pages.get(at.get('parent') ?? '');
  }
  return titles;
}

interface EntityObject {
  readonly kind: string;
  readonly id: string;
  readonly fields: Fields;
}

const opening = '<object class="';
const closing = '</object>';

/** Each object in one pass; what a text contains ends none. */
function* objectsIn(xml: string): Generator<EntityObject> {
  for (let at = xml.indexOf(opening); at >= 0;) {
    const end = endOf(xml, closing, at);
    if (end < 0) {
      return;
    }
    const content = xml.slice(at + opening.length, end);
    const kind = content.slice(0, content.indexOf('"'));
    if (contents.has(kind) || kind === 'BodyContent') {
      const [, id = ''] = /<id name="id">(\w{1,40})<\/id>/.exec(content.slice(0, 500)) ?? [];
      yield { kind, id, fields: fieldsIn(content) };
    }
    at = xml.indexOf(opening, end);
  }
}

const cdata = '<![CDATA[';

/** Returns where a tag stands next, outside of texts; negative if nowhere. */
function endOf(xml: string, tag: string, from: number): number {
  let end = xml.indexOf(tag, from);
  for (let at = xml.indexOf(cdata, from); at >= 0 && at < end;) {
    const past = xml.indexOf(']]>', at);
    if (past < 0) {
      return -1;
    }
    if (past > end) {
      end = xml.indexOf(tag, past);
    }
    at = xml.indexOf(cdata, past);
  }
  return end;
}

function fieldsIn(content: string): Fields {
  const fields = new Map<string, string>();
  const open = '<property name="';
  for (let at = content.indexOf(open); at >= 0;) {
    const begin = at + open.length;
    const name = content.slice(begin, content.indexOf('"', begin)).slice(0, 60);
    const inside = content.indexOf('>', begin) + 1;
    if (inside === 0) {
      break;
    }
    if (content[inside - 2] === '/') {
      at = content.indexOf(open, inside);
      continue;
    }
    const end = endOf(content, '</property>', inside);
    if (end < 0) {
      break;
    }
    fields.set(name, valueOf(content.slice(inside, end)));
    at = content.indexOf(open, end);
  }
  return fields;
}

function valueOf(written: string): string {
  const text = written.trim();
  if (text.startsWith(cdata)) {
    return text.slice(cdata.length, text.lastIndexOf(']]>'));
  }
  return /<id[^<>]{0,40}>(\w{1,40})<\/id>/.exec(text.slice(0, 400))?.[1] ?? unescaped(text);
}

/** Converts the storage format: its macros are written as the HTML that they stand for. */
function textOf(body: string): string {
  let html = between(body, '<ac:parameter', '</ac:parameter>', () => '');
  html = between(html, '<ac:task-id>', '</ac:task-id>', () => '');
  html = between(html, '<ac:task-status>', '</ac:task-status>', () => '');
  html = between(
    html,
    '<ac:plain-text-body>',
    '</ac:plain-text-body>',
    (inner) => `<pre>${escaped(literal(inner))}</pre>`,
  );
  html = between(html, '<ac:link', '</ac:link>', linkText);
  return htmlText(
    html.replaceAll(/<(\/?)ac:task-list>/g, '<$1ul>').replaceAll(/<(\/?)ac:task>/g, '<$1li>'),
  ).text;
}

/** Says what a link shows: its own words, or the title of the page that it leads to. */
function linkText(inner: string): string {
  const [, title = ''] = /ri:content-title="([^"<>]{0,300})"/.exec(inner) ?? [];
  const shown = between(inner, '<ac:plain-text-link-body>', '</ac:plain-text-link-body>', (words) =>
    escaped(literal(words)),
  );
  const words = shown.slice(shown.indexOf('>') + 1).replaceAll(/<ri:[^<>]{0,600}>/g, '');
  return words.trim() === '' ? title : words;
}

/** Returns the text with what stands between each pair of tags replaced, in one pass. */
function between(
  text: string,
  open: string,
  close: string,
  made: (inner: string) => string,
): string {
  const parts: string[] = [];
  let from = 0;
  for (let at = text.indexOf(open); at >= 0; at = text.indexOf(open, from)) {
    const end = text.indexOf(close, at);
    if (end < 0) {
      break;
    }
    parts.push(text.slice(from, at), made(text.slice(at + open.length, end)));
    from = end + close.length;
  }
  parts.push(text.slice(from));
  return parts.join('');
}

/** A text within a text ends with a space before its last bracket, or it would end both. */
const literal = (written: string): string => {
  const text = written.trim();
  return text.startsWith(cdata)
    ? text
        .slice(cdata.length)
        .replace(/\]\] ?>$/, '')
        .replaceAll(']] >', ']]>')
    : unescaped(text);
};

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
