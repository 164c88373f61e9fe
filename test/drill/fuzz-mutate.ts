import { pick, type Random } from 'svc/seeded';

const longest = 64 * 1024;
const extremes = [
  '0',
  '-1',
  '18446744073709551616',
  '1e309',
  'NaN',
  '-Inf',
  '0x1p-1074',
  '\u0000',
  '\ud800',
  '\u{1f600}',
  '\u202e',
  '__proto__',
  'constructor',
  '"',
  "'",
  '`',
  '\\',
  '\\u',
  '#',
  '\r\n',
  '&a',
  '*a',
  '{{',
  '}}',
  '${',
];
const brackets = ['(', '[', '{', '<', '(?:', '{{if ', '- ', '> ', '*', '"\\'];

const below = (random: Random, most: number): number => Math.floor(random() * most);

/** Words and signs: what a grammar is made of, so that what comes out is often almost right. */
const tokensOf = (text: string): string[] =>
  text.match(/[\p{L}\p{N}_.]+|\s+|[^\p{L}\p{N}_.\s]/gu) ?? [];

/** Changes a text by its tokens, with pieces of others of its kind. */
export function mutatedText(random: Random, seeds: readonly string[]): string {
  const tokens = tokensOf(pick(random, seeds));
  for (let left = 1 + below(random, 6); left > 0; left--) {
    const at = below(random, tokens.length + 1);
    const count = 1 + below(random, 4);
    switch (below(random, 8)) {
      case 0:
        tokens.splice(at, count);
        break;
      case 1:
        tokens.splice(at, 0, ...tokens.slice(at, at + count));
        break;
      case 2:
        tokens.splice(at, count, pick(random, extremes));
        break;
      case 3: {
        const others = tokensOf(pick(random, seeds));
        const from = below(random, others.length);
        tokens.splice(at, below(random, 3), ...others.slice(from, from + 1 + below(random, 12)));
        break;
      }
      case 4:
        tokens.splice(
          at,
          0,
          pick(random, brackets).repeat(1 + below(random, random() < 0.1 ? 5_000 : 8)),
        );
        break;
      case 5: {
        const run = tokens.slice(at, at + count).join('');
        tokens.splice(at, 0, run.repeat(below(random, random() < 0.1 ? 2_000 : 5)));
        break;
      }
      case 6: {
        const other = below(random, tokens.length + 1);
        [tokens[at], tokens[other]] = [tokens[other] ?? '', tokens[at] ?? ''];
        break;
      }
      default:
        tokens.length = Math.max(1, below(random, tokens.length + 1));
    }
  }
  return tokens.join('').slice(0, longest);
}

/** Changes bytes: single ones, runs, lengths, and pieces of others of their kind. */
export function mutatedBytes(random: Random, seeds: readonly Uint8Array[]): Buffer {
  let bytes = Buffer.from(pick(random, seeds));
  for (let left = 1 + below(random, 6); left > 0; left--) {
    const at = below(random, bytes.length + 1);
    const count = 1 + below(random, random() < 0.2 ? 64 : 4);
    const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
    switch (below(random, 8)) {
      case 0:
        bytes = Buffer.concat([before, after.subarray(count)]);
        break;
      case 1:
        bytes = Buffer.concat([before, after.subarray(0, count), after]);
        break;
      case 2:
        bytes[at] = 1 << below(random, 8);
        break;
      case 3:
        bytes[at] = (bytes[at] ?? 0) + pick(random, [1, -1, 0x80]);
        break;
      case 4: {
        const other = pick(random, seeds);
        const from = below(random, other.length);
        bytes = Buffer.concat([before, other.subarray(from, from + 1 + below(random, 64)), after]);
        break;
      }
      case 5:
        bytes = Buffer.concat([before, pick(random, numbers), after.subarray(below(random, 10))]);
        break;
      case 6:
        bytes = Buffer.concat([before, Buffer.alloc(count, below(random, 256)), after]);
        break;
      default:
        bytes = Buffer.from(before);
    }
  }
  return bytes.subarray(0, longest);
}

/** Lengths and numbers at the ends of their ranges, in the ways they are written. */
const numbers = [
  [0xff, 0xff, 0xff, 0xff],
  [0xff, 0xff, 0xff, 0x7f],
  [0x80, 0x80, 0x80, 0x80, 0x08],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
  [0, 0, 0, 0x80],
  [0, 0, 0xf8, 0x7f],
].map((bytes) => Buffer.from(bytes));
