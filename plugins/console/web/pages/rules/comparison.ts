export const operators = ['>', '>=', '<', '<=', '==', '!='] as const;
export type Operator = (typeof operators)[number];

/** An expression, taken apart at the comparison with a number that ends it. */
export interface Comparison {
  readonly measure: string;
  readonly operator: Operator;
  readonly threshold: number;
}

/** A text, a comment, a bracket, a word or an operator: what decides where a comparison is. */
const part =
  /"(?:\\[^]|[^"\\])*"|'(?:\\[^]|[^'\\])*'|`[^`]*`|#[^\n]*|[([{]|[)\]}]|[A-Za-z_:][\w:]*|=~|!~|[<>=!]=?/g;
const number = /^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*$/;

/** Returns the parts of an expression that ends in its only comparison; undefined for any other. */
export function comparisonOf(expression: string): Comparison | undefined {
  let depth = 0;
  let found: { readonly sign: string; readonly start: number } | undefined;
  for (const { 0: text, index } of expression.matchAll(part)) {
    if (/^[([{]$/.test(text)) {
      depth += 1;
    } else if (/^[)\]}]$/.test(text)) {
      depth -= 1;
    } else if (text.startsWith('#') || /^(?:and|or|unless|bool)$/i.test(text)) {
      if (depth === 0 || text.startsWith('#')) {
        return undefined;
      }
    } else if (depth === 0 && /^(?:[<>]=?|[=!]=)$/.test(text)) {
      if (found !== undefined) {
        return undefined;
      }
      found = { sign: text, start: index };
    }
  }
  if (found === undefined) {
    return undefined;
  }
  const right = expression.slice(found.start + found.sign.length);
  return number.test(right)
    ? {
        measure: expression.slice(0, found.start).trim(),
        operator: found.sign as Operator,
        threshold: Number(right),
      }
    : undefined;
}

/** Puts a comparison together; a measure that compares itself stands in brackets. */
export function compared({ measure, operator, threshold }: Comparison): string {
  const plain = measure.trim();
  const whole = `${plain} ${operator} ${threshold}`;
  return comparisonOf(whole) === undefined ? `(${plain}) ${operator} ${threshold}` : whole;
}

/** Returns the side of a threshold on which values breach; none for an operator without a side. */
export const sideOf = (operator: Operator): 'above' | 'below' | undefined =>
  operator.startsWith('>') ? 'above' : operator.startsWith('<') ? 'below' : undefined;
