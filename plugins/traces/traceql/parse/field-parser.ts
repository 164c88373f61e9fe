import { kindNames, statusNames, type Value } from '../spans/span.ts';
import type { FieldExpression, FieldOperator, Intrinsic } from './ast.ts';
import type { Cursor } from './cursor.ts';
import { parseError } from './lexer.ts';

/** Precedence of operators; `and` and `or` are equal and left-associative. */
const binding: ReadonlyMap<string, number> = new Map([
  ...(['&&', '||'] as const).map((operator) => [operator, 1] as const),
  ...(['=', '!=', '<', '<=', '>', '>=', '=~', '!~'] as const).map(
    (operator) => [operator, 2] as const,
  ),
  ...(['+', '-'] as const).map((operator) => [operator, 3] as const),
  ...(['*', '/', '%'] as const).map((operator) => [operator, 5] as const),
  ['^', 6],
]);
const bindingOfNegation = { '!': 4, '-': 3 } as const;
const fromTheRight = 6;

/** Intrinsics by word, in all spellings. */
const intrinsics: ReadonlyMap<string, Intrinsic> = new Map<string, Intrinsic>([
  ...(
    [
      'duration',
      'name',
      'status',
      'statusMessage',
      'kind',
      'childCount',
      'parent',
      'rootName',
      'rootServiceName',
    ] as const
  ).map(same),
  ...(
    [
      'traceDuration',
      'nestedSetLeft',
      'nestedSetRight',
      'nestedSetParent',
      'trace:id',
      'span:id',
      'span:parentID',
    ] as const
  ).map(same),
  ...(
    [
      'event:name',
      'event:timeSinceStart',
      'link:traceID',
      'link:spanID',
      'instrumentation:name',
      'instrumentation:version',
    ] as const
  ).map(same),
  ['trace:duration', 'traceDuration'],
  ['trace:rootName', 'rootName'],
  ['trace:rootService', 'rootServiceName'],
  ['span:duration', 'duration'],
  ['span:name', 'name'],
  ['span:kind', 'kind'],
  ['span:status', 'status'],
  ['span:statusMessage', 'statusMessage'],
  ['span:childCount', 'childCount'],
]);

function same(name: Intrinsic): readonly [string, Intrinsic] {
  return [name, name];
}

const maxFields = 32;

export function intrinsicNamed(text: string): Intrinsic | undefined {
  return intrinsics.get(text);
}

/** Parses one field expression. */
export function parseField(tokens: Cursor, tightest = 0): FieldExpression {
  return tokens.nested(() => {
    let left = prefix(tokens);
    for (;;) {
      const { type, text } = tokens.token;
      const strength = type === 'sign' ? binding.get(text) : undefined;
      if (strength === undefined || strength <= tightest) {
        return left;
      }
      tokens.joint();
      const right = parseField(tokens, strength === fromTheRight ? strength - 1 : strength);
      left = { kind: 'binary', operator: text as FieldOperator, left, right };
    }
  });
}

function prefix(tokens: Cursor): FieldExpression {
  if (tokens.take('(')) {
    const inner = parseField(tokens);
    tokens.expect(')');
    return inner;
  }
  for (const operator of ['!', '-'] as const) {
    if (tokens.take(operator)) {
      const operand = parseField(tokens, bindingOfNegation[operator]);
      return operator === '-' && isNumber(operand)
        ? negated(operand)
        : { kind: 'unary', operator, operand };
    }
  }
  return atom(tokens);
}

type NumberLiteral = Extract<FieldExpression, { kind: 'literal' }> & {
  readonly value: Extract<Value, { type: 'int' | 'float' | 'duration' }>;
};

const isNumber = (expression: FieldExpression): expression is NumberLiteral =>
  expression.kind === 'literal' &&
  ['int', 'float', 'duration'].includes(expression.value?.type ?? '') &&
  !expression.text.startsWith('-');

const negated = ({ value, text }: NumberLiteral): FieldExpression => ({
  kind: 'literal',
  text: `-${text}`,
  value:
    value.type === 'int'
      ? {
          type: 'int',
          value: -value.value,
          ...(value.exact !== undefined && { exact: -value.exact }),
        }
      : { ...value, value: -value.value },
});

function atom(tokens: Cursor): FieldExpression {
  const { token } = tokens;
  switch (token.type) {
    case 'identifier':
      throw parseError(token, `unknown identifier: ${token.text}`);
    case 'end':
    case 'sign':
      return tokens.unexpected();
    case 'attribute':
      tokens.next();
      return {
        kind: 'attribute',
        scope: token.scope!,
        ofParent: token.ofParent === true,
        name: token.text,
      };
    case 'string':
      tokens.next();
      return {
        kind: 'literal',
        value: { type: 'string', value: token.text },
        text: `\`${token.text}\``,
      };
    case 'integer':
    case 'float':
    case 'duration':
      tokens.next();
      return {
        kind: 'literal',
        value: numberOf(token.type, token.value, token.text),
        text: token.text,
      };
    case 'word':
      return word(tokens);
  }
}

/** Parses a number as written. */
export function numberOf(
  type: 'integer' | 'float' | 'duration',
  value: number,
  text: string,
): Value {
  if (type !== 'integer') {
    return { type, value };
  }
  return Number.isSafeInteger(value)
    ? { type: 'int', value }
    : { type: 'int', value, exact: BigInt(text) };
}

function word(tokens: Cursor): FieldExpression {
  const { text } = tokens.token;
  const intrinsic = intrinsics.get(text);
  if (intrinsic !== undefined) {
    tokens.next();
    return { kind: 'intrinsic', intrinsic, text };
  }
  const literal = literals.get(text);
  if (literal === undefined) {
    return tokens.unexpected();
  }
  tokens.next();
  return literal;
}

const literals: ReadonlyMap<string, FieldExpression> = new Map<string, FieldExpression>([
  ['nil', { kind: 'literal', value: undefined, text: 'nil' }],
  ['true', { kind: 'literal', value: { type: 'bool', value: true }, text: 'true' }],
  ['false', { kind: 'literal', value: { type: 'bool', value: false }, text: 'false' }],
  ...statusNames.map(
    (text, value) => [text, { kind: 'literal', value: { type: 'status', value }, text }] as const,
  ),
  ...kindNames.map(
    (text, value) => [text, { kind: 'literal', value: { type: 'kind', value }, text }] as const,
  ),
]);

/** `(a, b)` */
export function fieldList(tokens: Cursor): readonly FieldExpression[] {
  tokens.expect('(');
  const fields = [parseField(tokens)];
  while (tokens.take(',')) {
    fields.push(parseField(tokens));
    if (fields.length > maxFields) {
      throw parseError(tokens.token, `more than ${maxFields} fields`);
    }
  }
  tokens.expect(')');
  return fields;
}
