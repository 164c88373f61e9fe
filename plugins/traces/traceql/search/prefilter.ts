import type { FieldExpression, Intrinsic, Query, SpansetExpression, Stage } from '../parse/ast.ts';
import { isSpanset } from '../parse/parser.ts';
import type { Condition, Field, Prefilter, SpanPrefilter } from '../spans/source.ts';
import type { Value } from '../spans/span.ts';
import { valueTest } from './field.ts';

/** Fields of a span alone that a store keeps in columns. */
const columns: Partial<Readonly<Record<Intrinsic, Field>>> = {
  name: { intrinsic: 'name' },
  statusMessage: { intrinsic: 'statusMessage' },
  kind: { intrinsic: 'kind' },
  status: { intrinsic: 'status' },
  duration: { intrinsic: 'duration' },
  'trace:id': { intrinsic: 'traceId' },
  'span:id': { intrinsic: 'spanId' },
};

/** Returns what the store may skip before the query runs. */
export function prefilterOf({ stages, metrics }: Query): Prefilter {
  return {
    spans: ofStages(stages),
    partial:
      metrics !== undefined &&
      metrics.function !== 'compare' &&
      !needsWholeTrace(stages) &&
      ![metrics.field, ...metrics.by].some(looksAtTrace),
  };
}

/**
 * Returns the prefilter of stages. Later stages only remove traces, so the first one decides which
 * matter.
 */
function ofStages(stages: readonly Stage[]): SpanPrefilter | undefined {
  const filters = stages.filter(isSpanset).map(ofSpanset);
  return best(filters);
}

function ofSpanset(expression: SpansetExpression): SpanPrefilter | undefined {
  switch (expression.kind) {
    case 'filter':
      return expression.condition === undefined ? undefined : ofField(expression.condition);
    case 'pipeline':
      return ofStages(expression.stages);
    case 'operation': {
      const left = ofSpanset(expression.left);
      const right = ofSpanset(expression.right);
      if (expression.operator === '||') {
        return left === undefined || right === undefined ? undefined : { some: [left, right] };
      }
      // A negated relation does not imply that the left side exists.
      return expression.operator.startsWith('!') ? right : best([left, right]);
    }
  }
}

/**
 * Returns the most selective filter: all must hold of some span in the trace, so one suffices, and
 * the rarest is the best.
 */
function best(filters: readonly (SpanPrefilter | undefined)[]): SpanPrefilter | undefined {
  return filters
    .filter((filter) => filter !== undefined)
    .sort((a, b) => commonness(a) - commonness(b))[0];
}

function commonness(filter: SpanPrefilter): number {
  if ('all' in filter) {
    return Math.min(...filter.all.map(commonness));
  }
  if ('some' in filter) {
    return filter.some.reduce((sum, part) => sum + commonness(part), 0);
  }
  const { field, equals } = filter;
  const rare =
    'intrinsic' in field && (field.intrinsic === 'traceId' || field.intrinsic === 'spanId');
  return rare
    ? 0
    : equals === undefined
      ? 8
      : 'scope' in field && field.key !== 'service.name'
        ? 1
        : 3;
}

function ofField(expression: FieldExpression): SpanPrefilter | undefined {
  if (expression.kind === 'attribute' && !expression.ofParent) {
    return {
      field: { scope: expression.scope, key: expression.name },
      test: (value) => value.type === 'bool' && value.value,
    };
  }
  if (expression.kind !== 'binary') {
    return undefined;
  }
  const { operator, left, right } = expression;
  if (operator === '&&') {
    const parts = [ofField(left), ofField(right)].filter((part) => part !== undefined);
    return parts.length < 2 ? parts[0] : { all: parts };
  }
  if (operator === '||') {
    const a = ofField(left);
    const b = ofField(right);
    return a === undefined || b === undefined ? undefined : { some: [a, b] };
  }
  const field = fieldOf(left);
  return field === undefined ? undefined : ofComparison(field, expression);
}

function fieldOf(expression: FieldExpression): Field | undefined {
  if (expression.kind === 'attribute') {
    return expression.ofParent ? undefined : { scope: expression.scope, key: expression.name };
  }
  return expression.kind === 'intrinsic' ? columns[expression.intrinsic] : undefined;
}

function ofComparison(
  field: Field,
  expression: Extract<FieldExpression, { kind: 'binary' }>,
): Condition | undefined {
  const { operator, right } = expression;
  if (operator === '!=' && right.kind === 'literal' && right.value === undefined) {
    return { field, test: () => true };
  }
  const test = valueTest(expression);
  if (test === undefined) {
    return undefined;
  }
  const equals = operator === '=' ? (right as { value: Value }).value : undefined;
  return equals === undefined ? { field, test } : { field, equals, test };
}

function needsWholeTrace(stages: readonly Stage[]): boolean {
  return stages.some((stage) => {
    switch (stage.kind) {
      case 'filter':
        return looksAtTrace(stage.condition);
      case 'by':
        return stage.fields.some(looksAtTrace);
      case 'select':
        return false;
      case 'operation':
      case 'pipeline':
      case 'compare':
      case 'coalesce':
        return true;
    }
  });
}

const ofTrace: readonly Intrinsic[] = [
  'childCount',
  'rootName',
  'rootServiceName',
  'traceDuration',
  'nestedSetLeft',
  'nestedSetRight',
  'nestedSetParent',
];

export function looksAtTrace(expression: FieldExpression | undefined): boolean {
  switch (expression?.kind) {
    case undefined:
    case 'literal':
      return false;
    case 'attribute':
      return expression.ofParent;
    case 'intrinsic':
      return ofTrace.includes(expression.intrinsic);
    case 'unary':
      return looksAtTrace(expression.operand);
    case 'binary':
      return looksAtTrace(expression.left) || looksAtTrace(expression.right);
  }
}
