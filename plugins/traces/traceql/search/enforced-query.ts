import { type Matcher, queryError } from 'svc/query';

import type {
  FieldExpression,
  Query,
  ScalarExpression,
  SpansetExpression,
  Stage,
} from '../parse/ast.ts';
import { isSpanset } from '../parse/parser.ts';
import { looksAtTrace } from './prefilter.ts';

/** The query with what the asker may see in every filter, for a server that knows nothing of it. A span that the matchers pass for want of the attribute is left out. */
export function enforcedQuery(query: Query, matchers: readonly Matcher[]): Query {
  const [first, ...more] = matchers.map(conditionOf);
  if (first === undefined) {
    return query;
  }
  const sight = more.reduce<FieldExpression>(
    (left, right) => ({ kind: 'binary', operator: '&&', left, right }),
    first,
  );
  const { stages } = query;
  const begun: readonly Stage[] =
    stages[0] !== undefined && isSpanset(stages[0])
      ? stages
      : [{ kind: 'filter', condition: undefined }, ...stages];
  return {
    ...query,
    stages: begun.map((stage) => (isSpanset(stage) ? narrowed(stage, sight) : stage)),
  };
}

/** The query that tells the name of each span, too. */
export const withNames = (query: Query): Query => ({
  ...query,
  stages: [
    ...query.stages,
    { kind: 'select', fields: [{ kind: 'intrinsic', intrinsic: 'name', text: 'name' }] },
  ],
});

/**
 * Throws unless the query looks at one span at a time: what it states about other spans cannot be
 * hidden from the caller elsewhere.
 */
export function assertSpansAlone({ stages, metrics }: Query): void {
  assertFieldsAlone([
    ...stages.flatMap(fieldsIn),
    ...(metrics === undefined ? [] : fieldsOfMetrics(metrics)),
  ]);
}

/** A comparison tells the names of roots, too. */
const fieldsOfMetrics = (
  metrics: NonNullable<Query['metrics']>,
): readonly (FieldExpression | undefined)[] =>
  metrics.function === 'compare'
    ? [metrics.selection, { kind: 'intrinsic', intrinsic: 'rootName', text: 'rootName' }]
    : [metrics.field, ...metrics.by];

export function assertFieldsAlone(fields: readonly (FieldExpression | undefined)[]): void {
  if (fields.some(looksAtTrace)) {
    throw queryError(
      'bad_data',
      'with a remote trace store, spans of one device cannot be asked about their trace or their parents',
    );
  }
}

function fieldsIn(stage: Stage): readonly (FieldExpression | undefined)[] {
  switch (stage.kind) {
    case 'filter':
      return [stage.condition];
    case 'operation':
      return [stage.left, stage.right].flatMap(fieldsIn);
    case 'pipeline':
      return stage.stages.flatMap(fieldsIn);
    case 'by':
    case 'select':
      return stage.fields;
    case 'compare':
      return [stage.left, stage.right].flatMap(fieldsOfScalar);
    case 'coalesce':
      return [];
  }
}

function fieldsOfScalar(scalar: ScalarExpression): readonly (FieldExpression | undefined)[] {
  switch (scalar.kind) {
    case 'number':
      return [];
    case 'aggregate':
      return [scalar.field];
    case 'negative':
      return fieldsOfScalar(scalar.operand);
    case 'arithmetic':
      return [scalar.left, scalar.right].flatMap(fieldsOfScalar);
  }
}

/**
 * Throws unless the query is one filter of comparisons joined by `and`, as a server accepts it with
 * a tag.
 */
export function assertOneFilter({ stages, metrics }: Query): void {
  const [stage, ...more] = stages;
  if (
    metrics !== undefined ||
    more.length > 0 ||
    stage?.kind !== 'filter' ||
    !isConjunction(stage.condition)
  ) {
    throw queryError(
      'bad_data',
      'with a remote trace store, values within one device can only be narrowed by one filter of comparisons joined by &&',
    );
  }
}

function isConjunction(condition: FieldExpression | undefined): boolean {
  if (condition === undefined) {
    return true;
  }
  if (condition.kind !== 'binary') {
    return false;
  }
  const { operator, left, right } = condition;
  return operator === '&&'
    ? isConjunction(left) && isConjunction(right)
    : (left.kind === 'attribute' || left.kind === 'intrinsic') && right.kind === 'literal';
}

function narrowed(expression: SpansetExpression, sight: FieldExpression): SpansetExpression {
  switch (expression.kind) {
    case 'filter':
      return {
        kind: 'filter',
        condition:
          expression.condition === undefined
            ? sight
            : { kind: 'binary', operator: '&&', left: sight, right: expression.condition },
      };
    case 'operation':
      return {
        ...expression,
        left: narrowed(expression.left, sight),
        right: narrowed(expression.right, sight),
      };
    case 'pipeline':
      return {
        kind: 'pipeline',
        stages: expression.stages.map((stage) =>
          isSpanset(stage) ? narrowed(stage, sight) : stage,
        ),
      };
  }
}

/** Servers differ in whether a pattern must fit as a whole; this one always does. */
function conditionOf({ name, op, value }: Matcher): FieldExpression {
  const text = op === '=~' || op === '!~' ? `^(?:${value})$` : value;
  return {
    kind: 'binary',
    operator: op,
    left: { kind: 'attribute', scope: 'resource', ofParent: false, name },
    right: { kind: 'literal', value: { type: 'string', value: text }, text: JSON.stringify(text) },
  };
}
