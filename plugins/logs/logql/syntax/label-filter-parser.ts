import type { MatchOp } from 'svc/query';

import type { CompareOp, LabelFilter } from './ast.ts';
import type { Cursor } from './cursor.ts';

const compareOps: ReadonlyMap<string, CompareOp> = new Map([
  ['=', '='],
  ['==', '='],
  ['!=', '!='],
  ['>', '>'],
  ['>=', '>='],
  ['<', '<'],
  ['<=', '<='],
]);

/** Conditions joined by `or`, which binds less than `and`, a comma or just a blank. */
export function parseLabelFilter(cursor: Cursor): LabelFilter {
  let left = conjunction(cursor);
  while (cursor.takeWord('or')) {
    left = { kind: 'or', left, right: conjunction(cursor) };
  }
  return left;
}

function conjunction(cursor: Cursor): LabelFilter {
  let left = condition(cursor);
  while (cursor.takeWord('and') || cursor.takeSign(',') || startsCondition(cursor)) {
    left = { kind: 'and', left, right: condition(cursor) };
  }
  return left;
}

function startsCondition(cursor: Cursor): boolean {
  return (
    cursor.isSign('(') ||
    (cursor.token.kind === 'IDENTIFIER' &&
      !cursor.isWord('or') &&
      cursor.following.kind === 'sign' &&
      (compareOps.has(cursor.following.text) || cursor.following.text.endsWith('~')))
  );
}

function condition(cursor: Cursor): LabelFilter {
  if (cursor.takeSign('(')) {
    return cursor.nested(() => {
      const inner = parseLabelFilter(cursor);
      cursor.expectSign(')');
      return inner;
    });
  }
  const name = cursor.expect('IDENTIFIER').text;
  const sign = cursor.token;
  const op = sign.kind === 'sign' ? sign.text : '';
  if (op === '=~' || op === '!~') {
    cursor.take();
    return { kind: 'string', name, op, value: cursor.expect('STRING', 'STRING').text };
  }
  const compare = compareOps.get(op);
  if (compare === undefined) {
    throw cursor.unexpected();
  }
  cursor.take();
  return compared(cursor, name, compare, op);
}

function compared(cursor: Cursor, name: string, op: CompareOp, written: string): LabelFilter {
  const equality = op === '=' || op === '!=';
  if (equality && written !== '==') {
    if (cursor.token.kind === 'STRING') {
      return { kind: 'string', name, op: op satisfies MatchOp, value: cursor.take().text };
    }
    if (cursor.isWord('ip')) {
      return { kind: 'ip', name, op, text: parseIpText(cursor) };
    }
  }
  const negative = cursor.takeSign('-');
  if (!negative) {
    cursor.takeSign('+');
  }
  const { kind, text, value } = cursor.token;
  if (kind !== 'NUMBER' && kind !== 'DURATION' && kind !== 'BYTES') {
    throw cursor.unexpected();
  }
  cursor.take();
  const as = kind === 'NUMBER' ? 'number' : kind === 'DURATION' ? 'duration' : 'bytes';
  return {
    kind: as,
    name,
    op,
    value: negative ? -value : value,
    text: negative ? `-${text}` : text,
  };
}

/** `ip("…")`. */
export function parseIpText(cursor: Cursor): string {
  cursor.take();
  cursor.expectSign('(', '(');
  const { text } = cursor.expect('STRING', 'STRING');
  cursor.expectSign(')', ')');
  return text;
}
