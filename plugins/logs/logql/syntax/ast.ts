import type { MatchOp } from 'svc/query';

export type LineOp = '|=' | '!=' | '|~' | '!~' | '|>' | '!>';
export type CompareOp = '=' | '!=' | '>' | '>=' | '<' | '<=';

export interface MatcherText {
  readonly name: string;
  readonly op: MatchOp;
  readonly value: string;
}

/** One text of a line filter; with `ip` it is an address, a range or a network. */
export interface LineText {
  readonly text: string;
  readonly ip: boolean;
}

export type LabelFilter =
  | { readonly kind: 'and' | 'or'; readonly left: LabelFilter; readonly right: LabelFilter }
  | ({ readonly kind: 'string' } & MatcherText)
  | {
      readonly kind: 'number' | 'duration' | 'bytes';
      readonly name: string;
      readonly op: CompareOp;
      readonly value: number;
      readonly text: string;
    }
  | { readonly kind: 'ip'; readonly name: string; readonly op: '=' | '!='; readonly text: string };

/** `name="expression"` of a parser. */
export interface Extraction {
  readonly name: string;
  readonly expression: string;
}

/** `name=source` renames, `name="template"` writes. */
export interface LabelFormat {
  readonly name: string;
  readonly source?: string;
  readonly template?: string;
}

/** A label of `drop` or `keep`, always or only when its value matches. */
export interface LabelPick {
  readonly name: string;
  readonly op?: MatchOp;
  readonly value?: string;
}

export type Stage =
  | { readonly kind: 'line'; readonly op: LineOp; readonly texts: readonly LineText[] }
  | { readonly kind: 'json'; readonly fields: readonly Extraction[] }
  | {
      readonly kind: 'logfmt';
      readonly strict: boolean;
      readonly keepEmpty: boolean;
      readonly fields: readonly Extraction[];
    }
  | { readonly kind: 'regexp' | 'pattern' | 'line_format'; readonly text: string }
  | { readonly kind: 'unpack' | 'decolorize' }
  | { readonly kind: 'filter'; readonly filter: LabelFilter }
  | { readonly kind: 'label_format'; readonly formats: readonly LabelFormat[] }
  | { readonly kind: 'drop' | 'keep'; readonly labels: readonly LabelPick[] };

export interface LogExpr {
  readonly kind: 'log';
  readonly matchers: readonly MatcherText[];
  readonly stages: readonly Stage[];
}

export type Conversion = 'duration' | 'duration_seconds' | 'bytes';

export interface Unwrap {
  readonly label: string;
  readonly convert?: Conversion;
  readonly filters: readonly LabelFilter[];
}

export interface Grouping {
  readonly without: boolean;
  readonly labels: readonly string[];
}

export const rangeOps = [
  'count_over_time',
  'rate',
  'rate_counter',
  'bytes_over_time',
  'bytes_rate',
  'avg_over_time',
  'sum_over_time',
  'min_over_time',
  'max_over_time',
  'stdvar_over_time',
  'stddev_over_time',
  'quantile_over_time',
  'first_over_time',
  'last_over_time',
  'absent_over_time',
] as const;
export type RangeOp = (typeof rangeOps)[number];

export const vectorOps = [
  'sum',
  'avg',
  'count',
  'max',
  'min',
  'stddev',
  'stdvar',
  'bottomk',
  'topk',
  'approx_topk',
  'sort',
  'sort_desc',
] as const;
export type VectorOp = (typeof vectorOps)[number];

export const binaryOps = [
  'or',
  'and',
  'unless',
  '+',
  '-',
  '*',
  '/',
  '%',
  '^',
  '==',
  '!=',
  '>',
  '>=',
  '<',
  '<=',
] as const;
export type BinaryOp = (typeof binaryOps)[number];

export interface RangeExpr {
  readonly kind: 'range';
  readonly op: RangeOp;
  readonly log: LogExpr;
  readonly rangeMs: number;
  readonly offsetMs: number;
  readonly unwrap?: Unwrap;
  readonly parameter?: number;
  readonly grouping?: Grouping;
}

export interface VectorExpr {
  readonly kind: 'aggregation';
  readonly op: VectorOp;
  readonly parameter?: number;
  readonly grouping?: Grouping;
  readonly inner: MetricExpr;
}

export interface Matching {
  readonly on: boolean;
  readonly labels: readonly string[];
  /** Which side may have many series for one of the other. */
  readonly many?: 'left' | 'right';
  readonly include: readonly string[];
}

export interface BinaryExpr {
  readonly kind: 'binary';
  readonly op: BinaryOp;
  readonly left: MetricExpr;
  readonly right: MetricExpr;
  readonly bool: boolean;
  readonly matching?: Matching;
}

export interface ReplaceExpr {
  readonly kind: 'label_replace';
  readonly inner: MetricExpr;
  readonly target: string;
  readonly replacement: string;
  readonly source: string;
  readonly regex: string;
}

export type MetricExpr =
  | RangeExpr
  | VectorExpr
  | BinaryExpr
  | ReplaceExpr
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'vector'; readonly value: number };

export type Expr = LogExpr | MetricExpr;
