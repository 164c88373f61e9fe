import { parseAggregation } from './aggregation.ts';
import { type Binary, childrenOf, type Expr, type Subquery } from './ast.ts';
import { checkTypes } from './check.ts';
import { parsePositiveDuration } from './duration.ts';
import { quoted, unquoted } from './go-text.ts';
import { parseNumberOrDuration } from './literals.ts';
import { parseMatching } from './matching.ts';
import { parseAt, parseEdges, parsePlacement } from './placement.ts';
import { parseError } from './position.ts';
import { parseMatchers, selectorOf } from './selector.ts';
import { functions } from './signatures.ts';
import { deepestNesting, type Stream, stream as streamOf } from './token-stream.ts';
import { neverMetrics } from './token.ts';

export const longestQuery = 64 * 1024;
/** Max nodes of a query's tree: they determine its cost, not the length of its text. */
const maxNodes = 5_000;

/** Texts that were read lately, by their order of use: dashboards and rules ask the same again and again. */
const parsed = new Map<string, Expr>();
const maxParsed = 256;
const longestKept = 2 * 1024;

/** Reads and type checks an expression; throws a `bad_data` error that begins with `line:col`. */
export function parse(query: string): Expr {
  const known = parsed.get(query);
  const expr = known ?? parseAnew(query);
  if (query.length <= longestKept) {
    parsed.delete(query);
    parsed.set(query, expr);
    if (parsed.size > maxParsed) {
      parsed.delete(parsed.keys().next().value!);
    }
  }
  return expr;
}

function parseAnew(query: string): Expr {
  if (Buffer.byteLength(query) > longestQuery) {
    throw parseError(query, 0, `the query is longer than ${longestQuery} bytes`);
  }
  const stream = streamOf(query);
  if (stream.peek().kind === 'end') {
    throw parseError(query, 0, 'no expression found in input');
  }
  const expr = parseExpr(stream, 0);
  if (stream.peek().kind !== 'end') {
    stream.unexpected();
  }
  checkDepth(stream, expr);
  checkTypes(query, expr);
  return expr;
}

/** Precedence of operators. */
const strengths: Readonly<Record<string, number>> = {
  or: 1,
  and: 2,
  unless: 2,
  '==': 3,
  '!=': 3,
  '<=': 3,
  '<': 3,
  '>=': 3,
  '>': 3,
  // They cut native histograms at a number.
  '</': 3,
  '>/': 3,
  '+': 4,
  '-': 4,
  '*': 5,
  '/': 5,
  '%': 5,
  atan2: 5,
  '^': 6,
};
const signStrength = 5;

function parseExpr(stream: Stream, weakest: number): Expr {
  let left = parsePostfix(stream, parsePrefix(stream));
  for (;;) {
    const peek = stream.peek();
    const strength = peek.kind === 'operator' ? (strengths[peek.word] ?? 0) : 0;
    if (strength === 0 || strength < weakest) {
      return left;
    }
    stream.take();
    left = parseBinary(stream, left, peek.word, strength);
  }
}

function parseBinary(stream: Stream, left: Expr, op: string, strength: number): Binary {
  const { bool, matching } = parseMatching(stream, op);
  const right = stream.nested(() => parseExpr(stream, op === '^' ? strength : strength + 1));
  return { node: 'binary', op, left, right, bool, matching, start: left.start, end: right.end };
}

function parsePrefix(stream: Stream): Expr {
  if (!stream.is('+') && !stream.is('-')) {
    return parsePrimary(stream);
  }
  const sign = stream.take();
  const expr = stream.nested(() => parseExpr(stream, signStrength + 1));
  if (expr.node === 'number') {
    return { ...expr, value: sign.word === '-' ? -expr.value : expr.value, start: sign.start };
  }
  return { node: 'unary', op: sign.word as '+' | '-', expr, start: sign.start, end: expr.end };
}

function parsePrimary(stream: Stream): Expr {
  const number = parseNumberOrDuration(stream);
  if (number !== undefined) {
    return number;
  }
  const peek = stream.peek();
  switch (peek.kind) {
    case 'string': {
      const { text, start, end } = stream.take();
      return { node: 'string', value: unquoted(text), start, end };
    }
    case 'identifier':
    case 'preprocessor':
      stream.take();
      return stream.is('(') ? parseCall(stream, peek.text, peek.start) : selectorOf(stream, peek);
    case 'aggregator':
      stream.take();
      return stream.is('(') || stream.is('by') || stream.is('without')
        ? parseAggregation(stream, peek, () => parseArguments(stream))
        : selectorOf(stream, peek);
    case 'metric':
      return selectorOf(stream, stream.take());
    case 'keyword':
    case 'operator':
      return /^[a-z]/.test(peek.word) && !neverMetrics.has(peek.word)
        ? selectorOf(stream, stream.take())
        : stream.unexpected();
    default:
      if (stream.is('{')) {
        return parseMatchers(stream);
      }
      return stream.is('(') ? parseParen(stream) : stream.unexpected();
  }
}

function parseParen(stream: Stream): Expr {
  const { start } = stream.take();
  const expr = stream.nested(() => parseExpr(stream, 0));
  if (!stream.is(')')) {
    stream.unexpected();
  }
  return { node: 'paren', expr, start, end: stream.take().end };
}

function parseCall(stream: Stream, name: string, start: number): Expr {
  const args = parseArguments(stream);
  const func = functions.has(name)
    ? name
    : functions.has(name.toLowerCase()) && isPreprocessor(name)
      ? name.toLowerCase()
      : undefined;
  if (func === undefined) {
    stream.fail(
      start,
      name === 'start_timestamp'
        ? 'the function "start_timestamp" works on start timestamps, which are not kept'
        : `unknown function with name ${quoted(name)}`,
    );
  }
  return { node: 'call', func, args, start, end: stream.lastClosing };
}

/** Keywords are known in any case, names of functions only in small letters. */
const isPreprocessor = (name: string): boolean =>
  ['start', 'end', 'step', 'range', 'min_of', 'max_of'].includes(name.toLowerCase());

function parseArguments(stream: Stream): Expr[] {
  if (!stream.takeIf('(')) {
    stream.unexpected();
  }
  const args: Expr[] = [];
  while (!stream.takeIf(')')) {
    if (args.length > 0) {
      const comma = stream.is(',') ? stream.take() : stream.unexpected();
      if (stream.is(')')) {
        stream.fail(comma.start, 'trailing commas not allowed in function call args');
      }
    }
    args.push(stream.nested(() => parseExpr(stream, 0)));
  }
  return args;
}

/** Parses suffixes of an expression, which bind more tightly than any operator. */
function parsePostfix(stream: Stream, first: Expr): Expr {
  let expr = first;
  for (;;) {
    if (stream.is('[')) {
      expr = parseBrackets(stream, expr);
    } else if (stream.is('offset')) {
      expr = parsePlacement(stream, expr);
    } else if (stream.is('@')) {
      expr = parseAt(stream, expr);
    } else if (stream.is('anchored') || stream.is('smoothed')) {
      expr = parseEdges(stream, expr);
    } else {
      return expr;
    }
  }
}

function parseBrackets(stream: Stream, expr: Expr): Expr {
  const bracket = stream.take();
  const range =
    parsePositiveDuration(stream) ??
    stream.unexpected('subquery or range selector', 'number, duration, step(), or range()');
  if (stream.takeIf(']')) {
    return rangeOf(stream, expr, bracket.start, range);
  }
  if (!stream.takeIf(':')) {
    stream.unexpected('subquery or range', '":" or "]"');
  }
  const step = stream.is(']')
    ? undefined
    : (parsePositiveDuration(stream) ??
      stream.unexpected('subquery selector', 'number, duration, step(), range(), or "]"'));
  if (!stream.is(']')) {
    stream.unexpected('subquery selector', '"]"');
  }
  return {
    node: 'subquery',
    expr,
    range,
    ...(step !== undefined && { step }),
    offset: 0,
    start: expr.start,
    end: stream.take().end,
  };
}

function rangeOf(stream: Stream, expr: Expr, bracket: number, range: Subquery['range']): Expr {
  if (expr.node !== 'selector') {
    stream.fail(bracket, 'ranges only allowed for vector selectors');
  }
  if (expr.offset !== 0) {
    stream.fail(bracket, 'no offset modifiers allowed before range');
  }
  if (expr.at !== undefined) {
    stream.fail(bracket, 'no @ modifiers allowed before range');
  }
  return { node: 'matrix', selector: expr, range, start: expr.start, end: stream.lastClosing };
}

/** A chain such as `1 + 1 + 1 …` nests to the left, which shows only in the result. */
function checkDepth(stream: Stream, expr: Expr): void {
  const waiting: (readonly [expr: Expr, depth: number])[] = [[expr, 1]];
  let nodes = 0;
  for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
    const [node, depth] = entry;
    if (++nodes > maxNodes) {
      stream.fail(node.start, `expression has more than ${maxNodes} parts`);
    }
    if (depth > deepestNesting) {
      stream.fail(node.start, `expression is nested more than ${deepestNesting} levels deep`);
    }
    for (const child of childrenOf(node)) {
      waiting.push([child, depth + 1]);
    }
  }
}
