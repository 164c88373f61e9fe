import matter from 'gray-matter';

import { SvcError } from 'svc/sdk';
import { parsePlainYaml } from './plain-yaml.ts';

export interface FrontMatter {
  /** Frozen at every depth, and shared with nobody. */
  readonly header: Readonly<Record<string, unknown>>;
  /** What follows the closing line, byte for byte. */
  readonly body: string;
}

const maxBlankLines = 32;

/**
 * Splits a markdown file into its YAML header and its body. The one door to gray-matter, which on its own
 * would run a `---js` header as code: here a header is plain data or it is refused.
 */
export function readFrontMatter(
  text: string,
  { maxBytes = 64 * 1024 }: { maxBytes?: number } = {},
): FrontMatter {
  if (Buffer.byteLength(text) > maxBytes) {
    throw refusal(
      `the file is larger than ${maxBytes / 1024} KiB; move what is not needed every time into a file of its own`,
    );
  }
  // A byte order mark tells the encoding and is no part of the text; editors on Windows write one.
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text;
  checkFences(plain);
  // Always with options: without them gray-matter caches by content and hands every caller the same object.
  const { data, content } = matter(plain, { language: 'yaml', delimiters: '---', engines });
  return { header: Object.freeze(data), body: content };
}

const refuse = (language: string) => ({
  parse: (): never => {
    throw refusal(`a header in ${language} is not accepted; write it in YAML`);
  },
});

/** Every name under which gray-matter looks for a parser leads here; it cuts the end of the last header line off. */
const engines = {
  yaml: { parse: (header: string) => parsePlainYaml(`${header}\n`) },
  ...Object.fromEntries(
    ['js', 'javascript', 'coffee', 'coffeescript', 'cson', 'json', 'toml'].map((language) => [
      language,
      refuse(language),
    ]),
  ),
};

/** The first and the closing line are exactly `---`; gray-matter alone would take `---js` and `----` too. */
function checkFences(text: string): void {
  if (!/^---(\r?\n|$)/.test(text)) {
    throw refusal(
      `the first line must be exactly ---, the beginning of the header; it is ${JSON.stringify(firstLine(text))}`,
    );
  }
  const close = text.indexOf('\n---', 3);
  if (close === -1) {
    throw refusal('the header is never closed; put a line that is exactly --- below it');
  }
  const header = text.slice(0, close + 1);
  if (!/^(\r?\n|$)/.test(text.slice(close + 4, close + 6))) {
    throw refusal(
      `line ${header.split('\n').length} begins with --- but has more on it; the line that closes the header must be exactly ---`,
    );
  }
  checkBlankLines(header);
}

/** gray-matter looks for an empty header with a pattern that takes seconds on 64 KiB of blank lines. */
function checkBlankLines(header: string): void {
  let run = 0;
  for (const line of header.split(/\r\n|[\n\r\u2028\u2029]/)) {
    run = line.trim() === '' ? run + 1 : 0;
    if (run > maxBlankLines) {
      throw refusal(`the header has more than ${maxBlankLines} blank lines in a row; remove them`);
    }
  }
}

const refusal = (message: string): SvcError => new SvcError('invalid_argument', message);

const firstLine = (text: string): string => text.slice(0, 40).split(/\r?\n/, 1)[0] ?? '';
