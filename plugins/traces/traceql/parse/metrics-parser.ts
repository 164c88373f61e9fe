import { queryError } from 'svc/query';

import type { CompareStage, Hints, MetricsStage, OverTimeFunction, RankStage } from './ast.ts';
import type { Cursor } from './cursor.ts';
import { fieldList, parseField } from './field-parser.ts';
import { parseError, type Token } from './lexer.ts';

const withoutField = ['rate', 'count_over_time'];
const maxQuantiles = 20;
const largestRank = 1000;
/** Values that `compare` tells of each attribute unless it is said. */
const usualTop = 10;

export function metricsStage(tokens: Cursor): MetricsStage {
  const name = tokens.next().text as OverTimeFunction;
  tokens.expect('(');
  const field = withoutField.includes(name) ? undefined : parseField(tokens);
  const quantiles: number[] = [];
  if (name === 'quantile_over_time') {
    do {
      tokens.expect(',');
      quantiles.push(quantile(tokens));
      if (quantiles.length > maxQuantiles) {
        throw parseError(tokens.token, `more than ${maxQuantiles} quantiles`);
      }
    } while (tokens.is(','));
  }
  tokens.expect(')');
  return { function: name, field, quantiles, by: tokens.take('by') ? fieldList(tokens) : [] };
}

function quantile(tokens: Cursor): number {
  const { token } = tokens;
  if (token.type !== 'integer' && token.type !== 'float') {
    return tokens.unexpected('a quantile');
  }
  if (token.value > 1) {
    throw parseError(token, `a quantile lies between 0 and 1, and ${token.text} does not`);
  }
  tokens.next();
  return token.value;
}

export function rankStage(tokens: Cursor): RankStage {
  const name = (['topk', 'bottomk'] as const).find((candidate) => tokens.take(candidate));
  if (name === undefined) {
    return tokens.unexpected('topk or bottomk');
  }
  tokens.expect('(');
  const { token } = tokens;
  if (token.type !== 'integer') {
    return tokens.unexpected('INTEGER');
  }
  if (token.value < 1 || token.value > largestRank) {
    throw parseError(token, `${name} limit must be between 1 and ${largestRank}`);
  }
  tokens.next();
  tokens.expect(')');
  return { function: name, count: token.value };
}

/** `compare({…}, 10, start, end)`: how many values of each attribute; the window in nanoseconds since 1970. */
export function compareStage(tokens: Cursor): CompareStage {
  tokens.next();
  tokens.expect('(');
  tokens.expect('{');
  const selection = tokens.is('}') ? undefined : parseField(tokens);
  tokens.expect('}');
  const numbers: Token[] = [];
  while (tokens.take(',')) {
    if (tokens.token.type !== 'integer') {
      return tokens.unexpected('INTEGER');
    }
    numbers.push(tokens.next());
  }
  if (numbers.length === 2 || numbers.length > 3) {
    return tokens.unexpected(
      'compare takes a selection, a number of values, and a start with an end',
    );
  }
  tokens.expect(')');
  const [top, start, end] = numbers;
  if (top !== undefined && (top.value < 1 || top.value > largestRank)) {
    throw parseError(top, `compare() top number of values must be between 1 and ${largestRank}`);
  }
  if (start !== undefined && BigInt(end!.text) <= BigInt(start.text)) {
    throw parseError(end!, 'compare() end timestamp must be greater than start timestamp');
  }
  return {
    function: 'compare',
    selection,
    top: top?.value ?? usualTop,
    startNs: start === undefined ? undefined : BigInt(start.text),
    endNs: end === undefined ? undefined : BigInt(end.text),
  };
}

/** `with (…)`: what would change nothing here is refused rather than ignored. */
export function hints(tokens: Cursor): Hints {
  if (!tokens.take('with')) {
    return {};
  }
  tokens.expect('(');
  let found: Hints = {};
  do {
    found = { ...found, ...hint(tokens) };
  } while (tokens.take(','));
  tokens.expect(')');
  return found;
}

function hint(tokens: Cursor): Hints {
  const { token } = tokens;
  const name = tokens.next().text;
  if (name !== 'most_recent' && name !== 'exemplars' && name !== 'sample') {
    throw queryError(
      'bad_data',
      `invalid TraceQL query: there is no hint ${JSON.stringify(name)} at line ${token.line}, col ${token.column}: there are most_recent, exemplars and sample`,
    );
  }
  tokens.expect('=');
  const given = tokens.next();
  if (name === 'exemplars') {
    if (given.type !== 'integer' && given.text !== 'true' && given.text !== 'false') {
      throw parseError(given, 'exemplars are a number, true or false');
    }
    return { exemplars: given.type === 'integer' ? given.value : given.text === 'true' };
  }
  if (name === 'sample') {
    // It allows an estimate. Every span is counted here, which no estimate betters.
    return {};
  }
  if (given.text !== 'true') {
    throw parseError(
      given,
      'most_recent can only be true: a search always answers with the newest traces first',
    );
  }
  return { mostRecent: true };
}
