const zeroWidth = '\u200b';

/** Text that a platform would take for a call to people is broken by an invisible character. */
export const withoutMentions = (text: string): string =>
  text.replaceAll(/(^|[^\p{L}\p{N}_])@(?=[\p{L}\p{N}_])/gu, `$1@${zeroWidth}`).replaceAll(/<(?=\/?(?:at\b|@|!))/gi, `<${zeroWidth}`);

/** For platforms whose markdown knows no escapes: what would begin a tag, a link or a list is broken; names stay as they are. */
export const markdown = (text: string): string =>
  withoutMentions(text)
    .replaceAll('<', '＜')
    .replaceAll('>', '＞')
    .replaceAll('](', `]${zeroWidth}(`)
    .replace(/^(?=[#>*-]+ )/, zeroWidth);

/** One line without control characters, of a bounded length. */
export function oneLine(text: string, most: number): string {
  const line = text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  return line.length > most ? `${cutAt(line, most - 1)}…` : line;
}

/** Lines may stay; other control characters may not. */
export const withoutControls = (text: string): string => text.replaceAll(/[^\P{Cc}\n\t]/gu, '');

/** The longest beginning of `text` that has at most `most` bytes as UTF-8 and ends between two characters. */
export function cutToBytes(text: string, most: number): string {
  if (most <= 0) {
    return '';
  }
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= most) {
    return text;
  }
  let end = most;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) {
    end -= 1;
  }
  return bytes.subarray(0, end).toString('utf8');
}

export const withLink = (lines: readonly string[], link: string): readonly string[] => (link === '' ? lines : [...lines, link]);

/** As much of the lines as fits, escaped; what is cut says so and leads on. */
export function fitted(lines: readonly string[], mostBytes: number, link: string, escape: (line: string) => string = (line) => line): string {
  const whole = lines.map(escape).join('\n');
  if (Buffer.byteLength(whole) <= mostBytes) {
    return whole;
  }
  const rest = escape(link === '' ? '…' : `… full: ${link}`);
  const room = mostBytes - Buffer.byteLength(rest) - 1;
  const kept: string[] = [];
  let used = 0;
  for (const line of lines) {
    const size = Buffer.byteLength(escape(line)) + 1;
    if (used + size <= room) {
      kept.push(escape(line));
      used += size;
      continue;
    }
    const part = longestFit(line, room - used - 1, escape);
    if (part !== '') {
      kept.push(part);
    }
    break;
  }
  return [...kept, rest].join('\n');
}

/** Cut before it is escaped, so that no escape is ever cut in two. */
function longestFit(line: string, mostBytes: number, escape: (line: string) => string): string {
  let [low, high] = [0, Math.max(0, mostBytes)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (Buffer.byteLength(escape(cutToBytes(line, middle))) <= mostBytes) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return escape(cutToBytes(line, low));
}

/** By UTF-16 units, but never between the two of one character. */
function cutAt(text: string, most: number): string {
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most);
}
