import type { Conversion, LabelFilter, LogExpr, RangeExpr, Stage, Unwrap } from './ast.ts';
import type { Cursor } from './cursor.ts';
import { parseLabelFilter } from './label-filter-parser.ts';
import { parseSelector, parseStage } from './log-parser.ts';
import { parseError } from './parse-error.ts';

const maxStages = 500;
/** Max stages other than filters: each may scan the whole of a long line. */
const maxCostly = 20;

/** A selector with its stages. */
export function parseLog(cursor: Cursor): LogExpr {
  const matchers = parseSelector(cursor);
  return { kind: 'log', matchers, stages: stages(cursor) };
}

function stages(cursor: Cursor): Stage[] {
  const found: Stage[] = [];
  let costly = 0;
  for (let stage = parseStage(cursor); stage !== undefined; stage = parseStage(cursor)) {
    found.push(stage);
    costly += stage.kind === 'line' || stage.kind === 'filter' ? 0 : 1;
    if (found.length > maxStages || costly > maxCostly) {
      throw parseError(
        `a pipeline has at most ${maxStages} stages, and ${maxCostly} that take lines apart or write them anew`,
      );
    }
  }
  return found;
}

type LogRange = Pick<RangeExpr, 'log' | 'rangeMs' | 'offsetMs' | 'unwrap'>;

/**
 * Parses a range after the selector or after the pipeline; `unwrap` is the last stage either way.
 */
export function parseLogRange(cursor: Cursor): LogRange {
  if (cursor.takeSign('(')) {
    return cursor.nested(() => parenthesized(cursor));
  }
  const matchers = parseSelector(cursor);
  const early = rangeAhead(cursor);
  const found = stages(cursor);
  const unwrap = parseUnwrap(cursor);
  const range = early ?? rangeAhead(cursor);
  if (range === undefined) {
    throw cursor.unexpected();
  }
  return {
    log: { kind: 'log', matchers, stages: found },
    ...range,
    ...(unwrap !== undefined && { unwrap }),
  };
}

function parenthesized(cursor: Cursor): LogRange {
  const inner = cursor.isSign('(') || cursor.rangeBeforeClose() ? parseLogRange(cursor) : undefined;
  if (inner !== undefined) {
    cursor.expectSign(')', ')');
    return inner;
  }
  const log = parseLog(cursor);
  const unwrap = parseUnwrap(cursor);
  cursor.expectSign(')');
  const more = unwrap === undefined ? stages(cursor) : [];
  const last = unwrap ?? parseUnwrap(cursor);
  const range = rangeAhead(cursor);
  if (range === undefined) {
    throw cursor.unexpected();
  }
  return {
    log: { ...log, stages: [...log.stages, ...more] },
    ...range,
    ...(last !== undefined && { unwrap: last }),
  };
}

function rangeAhead(cursor: Cursor): { rangeMs: number; offsetMs: number } | undefined {
  if (cursor.token.kind !== 'RANGE') {
    return undefined;
  }
  const rangeMs = cursor.take().value;
  if (!cursor.takeWord('offset')) {
    return { rangeMs, offsetMs: 0 };
  }
  const negative = cursor.takeSign('-');
  const ns = cursor.expect('DURATION', 'DURATION').value;
  return { rangeMs, offsetMs: (negative ? -ns : ns) / 1e6 };
}

const conversions: readonly string[] = [
  'duration',
  'duration_seconds',
  'bytes',
] satisfies Conversion[];

function parseUnwrap(cursor: Cursor): Unwrap | undefined {
  if (!cursor.isSign('|') || cursor.following.text !== 'unwrap') {
    return undefined;
  }
  cursor.take();
  cursor.take();
  const first = cursor.expect('IDENTIFIER').text;
  let label = first;
  const converts = conversions.includes(first) && cursor.takeSign('(');
  if (converts) {
    label = cursor.expect('IDENTIFIER', 'IDENTIFIER').text;
    cursor.expectSign(')', ')');
  }
  const filters: LabelFilter[] = [];
  while (cursor.takeSign('|')) {
    filters.push(parseLabelFilter(cursor));
  }
  return { label, filters, ...(converts && { convert: first as Conversion }) };
}
