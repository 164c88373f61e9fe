/**
 * Comparison operator. This file sees of a PromQL or LogQL text what can be seen without
 * understanding it: strings, comments and brackets. The engines check the language; here only
 * whole, checked texts are taken apart or put together.
 */
export type Operator = '>' | '>=' | '<' | '<=' | '==' | '!=';

/** Trailing comparison with a number: the measure, and the threshold. */
export interface Comparison {
  readonly measure: string;
  readonly operator: Operator;
  readonly threshold: number;
}

interface Part {
  readonly kind: 'word' | 'operator' | 'other';
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const mirrored: Readonly<Record<Operator, Operator>> = {
  '>': '<',
  '>=': '<=',
  '<': '>',
  '<=': '>=',
  '==': '==',
  '!=': '!=',
};
const form = /"(?:\\[^]|[^"\\])*"|'(?:\\[^]|[^'\\])*'|`[^`]*`|[A-Za-z_:][\w:]*|=~|!~|[<>=!]=?|[^]/g;

/** Blanks where comments were, so that every position stays. */
export const withoutComments = (text: string): string =>
  text.replace(
    /("(?:\\[^]|[^"\\])*"|'(?:\\[^]|[^'\\])*'|`[^`]*`)|#[^\n]*/g,
    (whole, quoted?: string) => quoted ?? ' '.repeat(whole.length),
  );

/** Yields the parts outside all brackets. */
function* outermost(text: string): Generator<Part> {
  let depth = 0;
  for (const match of text.matchAll(form)) {
    const [found] = match;
    depth -= /^[)\]}]$/.test(found) ? 1 : 0;
    if (depth === 0) {
      const kind = /^[A-Za-z_:]/.test(found)
        ? 'word'
        : /^(?:[<>]=?|[=!]=)$/.test(found)
          ? 'operator'
          : 'other';
      yield { kind, text: found, start: match.index, end: match.index + found.length };
    }
    depth += /^[([{]$/.test(found) ? 1 : 0;
  }
}

export function comparisonOf(query: string): Comparison | undefined {
  const text = unwrapped(withoutComments(query));
  const parts = [...outermost(text)];
  const operators = parts.filter(({ kind }) => kind === 'operator');
  const [operator] = operators;
  if (
    operator === undefined ||
    operators.length > 1 ||
    parts.some(({ kind, text: word }) => kind === 'word' && /^(?:and|or|unless|bool)$/i.test(word))
  ) {
    return undefined;
  }
  const left = text.slice(0, operator.start).trim();
  const right = text.slice(operator.end).trim();
  const sign = operator.text as Operator;
  const [onLeft, onRight] = [constant(left), constant(right)];
  if (onRight !== undefined && onLeft === undefined) {
    return { measure: left, operator: sign, threshold: onRight };
  }
  return onLeft !== undefined && onRight === undefined
    ? { measure: right, operator: mirrored[sign], threshold: onLeft }
    : undefined;
}

/** Returns which way the measure of a query went wrong; undefined if the query does not compare it. */
export function directionIn(
  query: string,
  measure: string,
  threshold = 0,
): 'up' | 'down' | undefined {
  const [, operator] =
    (query.startsWith(measure) && /^\s*([<>]=?|[=!]=)/.exec(query.slice(measure.length))) || [];
  return operator === undefined ? undefined : directionOf(operator as Operator, threshold);
}

/**
 * Returns which way a comparison that holds went wrong. What shall not be 0 has fallen there, as `probe_success`
 * does, and what shall be 1 has fallen from there.
 */
function directionOf(operator: Operator, threshold: number): 'up' | 'down' {
  switch (operator) {
    case '==':
      return threshold <= 0 ? 'down' : 'up';
    case '!=':
      return threshold > 0 ? 'down' : 'up';
    default:
      return operator.startsWith('>') ? 'up' : 'down';
  }
}

/**
 * Returns the comparison before the first `and` or `unless`: what follows picks some of its series,
 * and changes none of their values.
 */
export function leadingComparisonOf(query: string): Comparison | undefined {
  const text = unwrapped(withoutComments(query));
  const joins = [...outermost(text)].filter(
    ({ kind, text: word }) => kind === 'word' && /^(?:and|or|unless)$/i.test(word),
  );
  const [first] = joins;
  return first === undefined || joins.some(({ text: word }) => /^or$/i.test(word))
    ? undefined
    : comparisonOf(text.slice(0, first.start));
}

/**
 * Returns whether anything is compared outside selectors; a query without a comparison breaches
 * whenever it returns a series.
 */
export function compares(query: string): boolean {
  const text = withoutComments(query)
    .replace(/"(?:\\[^]|[^"\\])*"|'(?:\\[^]|[^'\\])*'|`[^`]*`/g, '""')
    .replace(/\{[^{}]*\}/g, '{}');
  return (
    /[<>]|==|!=(?!\s*"")/.test(text.replace(/\|[=~>]|!~|!>/g, ' ')) ||
    /\b(?:absent|absent_over_time)\s*\(/.test(text)
  );
}

/** `up`, `up{job="x"}`, `{__name__="up"}`: what a range can be hung on. */
export function isSelector(text: string): boolean {
  const plain = withoutComments(text).trim();
  if (/^[A-Za-z_:][\w:]*$/.test(plain)) {
    return true;
  }
  const parts = [...outermost(plain)].filter(({ text: part }) => part.trim() !== '');
  const braces = parts.slice(parts[0]?.kind === 'word' ? 1 : 0);
  return braces.length === 2 && braces[0]!.text === '{' && braces[1]!.text === '}';
}

/** Strips brackets that enclose the whole text. */
function unwrapped(text: string): string {
  const trimmed = text.trim();
  const parts = [...outermost(trimmed)];
  const wraps = trimmed.startsWith('(') && parts.length === 2 && parts[1]!.end === trimmed.length;
  return wraps ? unwrapped(trimmed.slice(1, -1)) : trimmed;
}

const numberForm =
  /^\s*(0[xX][\da-fA-F]+|(?:\d+(?:_\d+)*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))\s*/;

/** The value of a number, or of arithmetic with numbers. */
function constant(text: string): number | undefined {
  let rest = text;
  const take = (pattern: RegExp): string | undefined => {
    const found = pattern.exec(rest);
    rest = found === null ? rest : rest.slice(found[0].length);
    return found?.[1];
  };
  const factor = (): number => {
    const sign = take(/^\s*([+-])\s*/);
    if (sign !== undefined) {
      return (sign === '-' ? -1 : 1) * factor();
    }
    if (take(/^\s*(\()\s*/) !== undefined) {
      const inner = sum();
      return take(/^(\))\s*/) === undefined ? NaN : inner;
    }
    const number = take(numberForm);
    return number === undefined ? NaN : Number(number.replaceAll('_', ''));
  };
  const product = (): number => {
    let value = factor();
    for (let op = take(/^([*/])/); op !== undefined; op = take(/^([*/])/)) {
      value = op === '*' ? value * factor() : value / factor();
    }
    return value;
  };
  const sum = (): number => {
    let value = product();
    for (let op = take(/^([+-])/); op !== undefined; op = take(/^([+-])/)) {
      value = op === '+' ? value + product() : value - product();
    }
    return value;
  };
  const value = sum();
  return rest === '' && Number.isFinite(value) ? value : undefined;
}
