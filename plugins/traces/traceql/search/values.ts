import type { FieldOperator } from '../parse/ast.ts';
import type { Value } from '../spans/span.ts';

export const yes: Value = { type: 'bool', value: true };
export const no: Value = { type: 'bool', value: false };
export const bool = (value: boolean): Value => (value ? yes : no);

type NumberValue = Extract<Value, { type: 'int' | 'float' | 'duration' }>;
type Order = '=' | '!=' | '<' | '<=' | '>' | '>=';

export const isNumeric = (value: Value): value is NumberValue =>
  value.type === 'int' || value.type === 'float' || value.type === 'duration';

/**
 * Returns whether a comparison of a value with a literal holds; a value of another type never
 * matches, whatever the operator.
 */
export function compare(operator: Order, left: Value, right: Value): boolean {
  if (left.type === 'each') {
    return left.values.some((value) => compare(operator, value, right));
  }
  if (right.type === 'each') {
    return right.values.some((value) => compare(operator, left, value));
  }
  if (left.type === 'array') {
    return operator === '!='
      ? left.values.length > 0 && !left.values.some((value) => compare('=', value, right))
      : left.values.some((value) => compare(operator, value, right));
  }
  if (right.type === 'array') {
    return compare(mirrored[operator], right, left);
  }
  if (isNumeric(left) && isNumeric(right)) {
    return ordered(operator, orderOfNumbers(left, right));
  }
  if (left.type !== right.type) {
    return false;
  }
  switch (left.type) {
    case 'string': {
      const other = (right as typeof left).value;
      return operator === '='
        ? left.value === other
        : ordered(operator, left.value < other ? -1 : left.value > other ? 1 : 0);
    }
    case 'bool':
    case 'status':
    case 'kind':
      return operator === '='
        ? left.value === (right as typeof left).value
        : operator === '!=' && left.value !== (right as typeof left).value;
    default:
      return false;
  }
}

const mirrored: Readonly<Record<Order, Order>> = {
  '=': '=',
  '!=': '!=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

function ordered(operator: Order, order: number): boolean {
  switch (operator) {
    case '=':
      return order === 0;
    case '!=':
      return order !== 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
  }
}

/** NaN where there is no order. */
function orderOfNumbers(left: NumberValue, right: NumberValue): number {
  if (
    left.value === right.value &&
    left.type === 'int' &&
    right.type === 'int' &&
    (left.exact ?? right.exact) !== undefined
  ) {
    const a = left.exact ?? BigInt(left.value);
    const b = right.exact ?? BigInt(right.value);
    return a < b ? -1 : a > b ? 1 : 0;
  }
  return left.value < right.value
    ? -1
    : left.value > right.value
      ? 1
      : left.value === right.value
        ? 0
        : NaN;
}

/** Returns whether a text, or one text of several, passes; of a negated array none may match. */
export function matchesText(
  value: Value,
  test: (text: string) => boolean,
  negated: boolean,
): boolean {
  switch (value.type) {
    case 'string':
      return test(value.value) !== negated;
    case 'each':
      return value.values.some((one) => matchesText(one, test, negated));
    case 'array': {
      const texts = value.values.filter((one) => one.type === 'string');
      return texts.length > 0 && texts.some(({ value: text }) => test(text)) !== negated;
    }
    default:
      return false;
  }
}

export function arithmetic(operator: FieldOperator, left: Value, right: Value): Value | undefined {
  if (!isNumeric(left) || !isNumeric(right)) {
    return undefined;
  }
  const value = numberFrom(operator, left.value, right.value);
  if (left.type === 'duration' || right.type === 'duration') {
    return { type: 'duration', value };
  }
  if (left.type === 'int' && right.type === 'int' && operator !== '^') {
    return operator === '/' || operator === '%'
      ? Number.isFinite(value)
        ? { type: 'int', value: Math.trunc(value) }
        : undefined
      : { type: 'int', value };
  }
  return { type: 'float', value };
}

export function numberFrom(operator: FieldOperator, left: number, right: number): number {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return left / right;
    case '%':
      return left % right;
    case '^':
      return left ** right;
    default:
      return NaN;
  }
}

/** Returns a key that is distinct for distinct values; groups are formed by it. */
export function keyOf(value: Value | undefined): string {
  if (value === undefined) {
    return '';
  }
  switch (value.type) {
    case 'array':
    case 'each':
      return `${value.type}[${value.values.map((one) => JSON.stringify(keyOf(one))).join()}]`;
    case 'map':
      return `map[${value.entries.map((entry) => JSON.stringify([entry.key, keyOf(entry.value)])).join()}]`;
    case 'bytes':
      return `bytes:${Buffer.from(value.value).toString('hex')}`;
    case 'int':
      return `int:${value.exact ?? value.value}`;
    default:
      return `${value.type}:${value.value}`;
  }
}
