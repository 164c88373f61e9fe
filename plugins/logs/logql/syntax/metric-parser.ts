import {
  type BinaryOp,
  type Expr,
  type Grouping,
  type Matching,
  type MetricExpr,
  type RangeExpr,
  type RangeOp,
  rangeOps,
  type VectorOp,
  vectorOps,
} from './ast.ts';
import type { Cursor } from './cursor.ts';
import { parseError } from './parse-error.ts';
import { parseLog, parseLogRange } from './range-parser.ts';
import { checkAggregation, checkRange } from './rules.ts';

/** Precedence; operators that bind more tightly have higher numbers. */
export const precedence: ReadonlyMap<string, number> = new Map([
  ['or', 1],
  ['and', 2],
  ['unless', 2],
  ['==', 3],
  ['!=', 3],
  ['>', 3],
  ['>=', 3],
  ['<', 3],
  ['<=', 3],
  ['+', 4],
  ['-', 4],
  ['*', 5],
  ['/', 5],
  ['%', 5],
  ['^', 6],
]);
const comparison = 3;
const setOps: readonly string[] = ['or', 'and', 'unless'];

/** A query of either kind: lines, or numbers over lines. */
export function parseAny(cursor: Cursor): Expr {
  if (cursor.isSign('{')) {
    return parseLog(cursor);
  }
  if (cursor.isSign('(')) {
    const inner = cursor.nested(() => {
      cursor.take();
      const expr = parseAny(cursor);
      cursor.expectSign(')', ')');
      return expr;
    });
    return inner.kind === 'log' ? inner : binary(cursor, inner, 0);
  }
  return metric(cursor, 0);
}

function metric(cursor: Cursor, least: number): MetricExpr {
  return cursor.nested(() => binary(cursor, primary(cursor), least));
}

function binary(cursor: Cursor, first: MetricExpr, least: number): MetricExpr {
  let left = first;
  for (;;) {
    const op =
      cursor.token.kind === 'sign' || cursor.token.kind === 'IDENTIFIER' ? cursor.token.text : '';
    const level = precedence.get(op);
    if (level === undefined || level < least) {
      return left;
    }
    cursor.take();
    if (cursor.isWord('bool') && level !== comparison) {
      throw cursor.unexpected();
    }
    const bool = cursor.takeWord('bool');
    const matching = parseMatching(cursor, op);
    const right = metric(cursor, op === '^' ? level : level + 1);
    left = {
      kind: 'binary',
      op: op as BinaryOp,
      left,
      right,
      bool,
      ...(matching !== undefined && { matching }),
    };
    checkOperands(left);
  }
}

function checkOperands({
  op,
  left,
  right,
}: {
  op: string;
  left: MetricExpr;
  right: MetricExpr;
}): void {
  const literal = [left, right].find((side) => side.kind === 'number');
  if (setOps.includes(op) && literal !== undefined) {
    throw parseError(
      `unexpected literal for ${literal === left ? 'left' : 'right'} leg of logical/set binary operation (${op}): ${literal.value}`,
    );
  }
}

function parseMatching(cursor: Cursor, op: string): Matching | undefined {
  const on = cursor.isWord('on');
  if (!on && !cursor.isWord('ignoring')) {
    return undefined;
  }
  cursor.take();
  const labels = parseLabelList(cursor);
  const side = cursor.isWord('group_left')
    ? 'left'
    : cursor.isWord('group_right')
      ? 'right'
      : undefined;
  if (side === undefined) {
    return { on, labels, include: [] };
  }
  if (setOps.includes(op)) {
    throw cursor.fail(`no grouping allowed for "${op}" operation`);
  }
  cursor.take();
  return {
    on,
    labels,
    many: side,
    include: cursor.isSign('(') && isLabelList(cursor) ? parseLabelList(cursor) : [],
  };
}

/** `group_left (a) expr` names labels, `group_left (expr)` does not; only a list is names with commas up to its parenthesis. */
function isLabelList(cursor: Cursor): boolean {
  return /^\(\s*(?:[A-Za-z_]\w*\s*(?:,\s*[A-Za-z_]\w*\s*)*)?\)\s*[^\s)]/.test(
    cursor.query.slice(cursor.token.at),
  );
}

function primary(cursor: Cursor): MetricExpr {
  const { kind, text } = cursor.token;
  if (kind === 'NUMBER' || cursor.isSign('-') || cursor.isSign('+')) {
    return { kind: 'number', value: signedNumber(cursor) };
  }
  if (cursor.takeSign('(')) {
    return cursor.nested(() => {
      const inner = metric(cursor, 0);
      cursor.expectSign(')', ')');
      return inner;
    });
  }
  if (cursor.isSign('{')) {
    // Lines where numbers are expected: reported at the place where a range would have turned them
    // into numbers.
    parseLog(cursor);
    throw cursor.unexpected();
  }
  if (kind !== 'IDENTIFIER') {
    throw cursor.unexpected();
  }
  if ((rangeOps as readonly string[]).includes(text)) {
    return rangeAggregation(cursor, text as RangeOp);
  }
  if ((vectorOps as readonly string[]).includes(text)) {
    return vectorAggregation(cursor, text as VectorOp);
  }
  if (text === 'vector' || text === 'label_replace') {
    cursor.take();
    cursor.expectSign('(', '(');
    return text === 'vector' ? vector(cursor) : labelReplace(cursor);
  }
  throw cursor.unexpected();
}

function signedNumber(cursor: Cursor): number {
  const negative = cursor.takeSign('-');
  if (!negative) {
    cursor.takeSign('+');
  }
  const { value } = cursor.expect('NUMBER', 'NUMBER');
  return negative ? -value : value;
}

function vector(cursor: Cursor): MetricExpr {
  const value = signedNumber(cursor);
  cursor.expectSign(')', ')');
  return { kind: 'vector', value };
}

function labelReplace(cursor: Cursor): MetricExpr {
  const inner = metric(cursor, 0);
  const [target, replacement, source, regex] = [0, 1, 2, 3].map(() => {
    cursor.expectSign(',', ',');
    return cursor.expect('STRING', 'STRING').text;
  }) as [string, string, string, string];
  cursor.expectSign(')', ')');
  return { kind: 'label_replace', inner, target, replacement, source, regex };
}

function vectorAggregation(cursor: Cursor, op: VectorOp): MetricExpr {
  cursor.take();
  const before = parseGrouping(cursor);
  cursor.expectSign('(', ...(before === undefined ? [] : ['(']));
  const parameter = parameterAhead(cursor);
  const inner = metric(cursor, 0);
  cursor.expectSign(')', ')');
  const after = before === undefined ? parseGrouping(cursor) : before;
  const expr = {
    kind: 'aggregation',
    op,
    inner,
    ...(parameter !== undefined && { parameter }),
    ...(after !== undefined && { grouping: after }),
  } as const;
  checkAggregation(expr);
  return expr;
}

/** `topk(2, …)`: a number with a comma behind it is the parameter. */
function parameterAhead(cursor: Cursor): number | undefined {
  if (
    cursor.token.kind !== 'NUMBER' ||
    cursor.following.text !== ',' ||
    cursor.following.kind !== 'sign'
  ) {
    return undefined;
  }
  const { value } = cursor.take();
  cursor.take();
  return value;
}

function rangeAggregation(cursor: Cursor, op: RangeOp): MetricExpr {
  cursor.take();
  cursor.expectSign('(', '(');
  const parameter = parameterAhead(cursor);
  const range = parseLogRange(cursor);
  cursor.expectSign(')', ')');
  const by = parseGrouping(cursor);
  const expr: RangeExpr = {
    kind: 'range',
    op,
    ...range,
    ...(parameter !== undefined && { parameter }),
    ...(by !== undefined && { grouping: by }),
  };
  checkRange(expr);
  return expr;
}

/** `by (a, b)` or `without (a)`, where there is one. */
function parseGrouping(cursor: Cursor): Grouping | undefined {
  const without = cursor.isWord('without');
  if (!without && !cursor.isWord('by')) {
    return undefined;
  }
  cursor.take();
  return { without, labels: parseLabelList(cursor) };
}

function parseLabelList(cursor: Cursor): string[] {
  cursor.expectSign('(', '(');
  const labels: string[] = [];
  while (!cursor.isSign(')')) {
    labels.push(cursor.expect('IDENTIFIER', 'IDENTIFIER').text);
    if (!cursor.takeSign(',') && !cursor.isSign(')')) {
      throw cursor.unexpected(')', ',');
    }
  }
  cursor.take();
  return labels;
}
