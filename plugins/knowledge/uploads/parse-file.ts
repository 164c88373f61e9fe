import { readFileSync, writeSync } from 'node:fs';

import { docxText } from './docx.ts';
import { ParseRefusal } from './parts.ts';

/** Output of the parsing process, as one line of JSON. */
export interface Parsed {
  readonly text?: string;
  readonly title?: string | undefined;
  /** Why the file cannot be a document; absent when it can. */
  readonly refusal?: string;
}

const maxPages = 3_000;
const maxText = 4 * 1024 * 1024;

/** All that the process does: reads the one file that it may read, prints what it says, ends. */
export async function serveParser(): Promise<void> {
  const file = process.argv.at(-1)!;
  let parsed: Parsed;
  try {
    const bytes = readFileSync(file);
    parsed =
      bytes.subarray(0, 4).toString('latin1') === 'PK\x03\x04'
        ? { text: docxText(bytes) }
        : await pdfText(bytes);
    if ((parsed.text ?? '').trim() === '') {
      parsed = {
        refusal:
          'the file has no text in it; pages that are pictures must be read by a program for that (OCR) first',
      };
    }
  } catch (error) {
    parsed = { refusal: refusalOf(error) };
  }
  const line = Buffer.from(JSON.stringify(parsed));
  for (let at = 0; at < line.length;) {
    at += writeSync(1, line, at);
  }
}

/** Page by page, each below a heading of its own, so that what is found says on which page it stands. */
async function pdfText(bytes: Buffer): Promise<Parsed> {
  const { extractText, getDocumentProxy, getMeta } = await import('unpdf');
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
  const { text } = await extractText(document, { mergePages: false });
  const pages = text
    .map((page, index) => ({
      heading: `## Page ${index + 1}`,
      text: page.replaceAll('\0', '').trim(),
    }))
    .filter((page) => page.text !== '');
  const whole = pages.map((page) => `${page.heading}\n\n${page.text}`).join('\n\n');
  if (whole.length > maxText) {
    throw new ParseRefusal(
      `the PDF has more text than the ${maxText / 1024 / 1024} MiB that a document can have; part it into several`,
    );
  }
  const title = (info as { Title?: unknown } | undefined)?.Title;
  return {
    text: whole,
    title:
      typeof title === 'string' && title.trim() !== '' ? title.trim().slice(0, 200) : undefined,
  };
}

function refusalOf(error: unknown): string {
  if (error instanceof ParseRefusal) {
    return error.message;
  }
  const name = error instanceof Error ? error.name : '';
  return name === 'PasswordException'
    ? 'the PDF is encrypted; remove its password and upload it again'
    : 'the file is damaged; save it again with the program that created it, and upload that';
}
