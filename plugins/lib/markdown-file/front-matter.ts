import matter from 'gray-matter';

import { errors } from './errors.ts';
import { parsePlainYaml } from './plain-yaml.ts';

export interface FrontMatter {
  /** Frozen at every depth, and shared with nobody. */
  readonly header: Readonly<Record<string, unknown>>;
  /** Text after the closing line, byte for byte. */
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
    throw errors.file_too_large({ maxBytes: maxBytes / 1024 });
  }
  // A byte order mark states the encoding and is no part of the text; editors on Windows write one.
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text;
  checkFences(plain);
  // Always with options: without them gray-matter caches by content and hands every caller the same object.
  const { data, content } = matter(plain, { language: 'yaml', delimiters: '---', engines });
  return { header: Object.freeze(data), body: content };
}

const refuse = (language: string) => ({
  parse: (): never => {
    throw errors.header_language({ language });
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
    throw errors.first_line({ firstLine: JSON.stringify(firstLine(text)) });
  }
  const close = text.indexOf('\n---', 3);
  if (close === -1) {
    throw errors.header_open();
  }
  const header = text.slice(0, close + 1);
  if (!/^(\r?\n|$)/.test(text.slice(close + 4, close + 6))) {
    throw errors.closing_line({ line: header.split('\n').length });
  }
  checkBlankLines(header);
}

/** gray-matter looks for an empty header with a pattern that takes seconds on 64 KiB of blank lines. */
function checkBlankLines(header: string): void {
  let run = 0;
  for (const line of header.split(/\r\n|[\n\r\u2028\u2029]/)) {
    run = line.trim() === '' ? run + 1 : 0;
    if (run > maxBlankLines) {
      throw errors.blank_lines({ maxBlankLines });
    }
  }
}

const firstLine = (text: string): string => text.slice(0, 40).split(/\r?\n/, 1)[0] ?? '';
