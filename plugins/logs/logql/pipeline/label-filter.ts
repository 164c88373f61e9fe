import { goDurationComplaint, matcher, parseFloatGo, readGoDuration } from 'svc/query';

import type { StageRun } from '../lines/stage.ts';
import { errorDetailsLabel, errorLabel, type WorkingLine } from '../lines/working-line.ts';
import type { CompareOp, LabelFilter, MatcherText } from '../syntax/ast.ts';
import { byteSizeComplaint, parseByteSize } from '../syntax/byte-size.ts';
import { addressMatcher, lineHasAddress } from './ip-match.ts';

export const labelFilterError = 'LabelFilterErr';

export function labelFilter(filter: LabelFilter): StageRun {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const left = labelFilter(filter.left);
      const right = labelFilter(filter.right);
      return filter.kind === 'and'
        ? (work) => left(work) && right(work)
        : (work) => left(work) || right(work);
    }
    case 'string': {
      const matches = textTest(filter);
      return (work) => matches(work.get(filter.name) ?? '');
    }
    case 'ip':
      return ipFilter(filter.name, filter.op === '=', filter.text);
    case 'number':
      return compared(
        filter.name,
        filter.op,
        filter.value,
        parseFloatGo,
        (text) => `strconv.ParseFloat: parsing ${JSON.stringify(text)}: invalid syntax`,
      );
    case 'duration':
      return compared(filter.name, filter.op, filter.value, readGoDuration, goDurationComplaint);
    case 'bytes':
      return compared(filter.name, filter.op, filter.value, parseByteSize, byteSizeComplaint);
  }
}

/** Texts without signs of a regular expression, open at one end or both, or not at all. */
const openText = /^(\.\*)?([^\\.+*?()|[\]{}^$]+)(\.\*)?$/;

/**
 * Tests text as in Loki's recorded answers: a pattern that is open at one end may match anywhere in
 * the value, so `=~"err.*"` also finds `stderr`. Any other expression must match the whole value.
 */
function textTest({ name, op, value }: MatcherText): (value: string) => boolean {
  const { matches } = matcher(name, op, value);
  const parts =
    op === '=~' || op === '!~' ? value.split('|').map((part) => openText.exec(part)) : [];
  if (
    parts.length === 0 ||
    parts.includes(null) ||
    parts.every((part) => part![1] === undefined && part![3] === undefined)
  ) {
    return matches;
  }
  const tests = parts.map((part) => ({
    text: part![2]!,
    open: (part![1] ?? part![3]) !== undefined,
  }));
  return (subject) =>
    tests.some(({ text, open }) => (open ? subject.includes(text) : subject === text)) ===
    (op === '=~');
}

const comparisons: Readonly<Record<CompareOp, (a: number, b: number) => boolean>> = {
  '=': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
};

/**
 * Compares a label; a line without it does not pass, whatever its parser said. The first error
 * stays the error of the line.
 */
function compared(
  name: string,
  op: CompareOp,
  wanted: number,
  read: (text: string) => number | undefined,
  complaint: (text: string) => string,
): StageRun {
  // As in Loki, an error is a text that only string filters see.
  if (name === errorLabel || name === errorDetailsLabel) {
    return () => false;
  }
  const holds = comparisons[op];
  return (work: WorkingLine) => {
    const text = work.get(name);
    if (text === undefined) {
      return false;
    }
    const value = read(text);
    if (value === undefined) {
      if (work.error === '') {
        work.fail(labelFilterError, complaint(text.slice(0, 100)));
      }
      return true;
    }
    return holds(value, wanted);
  };
}

/** Addresses are looked for anywhere in the value. A line that already has an error passes, so that the error is seen. */
function ipFilter(name: string, wanted: boolean, text: string): StageRun {
  const matches = addressMatcher(text);
  return (work) => {
    if (work.error !== '') {
      return true;
    }
    const value = work.get(name);
    return value !== undefined && lineHasAddress(value, matches) === wanted;
  };
}
