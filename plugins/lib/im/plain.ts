import { cutToBytes, withoutMentions } from './text.ts';

const zeroWidth = '\u200b';

/** Runs of what platforms read as emphasis or code, where they would. */
const marks = /`+|(?<=\S)[*~]+|[*~]+(?=\S)|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu;
const marksAndAddresses =
  /https?:\/\/[^\s<>]+|`+|(?<=\S)[*~]+|[*~]+(?=\S)|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu;
const lookAlikes: Readonly<Record<string, string>> = { '`': '｀', '*': '＊', '~': '～', _: '＿' };

/** Text that is neither bold nor code: marks become letters that look like them, and in addresses what leads to the same place. */
export const unmarked = (text: string): string =>
  text.replaceAll(marksAndAddresses, (found) =>
    found.startsWith('http')
      ? found.replaceAll(marks, (run) =>
          `%${run.charCodeAt(0).toString(16).toUpperCase()}`.repeat(run.length),
        )
      : found.replaceAll(/./g, (mark) => lookAlikes[mark]!),
  );

/**
 * Neutralizes markdown for platforms without escapes: what would begin a tag, a link, a list or
 * emphasis is broken; names stay as they are.
 */
export const markdown = (text: string): string =>
  unmarked(withoutMentions(text))
    .replaceAll('<', '＜')
    .replaceAll('>', '＞')
    .replaceAll(/\](?=[([:])/g, `]${zeroWidth}`)
    .replaceAll(/^(?=[-+*=#])/gm, zeroWidth);

export interface Fitting {
  readonly most: number;
  /** Link to the full text; empty if there is none. */
  readonly link: string;
  readonly escape?: (line: string) => string;
  /** An address stays one. */
  readonly escapeLink?: (link: string) => string;
}

const same = (text: string): string => text;

/**
 * Min bytes of a line before it is truncated in favour of others, so that short lines stay complete
 * next to a long one.
 */
const leastLine = 240;

/**
 * Fits the lines into `most` bytes, escaped: the longest lines are truncated first, then the last
 * ones dropped. The truncation is marked, with a link.
 */
export function fitted(
  lines: readonly string[],
  { most, link, escape = same, escapeLink = same }: Fitting,
): string {
  const whole = lines.map(escape);
  if (Buffer.byteLength(whole.join('\n')) <= most) {
    return whole.join('\n');
  }
  const rest = link === '' ? '…' : `… full: ${escapeLink(link)}`;
  const room = most - Buffer.byteLength(rest) - 1;
  const sizes = whole.map((line) => Buffer.byteLength(line) + 1);
  const longest = Math.max(leastLine, fairShare(sizes, room) - 1);
  const kept: string[] = [];
  let used = 0;
  for (const [at, line] of lines.entries()) {
    const text =
      Buffer.byteLength(whole[at]!) <= longest
        ? whole[at]!
        : `${longestFit(line, longest - 3, escape)}…`;
    if (used + Buffer.byteLength(text) + 1 > room) {
      const part = longestFit(line, room - used - 1, escape);
      kept.push(...(part === '' ? [] : [part]));
      break;
    }
    kept.push(text);
    used += Buffer.byteLength(text) + 1;
  }
  return [...kept, rest].join('\n');
}

/** Returns the size to which the longest are truncated so that all of them fit. */
function fairShare(sizes: readonly number[], room: number): number {
  let left = room;
  for (const [at, size] of sizes.toSorted((a, b) => a - b).entries()) {
    const share = Math.floor(left / (sizes.length - at));
    if (size > share) {
      return share;
    }
    left -= size;
  }
  return Infinity;
}

/** Cut before it is escaped, so that no escape is ever cut in two. */
function longestFit(line: string, maxBytes: number, escape: (line: string) => string): string {
  let [low, high] = [0, Math.max(0, maxBytes)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (Buffer.byteLength(escape(cutToBytes(line, middle, ''))) <= maxBytes) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return escape(cutToBytes(line, low, ''));
}
