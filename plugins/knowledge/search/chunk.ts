/** Chunk of a document that is found as a unit: the text below one heading, or a part of it. */
export interface Chunk {
  /** Enclosing headings, outermost first. */
  readonly headings: readonly string[];
  /** Anchor of the nearest heading, as in pages; empty above the first one. */
  readonly anchor: string;
  readonly text: string;
}

interface Section {
  readonly headings: readonly string[];
  readonly anchor: string;
  readonly blocks: string[];
}

/** Target size in characters; below, the size above which one block is split. */
const aim = 1_400;
const most = 3_000;
const maxChunks = 20_000;

/** Parts a text at its headings, then between paragraphs; never within a table or code unless that alone is too long. */
export function chunksOf(content: string): Chunk[] {
  const chunks: Chunk[] = [];
  for (const { headings, anchor, blocks } of sectionsOf(withoutHeader(content))) {
    let text = '';
    const close = (): void => {
      if (text.trim() !== '' && chunks.length < maxChunks) {
        chunks.push({ headings, anchor, text: text.trim() });
      }
      text = '';
    };
    for (const block of blocks.flatMap(parted)) {
      if (text !== '' && text.length + block.length > aim) {
        close();
      }
      text += `${block}\n\n`;
    }
    close();
    // A heading with nothing below it is still a place.
    if (blocks.length === 0 && headings.length > 0 && chunks.length < maxChunks) {
      chunks.push({ headings, anchor, text: '' });
    }
  }
  return chunks;
}

/** Removes the header of a markdown file: title and tags are stored separately. */
function withoutHeader(content: string): string {
  const text = content.startsWith('\uFEFF') ? content.slice(1) : content;
  const header = /^---\r?\n[^]{0,65536}?\n---\r?(?:\n|$)/.exec(text);
  return header === null ? text : text.slice(header[0].length);
}

function sectionsOf(content: string): Section[] {
  const path: { readonly level: number; readonly title: string }[] = [];
  const anchors = new Map<string, number>();
  let section: Section = { headings: [], anchor: '', blocks: [] };
  const sections = [section];
  for (const block of blocksOf(content)) {
    const heading = headingOf(block);
    if (heading === undefined) {
      section.blocks.push(block);
      continue;
    }
    while ((path.at(-1)?.level ?? 0) >= heading.level) {
      path.pop();
    }
    path.push(heading);
    section = {
      headings: path.map(({ title }) => title),
      anchor: anchorOf(heading.title, anchors),
      blocks: [],
    };
    sections.push(section);
  }
  return sections;
}

/** Paragraphs, headings, lists, tables and code, in order. */
function* blocksOf(content: string): Generator<string> {
  let lines: string[] = [];
  let fence: string | undefined;
  for (const line of content.split(/\r\n|\n|\r/)) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      lines.push(line);
      if (mark?.startsWith(fence) && line.trim() === mark) {
        yield lines.join('\n');
        lines = [];
        fence = undefined;
      }
      continue;
    }
    const isHeading = /^ {0,3}#{1,6}(?:[ \t]|$)/.test(line);
    const isUnderline =
      lines.length === 1 &&
      /^ {0,3}(?:=+|-+)[ \t]*$/.test(line) &&
      lines[0]!.trim() !== '' &&
      !lines[0]!.startsWith('|');
    if (mark !== undefined || isHeading || line.trim() === '') {
      if (lines.length > 0) {
        yield lines.join('\n');
      }
      lines = line.trim() === '' ? [] : [line];
      fence = mark;
      if (isHeading) {
        yield line;
        lines = [];
      }
    } else if (isUnderline) {
      yield `${line.includes('=') ? '#' : '##'} ${lines[0]!.trim()}`;
      lines = [];
    } else {
      lines.push(line);
    }
  }
  if (lines.length > 0) {
    yield lines.join('\n');
  }
}

function headingOf(block: string): { readonly level: number; readonly title: string } | undefined {
  const [, marks, title] = /^ {0,3}(#{1,6})(?:[ \t]+([^\n]*))?$/.exec(block) ?? [];
  if (marks === undefined) {
    return undefined;
  }
  const plain = (title ?? '')
    .replace(/[ \t]+#+[ \t]*$/, '')
    .replace(/\[([^\]]{0,500})\]\([^)]{0,500}\)/g, '$1')
    .replace(/[`*]/g, '')
    .trim();
  return { level: marks.length, title: plain.slice(0, 200) };
}

/** Returns an anchor as GitHub makes it; the second heading of the same name gets a number. */
function anchorOf(title: string, known: Map<string, number>): string {
  const plain = title
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
  const count = known.get(plain) ?? 0;
  known.set(plain, count + 1);
  return count === 0 ? plain : `${plain}-${count}`;
}

/** A block that is too long, by its lines; each part of a table begins with the head of the table, each part of code is code. */
function parted(block: string): readonly string[] {
  if (block.length <= most) {
    return [block];
  }
  const lines = block.split('\n');
  const isTable = /^\s*\|/.test(lines[0]!) && /^\s*\|?[\s:|-]+$/.test(lines[1] ?? '');
  const head = isTable ? `${lines.slice(0, 2).join('\n')}\n` : '';
  const parts: string[] = [];
  let text = '';
  for (const line of (isTable ? lines.slice(2) : lines).flatMap(shortLines)) {
    if (text.length + line.length > aim && text !== '') {
      parts.push(head + text);
      text = '';
    }
    text += `${line}\n`;
  }
  return text.trim() === '' ? parts : [...parts, head + text];
}

function shortLines(line: string): readonly string[] {
  const parts: string[] = [];
  let rest = line;
  while (rest.length > aim) {
    const space = rest.lastIndexOf(' ', aim);
    const end = space > aim / 2 ? space : aim;
    parts.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return [...parts, rest];
}
