import { compileRegex } from 'svc/query';

import type { LineOp, LineText } from '../syntax/ast.ts';
import { addressMatcher, lineHasAddress } from './ip-match.ts';
import { lineMatcher } from './line-pattern.ts';

export interface LineFilter {
  passes(line: string): boolean;
  /** What every line that passes contains; empty when nothing is known. */
  readonly needs: string;
}

export function lineFilter(op: LineOp, texts: readonly LineText[]): LineFilter {
  const tests = texts.map((text) => lineTest(op, text));
  const negative = op.startsWith('!');
  if (tests.length === 1) {
    const { test, needs } = tests[0]!;
    return negative ? { passes: (line) => !test(line), needs: '' } : { passes: test, needs };
  }
  return { passes: (line) => tests.some(({ test }) => test(line)) !== negative, needs: '' };
}

function lineTest(op: LineOp, { text, ip }: LineText): { test: (line: string) => boolean; needs: string } {
  if (ip) {
    const matches = addressMatcher(text);
    return { test: (line) => lineHasAddress(line, matches), needs: '' };
  }
  switch (op) {
    case '|=':
    case '!=':
      return { test: (line) => line.includes(text), needs: text };
    case '|~':
    case '!~': {
      const pattern = compileRegex(text);
      return { test: pattern.test, needs: pattern.contains ?? '' };
    }
    case '|>':
    case '!>': {
      const { test, longest } = lineMatcher(text);
      return { test, needs: longest };
    }
  }
}
