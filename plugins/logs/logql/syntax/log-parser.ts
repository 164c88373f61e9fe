import type { MatchOp } from 'svc/query';

import type {
  Extraction,
  LabelFormat,
  LabelPick,
  LineOp,
  LineText,
  MatcherText,
  Stage,
} from './ast.ts';
import type { Cursor } from './cursor.ts';
import { parseIpText, parseLabelFilter } from './label-filter-parser.ts';
import { parseError } from './parse-error.ts';

const matchOps: readonly string[] = ['=', '=~', '!~', '!='] satisfies MatchOp[];
const lineOps: readonly string[] = ['|=', '!=', '|~', '!~', '|>', '!>'] satisfies LineOp[];

export function parseSelector(cursor: Cursor): MatcherText[] {
  cursor.expectSign('{');
  const matchers: MatcherText[] = [];
  if (cursor.takeSign('}')) {
    return matchers;
  }
  if (cursor.token.kind !== 'IDENTIFIER') {
    throw cursor.unexpected('IDENTIFIER', '}');
  }
  for (;;) {
    const name = cursor.expect('IDENTIFIER', 'IDENTIFIER').text;
    const op = matchOp(cursor) ?? raise(cursor.unexpected(...matchOps));
    matchers.push({ name, op, value: cursor.expect('STRING', 'STRING').text });
    if (cursor.takeSign('}')) {
      return matchers;
    }
    if (!cursor.takeSign(',')) {
      throw cursor.unexpected('}', ',');
    }
  }
}

function raise(error: Error): never {
  throw error;
}

function matchOp(cursor: Cursor): MatchOp | undefined {
  return cursor.token.kind === 'sign' && matchOps.includes(cursor.token.text)
    ? (cursor.take().text as MatchOp)
    : undefined;
}

/** Parses the next stage; undefined at the end of the pipeline, and before `| unwrap`. */
export function parseStage(cursor: Cursor): Stage | undefined {
  if (cursor.token.kind !== 'sign') {
    return undefined;
  }
  const sign = cursor.token.text;
  if (lineOps.includes(sign)) {
    cursor.take();
    return { kind: 'line', op: sign as LineOp, texts: lineTexts(cursor, sign as LineOp) };
  }
  if (
    sign !== '|' ||
    (cursor.following.kind === 'IDENTIFIER' && cursor.following.text === 'unwrap')
  ) {
    return undefined;
  }
  const named = cursor.following.kind === 'IDENTIFIER';
  cursor.take();
  return named ? namedStage(cursor) : { kind: 'filter', filter: parseLabelFilter(cursor) };
}

function lineTexts(cursor: Cursor, op: LineOp): LineText[] {
  const texts: LineText[] = [];
  const exact = op === '|=' || op === '!=';
  do {
    if (cursor.isWord('ip')) {
      texts.push({ text: parseIpText(cursor), ip: true });
      if (!exact) {
        throw parseError('ip: invalid operation');
      }
    } else {
      texts.push({
        text: cursor.expect('STRING', ...(exact ? ['STRING', 'ip'] : ['STRING'])).text,
        ip: false,
      });
    }
  } while (cursor.takeWord('or'));
  return texts;
}

function namedStage(cursor: Cursor): Stage {
  const name = cursor.token.text;
  // A label may have the name of a stage; then a comparison follows.
  const compares =
    cursor.following.kind === 'sign' &&
    /^(?:[=!<>]=?|[=!]~)$/.test(cursor.following.text) &&
    cursor.following.text !== '!';
  if (
    compares &&
    !(name === 'label_format' || name === 'line_format') &&
    !isLineFilterAhead(cursor)
  ) {
    return { kind: 'filter', filter: parseLabelFilter(cursor) };
  }
  switch (name) {
    case 'json':
      cursor.take();
      return { kind: 'json', fields: extractions(cursor) };
    case 'logfmt':
      cursor.take();
      return logfmt(cursor);
    case 'regexp':
    case 'pattern':
    case 'line_format':
      cursor.take();
      return { kind: name, text: cursor.expect('STRING', 'STRING').text };
    case 'unpack':
    case 'decolorize':
      cursor.take();
      return { kind: name };
    case 'label_format':
      cursor.take();
      return { kind: name, formats: separated(cursor, labelFormat) };
    case 'drop':
    case 'keep':
      cursor.take();
      return { kind: name, labels: separated(cursor, labelPick) };
    default:
      return { kind: 'filter', filter: parseLabelFilter(cursor) };
  }
}

/** `| json != "x"` filters lines after parsing them; `| foo != "x"` compares a label. */
function isLineFilterAhead(cursor: Cursor): boolean {
  return (
    ['json', 'logfmt', 'unpack', 'decolorize'].includes(cursor.token.text) &&
    ['!=', '!~', '!>'].includes(cursor.following.text)
  );
}

function logfmt(cursor: Cursor): Stage {
  let strict = false;
  let keepEmpty = false;
  while (cursor.token.kind === 'PARSER_FLAG') {
    const flag = cursor.token.text;
    if (flag !== '--strict' && flag !== '--keep-empty') {
      throw cursor.unexpected();
    }
    strict ||= flag === '--strict';
    keepEmpty ||= flag === '--keep-empty';
    cursor.take();
  }
  return { kind: 'logfmt', strict, keepEmpty, fields: extractions(cursor) };
}

function extractions(cursor: Cursor): Extraction[] {
  return cursor.token.kind === 'IDENTIFIER' && !cursor.isWord('offset')
    ? separated(cursor, extraction)
    : [];
}

function extraction(cursor: Cursor): Extraction {
  const name = cursor.expect('IDENTIFIER').text;
  return { name, expression: cursor.takeSign('=') ? cursor.expect('STRING', 'STRING').text : name };
}

function labelFormat(cursor: Cursor): LabelFormat {
  const name = cursor.expect('IDENTIFIER', 'IDENTIFIER').text;
  cursor.expectSign('=', '=');
  if (cursor.token.kind === 'STRING') {
    return { name, template: cursor.take().text };
  }
  return { name, source: cursor.expect('IDENTIFIER', 'IDENTIFIER', 'STRING').text };
}

function labelPick(cursor: Cursor): LabelPick {
  const name = cursor.expect('IDENTIFIER', 'IDENTIFIER').text;
  const op = cursor.following.kind === 'STRING' ? matchOp(cursor) : undefined;
  return op === undefined ? { name } : { name, op, value: cursor.expect('STRING', 'STRING').text };
}

function separated<T>(cursor: Cursor, one: (cursor: Cursor) => T): T[] {
  const items = [one(cursor)];
  while (cursor.takeSign(',')) {
    items.push(one(cursor));
  }
  return items;
}
