import { readFileSync, writeSync } from 'node:fs';

import { BadZip, ZipArchive } from 'svc/zip';

import { type ExportedDoc, exportedDocuments } from './archive-export.ts';
import { docxText } from './docx.ts';
import { htmlText } from './html.ts';
import { pagesMark } from './pages-mark.ts';
import { ParseRefusal } from './parts.ts';
import { pdfText } from './pdf.ts';

/** Output of the parsing process, as one line of JSON. */
export interface Parsed {
  readonly text?: string;
  readonly title?: string | undefined;
  /** Documents of an export, or the pages of a website in their order. */
  readonly documents?: readonly ExportedDoc[];
  /** Number of files of an export that are no documents. */
  readonly skipped?: number;
  /** Why the file cannot be a document; absent when it can. */
  readonly refusal?: string;
}

/** All that the process does: reads the one file that it may read, prints what it says, ends. */
export async function serveParser(): Promise<void> {
  const file = process.argv.at(-1)!;
  let parsed: Parsed;
  try {
    parsed = await parsedFrom(readFileSync(file));
    if (parsed.documents === undefined && (parsed.text ?? '').trim() === '') {
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

async function parsedFrom(bytes: Buffer): Promise<Parsed> {
  const start = bytes.subarray(0, pagesMark.length).toString('latin1');
  if (start === pagesMark) {
    return { documents: pagesIn(bytes.subarray(pagesMark.length).toString('utf8')) };
  }
  if (!start.startsWith('PK\x03\x04')) {
    return await pdfText(bytes);
  }
  return isWord(bytes) ? { text: docxText(bytes) } : exportedDocuments(bytes);
}

/** A damaged archive is taken for one, whose reader says what is wrong. */
function isWord(bytes: Buffer): boolean {
  try {
    return new ZipArchive(bytes).entries.some(({ name }) => name === 'word/document.xml');
  } catch (error) {
    if (error instanceof BadZip) {
      return true;
    }
    throw error;
  }
}

const pagesIn = (text: string): ExportedDoc[] =>
  (JSON.parse(text) as readonly string[]).map((html) => ({ path: '', ...htmlText(html) }));

function refusalOf(error: unknown): string {
  if (error instanceof ParseRefusal) {
    return error.message;
  }
  const name = error instanceof Error ? error.name : '';
  return name === 'PasswordException'
    ? 'the PDF is encrypted; remove its password and upload it again'
    : 'the file is damaged; save it again with the program that created it, and upload that';
}
