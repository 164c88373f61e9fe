import { ParseRefusal } from './parts.ts';

/** Line of a page, with the size of its letters. */
interface Line {
  readonly text: string;
  readonly size: number;
}

/** Heading in the outline of a PDF. */
interface Outlined {
  readonly title: string;
  readonly items?: readonly Outlined[];
}

type Levels = (line: Line) => number | undefined;

const maxPages = 3_000;
const maxText = 4 * 1024 * 1024;
const maxHeading = 150;
const maxOutline = 2_000;
const deepest = 4;
/** A heading is this much larger than the text. */
const larger = 1.15;
/** Share of all letters above which large ones are the text itself. */
const mostHeadings = 0.3;

/**
 * Converts a PDF to markdown: its headings, as the outline or the size of letters tells them, and
 * below each the page, so that what is found says where it stands.
 */
export async function pdfText(
  bytes: Buffer,
): Promise<{ readonly text: string; readonly title: string | undefined }> {
  const { getDocumentProxy, getMeta } = await import('unpdf');
  const document = await getDocumentProxy(new Uint8Array(bytes), {
    isEvalSupported: false,
    disableFontFace: true,
    stopAtErrors: false,
    verbosity: 0,
  });
  if (document.numPages > maxPages) {
    throw new ParseRefusal(
      `the PDF has ${document.numPages} pages, and the limit is ${maxPages}; split it`,
    );
  }
  const { info } = await getMeta(document);
  const pages: Line[][] = [];
  let letters = 0;
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number);
    const lines = linesOf((await page.getTextContent()).items as readonly Item[]);
    page.cleanup();
    letters += lines.reduce((sum, { text }) => sum + text.length, 0);
    if (letters > maxText) {
      throw new ParseRefusal(
        `the PDF has more text than the ${maxText / 1024 / 1024} MiB that a document can have; part it into several`,
      );
    }
    pages.push(lines);
  }
  // Untyped there, and damaged in some files: then the size of letters has to do.
  const outline = await document.getOutline().catch(() => null);
  const levels = levelsOf(pages, (outline ?? []) as readonly Outlined[]);
  const title = (info as { Title?: unknown } | undefined)?.Title;
  return {
    text: markdownOf(pages, levels),
    title:
      typeof title === 'string' && title.trim() !== '' ? title.trim().slice(0, 200) : undefined,
  };
}

interface Item {
  readonly str?: string;
  readonly hasEOL?: boolean;
  readonly transform?: readonly number[];
}

function linesOf(items: readonly Item[]): Line[] {
  const lines: Line[] = [];
  let [text, size] = ['', 0];
  const close = (): void => {
    lines.push({ text: text.replaceAll('\0', ''), size: Math.round(size * 2) / 2 });
    [text, size] = ['', 0];
  };
  for (const { str, hasEOL, transform } of items) {
    if (str === undefined) {
      continue;
    }
    text += str;
    if (str.trim() !== '') {
      size = Math.max(size, Math.hypot(transform?.[2] ?? 0, transform?.[3] ?? 0));
    }
    if (hasEOL === true) {
      close();
    }
  }
  if (text !== '') {
    close();
  }
  return lines;
}

/** Levels by the outline where its titles stand in the text, else by size; none where neither tells. */
function levelsOf(pages: readonly (readonly Line[])[], outline: readonly Outlined[]): Levels {
  const lines = pages.flat().filter(({ text }) => text.trim() !== '');
  const outlined = new Map<string, number>();
  const collect = (items: readonly Outlined[], level: number): void => {
    for (const { title, items: below = [] } of items.slice(0, maxOutline - outlined.size)) {
      outlined.set(plain(String(title)), Math.min(level, deepest));
      collect(below, level + 1);
    }
  };
  collect(outline, 1);
  outlined.delete('');
  if (lines.filter(({ text }) => outlined.has(plain(text))).length >= Math.min(2, outlined.size)) {
    if (outlined.size > 0) {
      return ({ text }) => (text.length > maxHeading ? undefined : outlined.get(plain(text)));
    }
  }
  return bySize(pages, lines);
}

function bySize(pages: readonly (readonly Line[])[], lines: readonly Line[]): Levels {
  const letters = new Map<number, number>();
  for (const { text, size } of lines) {
    letters.set(size, (letters.get(size) ?? 0) + text.length);
  }
  const [body] = [...letters].reduce((most, one) => (one[1] > most[1] ? one : most), [0, 0] as [
    number,
    number,
  ]);
  const repeated = runningHeads(pages);
  const isHeading = ({ text, size }: Line): boolean =>
    size >= body * larger &&
    text.length <= maxHeading &&
    /\p{L}/u.test(text) &&
    !repeated.has(plain(text));
  const headings = lines.filter(isHeading);
  const lettersOf = (some: readonly Line[]): number =>
    some.reduce((sum, { text }) => sum + text.length, 0);
  if (body === 0 || lettersOf(headings) > lettersOf(lines) * mostHeadings) {
    return () => undefined;
  }
  const sizes = [...new Set(headings.map(({ size }) => size))].toSorted((a, b) => b - a);
  return (line) => (isHeading(line) ? Math.min(sizes.indexOf(line.size) + 1, deepest) : undefined);
}

/** Returns lines that stand on most pages, such as the name of the manual. */
function runningHeads(pages: readonly (readonly Line[])[]): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const lines of pages) {
    for (const text of new Set(lines.map((line) => plain(line.text)))) {
      counts.set(text, (counts.get(text) ?? 0) + 1);
    }
  }
  return new Set(
    [...counts].filter(([, count]) => count > 3 && count > pages.length / 2).map(([text]) => text),
  );
}

/** Comparable form of a heading: without its number, its dots and the page at its end. */
const plain = (text: string): string =>
  text
    .replace(/^[\s\d.]+/, '')
    .replace(/[\s.\d]+$/, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();

function markdownOf(pages: readonly (readonly Line[])[], levels: Levels): string {
  const blocks: string[] = [];
  const levelOfPage = 1 + Math.max(1, ...pages.flat().map((line) => levels(line) ?? 0));
  let text: string[] = [];
  const close = (page: number): void => {
    const block = text.join('\n').trim();
    if (block !== '') {
      blocks.push(`${'#'.repeat(levelOfPage)} Page ${page}`, block);
    }
    text = [];
  };
  pages.forEach((lines, index) => {
    let before: { readonly level: number; readonly size: number } | undefined;
    for (const line of lines) {
      const level = levels(line);
      if (level === undefined) {
        text.push(line.text);
        before = line.text.trim() === '' ? before : undefined;
        continue;
      }
      close(index + 1);
      const title = line.text.trim().replace(/\s+/g, ' ');
      if (before?.level === level && before.size === line.size) {
        // A long heading goes on in the next line.
        blocks[blocks.length - 1] += ` ${title}`;
      } else {
        blocks.push(`${'#'.repeat(level)} ${title}`);
      }
      before = { level, size: line.size };
    }
    close(index + 1);
  });
  return blocks.join('\n\n');
}
