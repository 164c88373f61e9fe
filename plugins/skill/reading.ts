import { RE2JS } from 're2js';
import { messageOf } from 'svc/sdk';

import { errors } from './errors.ts';

/** Longer lines are read in pieces, so that one endless line can be read on in as well. */
const longestLine = 1_000;
const headBytes = 3_000;
const tailBytes = 1_500;
const maxBytes = 6_000;

export interface ReadAsk {
  readonly filter?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export interface ReadAnswer {
  readonly lines: readonly string[];
  readonly total_lines: number;
  /** Number of lines that match filter and range. */
  readonly matching: number;
  /** Position to continue at, as `from`. */
  readonly next: number | null;
}

/** Beginning, end and measures of a text that is too long to be given whole. */
export function digestOf(text: string): {
  readonly lines: number;
  readonly head: string;
  readonly tail: string;
} {
  const lines = linesOf(text);
  return {
    lines: lines.length,
    head: within(lines, headBytes).join('\n'),
    tail: within(lines.toReversed(), tailBytes).toReversed().join('\n'),
  };
}

/** Lines of a text, each behind its number: all, those of a range, those that match, as many as fit into one answer. */
export function readIn(
  text: string,
  { filter, from = 1, to = Number.MAX_SAFE_INTEGER }: ReadAsk,
): ReadAnswer {
  const all = linesOf(text);
  const fits = filter === undefined ? () => true : matcherOf(filter);
  const found = all
    .map((line, index) => ({ line, number: index + 1 }))
    .filter(({ line, number }) => number >= from && number <= to && fits(line));
  const lines = within(
    found.map(({ line, number }) => `${number}: ${line}`),
    maxBytes,
  );
  return {
    lines,
    total_lines: all.length,
    matching: found.length,
    next: found[lines.length]?.number ?? null,
  };
}

function linesOf(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const pieces: string[] = [];
    for (let start = 0; start === 0 || start < line.length; start += longestLine) {
      pieces.push(line.slice(start, start + longestLine));
    }
    return pieces;
  });
}

/** Returns as many from the front as fit in JSON. */
function within(lines: readonly string[], bytes: number): string[] {
  let left = bytes;
  const end = lines.findIndex((line) => (left -= Buffer.byteLength(JSON.stringify(line)) + 1) < 0);
  return end < 0 ? [...lines] : lines.slice(0, end);
}

function matcherOf(filter: string): (line: string) => boolean {
  try {
    const pattern = RE2JS.compile(filter, RE2JS.CASE_INSENSITIVE);
    return (line) => pattern.matcher(line).find();
  } catch (error) {
    throw errors.filter({ cause: messageOf(error) }, { cause: error });
  }
}
