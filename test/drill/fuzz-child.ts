import { openSync, writeSync } from 'node:fs';

import { isSvcError } from 'svc/sdk';
import { seeded } from 'svc/seeded';

import { mutatedBytes, mutatedText } from './fuzz-mutate.ts';
import { type Parser, parsers } from './fuzz-parsers.ts';

export interface FuzzOrder {
  readonly seed: number;
  readonly only: string;
  readonly until: number;
  /** Tries of each parser at most. */
  readonly most: number;
  /** Number of the first try, by parser. */
  readonly from: Readonly<Record<string, number>>;
  /** File that tells what is under way: number of the parser, and of its try. */
  readonly place: string;
}

export interface Find {
  readonly parser: string;
  readonly number: number;
  readonly problem: string;
  readonly input: string;
}

export interface FuzzReport {
  readonly done: Readonly<Record<string, number>>;
  readonly slowestMs: Readonly<Record<string, number>>;
}

/** What an engine throws by itself; readers of files say in words of their own what is wrong. */
const own =
  /^Invalid (?:array|string|typed array|array buffer|count) |Maximum call stack|out of bounds|out of range|allocation failed|must be (?:a multiple|an integer)|cannot be converted to a BigInt|beyond the range/i;

/** Tries in one go of one parser. */
const each = 50;
const { seed, only, until, most, from, place } = JSON.parse(process.argv.at(-1)!) as FuzzOrder;
const file = openSync(place, 'r+');
const at = new Float64Array(2);
const done: Record<string, number> = {};
const slowestMs: Record<string, number> = {};

const chosen = parsers().filter(({ name }) => name.includes(only));
process.send!(chosen.map(({ name }) => name));
for (let tries = 0; tries < most && Date.now() < until && chosen.length > 0; tries += each) {
  for (const [index, parser] of chosen.entries()) {
    at[0] = index;
    const first = (from[parser.name] ?? 0) + (done[parser.name] ?? 0);
    for (let number = first; number < first + each; number++) {
      at[1] = number;
      writeSync(file, at, 0, at.byteLength, 0);
      await tried(parser, number);
      done[parser.name] = (done[parser.name] ?? 0) + 1;
    }
  }
  process.send!({ done: { ...done }, slowestMs: { ...slowestMs } } satisfies FuzzReport);
}

process.disconnect();

async function tried(parser: Parser, number: number): Promise<void> {
  const random = seeded(seed, parser.name, number);
  const input =
    parser.kind === 'text'
      ? // As it arrives: in UTF-8, which knows no half of a character.
        Buffer.from(mutatedText(random, parser.seeds)).toString('utf8')
      : mutatedBytes(random, parser.seeds);
  const began = performance.now();
  let problem: string | undefined;
  try {
    await parser.parse(input as never);
  } catch (error) {
    problem = problemOf(error);
  }
  slowestMs[parser.name] = Math.max(slowestMs[parser.name] ?? 0, performance.now() - began);
  if (problem !== undefined) {
    const shown = typeof input === 'string' ? JSON.stringify(input) : input.toString('hex');
    const find: Find = { parser: parser.name, number, problem, input: shown.slice(0, 2_000) };
    process.send!(find);
  }
}

/** Returns why an error is none that a parser may throw; undefined for one that says what is wrong with its input. */
function problemOf(error: unknown): string | undefined {
  const isFault =
    !(error instanceof Error) ||
    (!isSvcError(error) &&
      (error instanceof TypeError ||
        error instanceof ReferenceError ||
        error instanceof URIError ||
        error.name === 'AssertionError' ||
        (error instanceof RangeError && own.test(error.message))));
  if (!isFault) {
    return undefined;
  }
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const [, where = ''] =
    /\n\s+at (?:.*\()?(?:file:\/\/)?[^\n]*?((?:plugins|core)\/[^\n)]+)/.exec(stack) ?? [];
  return `${String(error).slice(0, 300)} at ${where}`;
}
