import type {
  AggregateFunction,
  CompareStage,
  Comparison,
  MetricsStage,
  Query,
  RankStage,
  ScalarExpression,
  SpansetExpression,
  SpansetOperator,
  Stage,
} from './ast.ts';
import { checkQuery } from './check.ts';
import { Cursor } from './cursor.ts';
import { fieldList, numberOf, parseField } from './field-parser.ts';
import { overTime, parseError } from './lexer.ts';
import { compareStage, hints, metricsStage, rankStage } from './metrics-parser.ts';

const spansetBinding: ReadonlyMap<string, number> = new Map([
  ...['&&', '||'].map((operator) => [operator, 1] as const),
  ...[
    '>',
    '>>',
    '<',
    '<<',
    '~',
    '!>',
    '!>>',
    '!<',
    '!<<',
    '!~',
    '&>',
    '&>>',
    '&<',
    '&<<',
    '&~',
  ].map((operator) => [operator, 2] as const),
]);
const scalarBinding: ReadonlyMap<string, number> = new Map([
  ...['+', '-'].map((operator) => [operator, 1] as const),
  ...['*', '/', '%'].map((operator) => [operator, 2] as const),
  ['^', 3],
]);
const comparisons = ['=', '!=', '<', '<=', '>', '>='];
const aggregates = ['count', 'avg', 'max', 'min', 'sum'];

/** Reads a query and checks its types; every complaint says where it is, or which part. */
export function parse(text: string): Query {
  const tokens = new Cursor(text);
  const { stages, metrics, ranks } = pipeline(tokens, true);
  const given = hints(tokens);
  if (tokens.token.type !== 'end') {
    tokens.unexpected();
  }
  const query: Query = { stages, metrics, ranks, hints: given };
  checkQuery(query);
  return query;
}

interface Pipeline {
  readonly stages: readonly Stage[];
  readonly metrics: MetricsStage | CompareStage | undefined;
  readonly ranks: readonly RankStage[];
}

function pipeline(tokens: Cursor, outermost: boolean): Pipeline {
  return tokens.nested(() => {
    const stages: Stage[] = [stage(tokens, true)];
    let metrics: MetricsStage | CompareStage | undefined;
    const ranks: RankStage[] = [];
    while (tokens.take('|')) {
      if (metrics === undefined && outermost && overTime.some((name) => tokens.is(name))) {
        metrics = metricsStage(tokens);
      } else if (metrics === undefined && outermost && tokens.is('compare')) {
        metrics = compareStage(tokens);
      } else if (metrics === undefined) {
        stages.push(stage(tokens, false));
      } else if (metrics.function === 'compare') {
        throw parseError(tokens.token, 'nothing can follow compare()');
      } else {
        ranks.push(rankStage(tokens));
      }
    }
    return { stages, metrics, ranks };
  });
}

function stage(tokens: Cursor, first: boolean): Stage {
  if (tokens.take('by')) {
    return { kind: 'by', fields: fieldList(tokens) };
  }
  if (!first && tokens.take('coalesce')) {
    tokens.expect('(');
    tokens.expect(')');
    return { kind: 'coalesce' };
  }
  if (tokens.take('select')) {
    return { kind: 'select', fields: fieldList(tokens) };
  }
  return beginsSpanset(tokens) ? spanset(tokens) : scalarComparison(tokens);
}

/**
 * Returns whether spans (rather than numbers) follow, as shown by what comes after the opening
 * parentheses.
 */
function beginsSpanset(tokens: Cursor): boolean {
  let distance = 0;
  while (tokens.peek(distance).type === 'sign' && tokens.peek(distance).text === '(') {
    distance++;
  }
  const { type, text } = tokens.peek(distance);
  return (type === 'sign' && text === '{') || (distance > 0 && type === 'word' && text === 'by');
}

function spanset(tokens: Cursor, loosest = 0): SpansetExpression {
  return tokens.nested(() => {
    let left = spansetAtom(tokens);
    for (;;) {
      const { type, text } = tokens.token;
      const strength = type === 'sign' ? spansetBinding.get(text) : undefined;
      if (strength === undefined || strength <= loosest) {
        return left;
      }
      tokens.joint();
      left = {
        kind: 'operation',
        operator: text as SpansetOperator,
        left,
        right: spanset(tokens, strength),
      };
    }
  });
}

function spansetAtom(tokens: Cursor): SpansetExpression {
  if (tokens.take('(')) {
    const { stages } = pipeline(tokens, false);
    tokens.expect(')');
    const [only] = stages;
    return stages.length === 1 && isSpanset(only!) ? only : { kind: 'pipeline', stages };
  }
  tokens.expect('{');
  const condition = tokens.is('}') ? undefined : parseField(tokens);
  if (!tokens.take('}')) {
    tokens.unexpected();
  }
  return { kind: 'filter', condition };
}

export const isSpanset = (stage: Stage): stage is SpansetExpression =>
  stage.kind === 'filter' || stage.kind === 'operation' || stage.kind === 'pipeline';

function scalarComparison(tokens: Cursor): Stage {
  const left = scalar(tokens);
  const operator = comparisons.find((sign) => tokens.is(sign));
  if (operator === undefined) {
    return tokens.unexpected();
  }
  tokens.next();
  return { kind: 'compare', operator: operator as Comparison, left, right: scalar(tokens) };
}

function scalar(tokens: Cursor, loosest = 0): ScalarExpression {
  return tokens.nested(() => {
    let left = scalarAtom(tokens);
    for (;;) {
      const { type, text } = tokens.token;
      const strength = type === 'sign' ? scalarBinding.get(text) : undefined;
      if (strength === undefined || strength <= loosest) {
        return left;
      }
      tokens.joint();
      const right = scalar(tokens, text === '^' ? strength - 1 : strength);
      left = { kind: 'arithmetic', operator: text as '+', left, right };
    }
  });
}

function scalarAtom(tokens: Cursor): ScalarExpression {
  if (tokens.take('(')) {
    const inner = scalar(tokens);
    tokens.expect(')');
    return inner;
  }
  if (tokens.take('-')) {
    return { kind: 'negative', operand: tokens.nested(() => scalar(tokens, 1)) };
  }
  const { type, text, value } = tokens.token;
  if (type === 'integer' || type === 'float' || type === 'duration') {
    tokens.next();
    return { kind: 'number', value: numberOf(type, value, text), text };
  }
  const name = aggregates.find((candidate) => tokens.take(candidate));
  if (name === undefined) {
    return tokens.unexpected();
  }
  tokens.expect('(');
  const field = name === 'count' ? undefined : parseField(tokens);
  tokens.expect(')');
  return { kind: 'aggregate', function: name as AggregateFunction, field };
}
