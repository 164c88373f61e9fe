import { isLabelName, labelNames } from '../lines/label-name.ts';
import type { StageContext, StageRun } from '../lines/stage.ts';
import type { WorkingLine } from '../lines/working-line.ts';
import type { Extraction } from '../syntax/ast.ts';
import { readable } from './json-scan.ts';

export const logfmtError = 'LogfmtParserErr';

export interface LogfmtOptions {
  /** True to stop with an error at anything that is not a pair. */
  readonly strict: boolean;
  /** A key without a value becomes a label, too. */
  readonly keepEmpty: boolean;
  readonly fields: readonly Extraction[];
}

/** `| logfmt`: a label for every pair; with names given, only for those. */
export function logfmtParser(
  { strict, keepEmpty, fields }: LogfmtOptions,
  { wanted }: StageContext,
): StageRun {
  const bad = fields.find(({ name, expression }) => !isLabelName(name) || expression.trim() === '');
  if (bad !== undefined) {
    throw new Error(`invalid extracted label name '${bad.name}'`);
  }
  const nameOf = labelNames();
  const expected: string[] = [];
  const suffixed =
    wanted === undefined
      ? undefined
      : new Set([...wanted].map((name) => name.replace(/_extracted$/, '')));
  const named = new Map<string, string[]>();
  for (const { name, expression } of fields) {
    named.set(expression, [...(named.get(expression) ?? []), name]);
  }
  const store = (work: WorkingLine, key: string, value: string): void => {
    if (suffixed !== undefined && !suffixed.has(key) && !wanted!.has(key)) {
      return;
    }
    const name = work.nameFor(key);
    if (name !== undefined && (wanted === undefined || wanted.has(name))) {
      work.add(name, value);
    }
  };
  const pair = (work: WorkingLine, key: string, value: string): void => {
    if (value === '' && !keepEmpty) {
      return;
    }
    if (named.size === 0) {
      store(work, nameOf(key), value);
    } else {
      named.get(key)?.forEach((name) => store(work, name, value));
    }
  };
  return (work) => {
    const fault = eachPair(work.line, strict, expected, (key, value) => pair(work, key, value));
    if (fault !== undefined) {
      work.fail(logfmtError, fault);
    }
    for (const { name } of fields) {
      if (work.get(name) === undefined) {
        work.add(name, '');
      }
    }
    return true;
  };
}

const equals = 61;
const quote = 34;
const backslash = 92;

const maxExpected = 256;

/**
 * Visits the pairs of a line; returns what is wrong with it, if that matters. `expected` are the
 * keys of the previous line: one that recurs at its position is the same text, and need not be
 * sliced from the line.
 */
export function eachPair(
  line: string,
  strict: boolean,
  expected: string[],
  visit: (key: string, value: string) => void,
): string | undefined {
  let at = 0;
  for (let place = 0; ; place++) {
    while (at < line.length && line.charCodeAt(at) <= 32) {
      at += 1;
    }
    if (at >= line.length) {
      return undefined;
    }
    const again = expected[place];
    const same =
      again !== undefined &&
      line.charCodeAt(at + again.length) === equals &&
      line.startsWith(again, at);
    const keyEnd = same ? at + again.length : endOfKey(line, at);
    const sign = line.charCodeAt(keyEnd);
    const broken = line.slice(at, keyEnd).indexOf('\ufffd');
    if (broken >= 0 && strict) {
      return `logfmt syntax error at pos ${at + broken + 1} : invalid key`;
    }
    if (keyEnd === at || sign === quote || broken >= 0) {
      if (strict) {
        return `logfmt syntax error at pos ${keyEnd + 1} : unexpected '${line[keyEnd]!}'`;
      }
      at = endOfWord(line, keyEnd);
      continue;
    }
    const key = same ? again : line.slice(at, keyEnd);
    if (!same && place < maxExpected) {
      expected[place] = key;
    }
    if (sign !== equals) {
      visit(key, '');
      at = keyEnd;
      continue;
    }
    const from = keyEnd + 1;
    if (line.charCodeAt(from) === quote) {
      const end = endOfQuoted(line, from);
      if (end < 0) {
        // A quote that never closes takes the rest of the line with it.
        return strict
          ? `logfmt syntax error at pos ${line.length + 1} : unterminated quoted value`
          : undefined;
      }
      visit(key, unquoted(line, from, end));
      at = end;
    } else {
      const end = endOfWord(line, from);
      const value = line.slice(from, end);
      const wrong = value.search(/[="]/);
      if (wrong >= 0 && strict) {
        return `logfmt syntax error at pos ${from + wrong + 1} : unexpected '${value[wrong]!}'`;
      }
      if (wrong < 0) {
        visit(key, readable(value));
      }
      at = end;
    }
  }
}

function endOfKey(line: string, from: number): number {
  let i = from;
  for (; i < line.length; i++) {
    const code = line.charCodeAt(i);
    if (code <= 32 || code === equals || code === quote) {
      break;
    }
  }
  return i;
}

function endOfWord(line: string, from: number): number {
  let i = from;
  while (i < line.length && line.charCodeAt(i) > 32) {
    i += 1;
  }
  return i;
}

/** Returns the position after the closing quote; -1 if there is none. */
function endOfQuoted(line: string, from: number): number {
  for (let i = from + 1; i < line.length; i++) {
    const code = line.charCodeAt(i);
    if (code === backslash) {
      i += 1;
    } else if (code === quote) {
      return i + 1;
    }
  }
  return -1;
}

function unquoted(line: string, from: number, end: number): string {
  const inside = line.slice(from + 1, end - 1);
  if (!inside.includes('\\')) {
    return readable(inside);
  }
  try {
    return readable(JSON.parse(`"${inside.replace(/\p{Cc}/gu, escaped)}"`) as string);
  } catch {
    return inside;
  }
}

/** A control character as JSON writes it. */
const escaped = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
