import type { AttributeScope } from '../spans/source.ts';
import type { Value } from '../spans/span.ts';

export type Intrinsic =
  | 'duration'
  | 'name'
  | 'status'
  | 'statusMessage'
  | 'kind'
  | 'childCount'
  | 'parent'
  | 'rootName'
  | 'rootServiceName'
  | 'traceDuration'
  | 'nestedSetLeft'
  | 'nestedSetRight'
  | 'nestedSetParent'
  | 'trace:id'
  | 'span:id'
  | 'span:parentID'
  | 'event:name'
  | 'event:timeSinceStart'
  | 'link:traceID'
  | 'link:spanID'
  | 'instrumentation:name'
  | 'instrumentation:version';

export type FieldOperator =
  | '='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | '=~'
  | '!~'
  | '&&'
  | '||'
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '^';
export type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>=';

export interface AttributeField {
  readonly kind: 'attribute';
  readonly scope: AttributeScope;
  readonly ofParent: boolean;
  readonly name: string;
}

export type FieldExpression =
  /** Literal; without a value it is nil. `text` is its source text. */
  | { readonly kind: 'literal'; readonly value: Value | undefined; readonly text: string }
  | AttributeField
  | { readonly kind: 'intrinsic'; readonly intrinsic: Intrinsic; readonly text: string }
  | { readonly kind: 'unary'; readonly operator: '!' | '-'; readonly operand: FieldExpression }
  | {
      readonly kind: 'binary';
      readonly operator: FieldOperator;
      readonly left: FieldExpression;
      readonly right: FieldExpression;
    };

export type Relation = '>' | '>>' | '<' | '<<' | '~';
export type SpansetOperator = '&&' | '||' | Relation | `!${Relation}` | `&${Relation}`;

export type SpansetExpression =
  /** Filter; without a condition it selects every span. */
  | { readonly kind: 'filter'; readonly condition: FieldExpression | undefined }
  | {
      readonly kind: 'operation';
      readonly operator: SpansetOperator;
      readonly left: SpansetExpression;
      readonly right: SpansetExpression;
    }
  | { readonly kind: 'pipeline'; readonly stages: readonly Stage[] };

export type AggregateFunction = 'count' | 'avg' | 'max' | 'min' | 'sum';

export type ScalarExpression =
  | { readonly kind: 'number'; readonly value: Value; readonly text: string }
  | {
      readonly kind: 'aggregate';
      readonly function: AggregateFunction;
      readonly field: FieldExpression | undefined;
    }
  | { readonly kind: 'negative'; readonly operand: ScalarExpression }
  | {
      readonly kind: 'arithmetic';
      readonly operator: '+' | '-' | '*' | '/' | '%' | '^';
      readonly left: ScalarExpression;
      readonly right: ScalarExpression;
    };

export type Stage =
  | SpansetExpression
  | {
      readonly kind: 'compare';
      readonly operator: Comparison;
      readonly left: ScalarExpression;
      readonly right: ScalarExpression;
    }
  | { readonly kind: 'by'; readonly fields: readonly FieldExpression[] }
  | { readonly kind: 'coalesce' }
  | { readonly kind: 'select'; readonly fields: readonly FieldExpression[] };

export type OverTimeFunction =
  | 'rate'
  | 'count_over_time'
  | 'min_over_time'
  | 'max_over_time'
  | 'avg_over_time'
  | 'sum_over_time'
  | 'quantile_over_time'
  | 'histogram_over_time';

export interface MetricsStage {
  readonly function: OverTimeFunction;
  readonly field: FieldExpression | undefined;
  readonly quantiles: readonly number[];
  readonly by: readonly FieldExpression[];
}

/**
 * Comparison of the values of selected spans with those of others; with a window, only spans that
 * start in it are selected.
 */
export interface CompareStage {
  readonly function: 'compare';
  readonly selection: FieldExpression | undefined;
  readonly top: number;
  readonly startNs: bigint | undefined;
  readonly endNs: bigint | undefined;
}

export interface RankStage {
  readonly function: 'topk' | 'bottomk';
  readonly count: number;
}

export interface Query {
  readonly stages: readonly Stage[];
  readonly metrics: MetricsStage | CompareStage | undefined;
  readonly ranks: readonly RankStage[];
  readonly hints: Hints;
}

/** `with (…)` */
export interface Hints {
  /** Requests the newest traces first, which is the order of every search. */
  readonly mostRecent?: true;
  /** Number of spans shown with the numbers of a metric. */
  readonly exemplars?: number | boolean;
}
