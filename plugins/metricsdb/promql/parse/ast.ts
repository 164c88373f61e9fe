import type { Matcher } from 'svc/query';

import type { Span } from './position.ts';

export type ValueType = 'scalar' | 'string' | 'vector' | 'matrix';

export type Expr =
  | NumberLiteral
  | StringLiteral
  | VectorSelector
  | MatrixSelector
  | Subquery
  | Call
  | Aggregation
  | Binary
  | Unary
  | Paren;

export interface NumberLiteral extends Span {
  readonly node: 'number';
  readonly value: number;
  /** True if it was written as a duration: `5m` is 300. */
  readonly duration: boolean;
}

export interface StringLiteral extends Span {
  readonly node: 'string';
  readonly value: string;
}

/** Span in milliseconds, or an expression that is computed when the query runs. */
export type Duration = number | DurationExpr;

export interface DurationExpr extends Span {
  readonly node: 'duration';
  /** `+` and `-` have only a right side where they are signs; `step` and `range` have none. */
  readonly op: '+' | '-' | '*' | '/' | '%' | '^' | 'step' | 'range' | 'min_of' | 'max_of';
  readonly left?: DurationPart;
  readonly right?: DurationPart;
  readonly wrapped: boolean;
}

export type DurationPart = NumberLiteral | DurationExpr;

/** When to look instead of at the time of evaluation: milliseconds, or an end of the query's window. */
export type At = number | 'start' | 'end';

export interface Placement {
  readonly offset: Duration;
  readonly at?: At;
}

/**
 * Treatment of the edges of a range: samples outside serve as an anchor, or values are
 * interpolated.
 */
export type Edges = 'anchored' | 'smoothed';

export interface VectorSelector extends Span, Placement {
  readonly node: 'selector';
  /** Name written before the braces; '' if there is none. */
  readonly name: string;
  /** `__name__` among them. */
  readonly matchers: readonly Matcher[];
  readonly edges?: Edges;
}

export interface MatrixSelector extends Span {
  readonly node: 'matrix';
  readonly selector: VectorSelector;
  readonly range: Duration;
}

export interface Subquery extends Span, Placement {
  readonly node: 'subquery';
  readonly expr: Expr;
  readonly range: Duration;
  /** Undefined: the default step. */
  readonly step?: Duration;
}

export interface Call extends Span {
  readonly node: 'call';
  readonly func: string;
  readonly args: readonly Expr[];
}

export interface Aggregation extends Span {
  readonly node: 'aggregation';
  readonly op: string;
  readonly expr: Expr;
  readonly param?: Expr;
  readonly grouping: readonly string[];
  readonly without: boolean;
}

export interface Matching {
  readonly on: boolean;
  readonly labels: readonly string[];
  readonly card: 'one-to-one' | 'many-to-one' | 'one-to-many' | 'many-to-many';
  /** Labels that the result takes from the "one" side. */
  readonly include: readonly string[];
  /** Value that fills in for a missing series of a side. */
  readonly fillLeft?: number;
  readonly fillRight?: number;
}

export interface Binary extends Span {
  readonly node: 'binary';
  readonly op: string;
  readonly left: Expr;
  readonly right: Expr;
  readonly bool: boolean;
  readonly matching: Matching;
}

export interface Unary extends Span {
  readonly node: 'unary';
  readonly op: '+' | '-';
  readonly expr: Expr;
}

export interface Paren extends Span {
  readonly node: 'paren';
  readonly expr: Expr;
}

export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.node) {
    case 'number':
    case 'string':
    case 'selector':
      return [];
    case 'matrix':
      return [expr.selector];
    case 'call':
      return expr.args;
    case 'aggregation':
      return expr.param === undefined ? [expr.expr] : [expr.param, expr.expr];
    case 'binary':
      return [expr.left, expr.right];
    case 'subquery':
    case 'unary':
    case 'paren':
      return [expr.expr];
  }
}

export function withoutParens(expr: Expr): Expr {
  return expr.node === 'paren' ? withoutParens(expr.expr) : expr;
}

/** Every selector of an expression, in the order of the text. */
export function selectorsOf(expr: Expr): VectorSelector[] {
  return expr.node === 'selector' ? [expr] : childrenOf(expr).flatMap(selectorsOf);
}
