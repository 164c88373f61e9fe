import { compileRegex, queryError } from 'svc/query';

import type {
  FieldExpression,
  FieldOperator,
  Intrinsic,
  MetricsStage,
  Query,
  ScalarExpression,
  SpansetExpression,
  Stage,
} from './ast.ts';
import { printField, printScalar } from './print.ts';

/** Static type of an expression; `attribute` means any. */
type Type =
  | 'attribute'
  | 'nil'
  | 'string'
  | 'int'
  | 'float'
  | 'duration'
  | 'bool'
  | 'status'
  | 'kind';

const typeOfIntrinsic: Readonly<Record<Intrinsic, Type>> = {
  duration: 'duration',
  name: 'string',
  status: 'status',
  statusMessage: 'string',
  kind: 'kind',
  childCount: 'int',
  parent: 'nil',
  rootName: 'string',
  rootServiceName: 'string',
  traceDuration: 'duration',
  nestedSetLeft: 'int',
  nestedSetRight: 'int',
  nestedSetParent: 'int',
  'trace:id': 'string',
  'span:id': 'string',
  'span:parentID': 'string',
  'event:name': 'string',
  'event:timeSinceStart': 'duration',
  'link:traceID': 'string',
  'link:spanID': 'string',
  'instrumentation:name': 'string',
  'instrumentation:version': 'string',
};

const arithmetic = ['+', '-', '*', '/', '%', '^'];

const complaint = (problem: string): Error =>
  queryError('bad_data', `invalid TraceQL query: ${problem}`);
const isNumeric = (type: Type): boolean =>
  type === 'int' || type === 'float' || type === 'duration';
const mayBe = (type: Type, wanted: Type): boolean => type === wanted || type === 'attribute';

/** Throws unless every operation of the query can mean something. */
export function checkQuery({ stages, metrics }: Query): void {
  stages.forEach(checkStage);
  if (metrics?.function === 'compare') {
    checkSpanset({ kind: 'filter', condition: metrics.selection });
  } else if (metrics !== undefined) {
    checkMetrics(metrics);
  }
}

function checkStage(stage: Stage): void {
  switch (stage.kind) {
    case 'filter':
    case 'operation':
    case 'pipeline':
      checkSpanset(stage);
      return;
    case 'compare':
      checkScalar(stage.left);
      checkScalar(stage.right);
      if (!(hasAggregate(stage.left) || hasAggregate(stage.right))) {
        throw complaint(
          `scalar filters must aggregate spans: ${printScalar(stage.left)} ${stage.operator} ${printScalar(stage.right)}`,
        );
      }
      return;
    case 'by':
      stage.fields.forEach((field) => checkGrouping(field, 'by'));
      return;
    case 'select':
      for (const field of stage.fields) {
        if (field.kind !== 'attribute' && field.kind !== 'intrinsic') {
          throw complaint(`select takes attributes and intrinsics: select(${printField(field)})`);
        }
        typeOf(field);
      }
      return;
    case 'coalesce':
  }
}

function checkSpanset(expression: SpansetExpression): void {
  switch (expression.kind) {
    case 'filter':
      if (expression.condition !== undefined && !mayBe(typeOf(expression.condition), 'bool')) {
        throw complaint(
          `span filter field expressions must resolve to a boolean: ${printField(expression.condition)}`,
        );
      }
      return;
    case 'operation':
      checkSpanset(expression.left);
      checkSpanset(expression.right);
      return;
    case 'pipeline':
      expression.stages.forEach(checkStage);
  }
}

function checkScalar(expression: ScalarExpression): void {
  switch (expression.kind) {
    case 'number':
      return;
    case 'negative':
      checkScalar(expression.operand);
      return;
    case 'arithmetic':
      checkScalar(expression.left);
      checkScalar(expression.right);
      return;
    case 'aggregate':
      if (expression.field !== undefined) {
        checkNumeric(expression.field, printScalar(expression));
      }
  }
}

const hasAggregate = (expression: ScalarExpression): boolean =>
  expression.kind === 'aggregate' ||
  (expression.kind === 'negative' && hasAggregate(expression.operand)) ||
  (expression.kind === 'arithmetic' &&
    (hasAggregate(expression.left) || hasAggregate(expression.right)));

function checkNumeric(field: FieldExpression, text: string): void {
  const type = typeOf(field);
  if (type !== 'attribute' && !isNumeric(type)) {
    throw complaint(`aggregate field expressions must resolve to a number type: ${text}`);
  }
  if (!referencesSpan(field)) {
    throw complaint(`aggregate field expressions must reference the span: ${text}`);
  }
}

function checkGrouping(field: FieldExpression, stage: string): void {
  typeOf(field);
  if (!referencesSpan(field)) {
    throw complaint(
      `grouping field expressions must reference the span: ${stage}(${printField(field)})`,
    );
  }
}

function checkMetrics(metrics: MetricsStage): void {
  if (metrics.field !== undefined) {
    checkNumeric(metrics.field, `${metrics.function}(${printField(metrics.field)})`);
  }
  metrics.by.forEach((field) => checkGrouping(field, 'by'));
}

export const referencesSpan = (expression: FieldExpression): boolean => {
  switch (expression.kind) {
    case 'literal':
      return false;
    case 'attribute':
    case 'intrinsic':
      return true;
    case 'unary':
      return referencesSpan(expression.operand);
    case 'binary':
      return referencesSpan(expression.left) || referencesSpan(expression.right);
  }
};

function typeOf(expression: FieldExpression): Type {
  switch (expression.kind) {
    case 'literal':
      return (expression.value?.type ?? 'nil') as Type;
    case 'attribute':
      return 'attribute';
    case 'intrinsic':
      if (expression.intrinsic === 'parent') {
        throw complaint('intrinsic (parent) not yet supported');
      }
      return typeOfIntrinsic[expression.intrinsic];
    case 'unary': {
      const type = typeOf(expression.operand);
      if (
        !(type === 'attribute' || (expression.operator === '!' ? type === 'bool' : isNumeric(type)))
      ) {
        throw complaint(`illegal operation for the given type: ${printField(expression)}`);
      }
      return type === 'attribute' && expression.operator === '!' ? 'bool' : type;
    }
    case 'binary':
      return typeOfBinary(expression);
  }
}

function typeOfBinary(expression: Extract<FieldExpression, { kind: 'binary' }>): Type {
  const { operator, left, right } = expression;
  if (operator === '=') {
    checkNil(left, right);
    checkNil(right, left);
  }
  const a = typeOf(left);
  const b = typeOf(right);
  const matching =
    a === b ||
    (isNumeric(a) && isNumeric(b)) ||
    a === 'attribute' ||
    b === 'attribute' ||
    a === 'nil' ||
    b === 'nil';
  if (!matching) {
    throw complaint(`binary operations must operate on the same type: ${printField(expression)}`);
  }
  if (!allows(operator, a) || !allows(operator, b)) {
    throw complaint(`illegal operation for the given types: ${printField(expression)}`);
  }
  if (operator === '=~' || operator === '!~') {
    checkPattern(expression);
  }
  if (!arithmetic.includes(operator)) {
    return 'bool';
  }
  return a === 'attribute'
    ? b === 'attribute'
      ? 'attribute'
      : b
    : a === 'int' && b !== 'attribute'
      ? b
      : a;
}

/**
 * Rejects nil comparisons with fields that every span has: whoever writes that means something
 * else.
 */
function checkNil(value: FieldExpression, field: FieldExpression): void {
  const isNil = value.kind === 'literal' && value.value === undefined;
  if (isNil && field.kind === 'intrinsic' && field.intrinsic !== 'parent') {
    throw complaint(`${printField(field)}=nil is not valid because intrinsics cannot be nil`);
  }
  if (
    isNil &&
    field.kind === 'attribute' &&
    field.scope === 'resource' &&
    field.name === 'service.name' &&
    !field.ofParent
  ) {
    throw complaint(`${printField(field)}=nil is not valid because every resource has it`);
  }
}

function allows(operator: FieldOperator, type: Type): boolean {
  switch (type) {
    case 'attribute':
      return true;
    case 'nil':
    case 'status':
    case 'kind':
      return operator === '=' || operator === '!=';
    case 'bool':
      return operator === '=' || operator === '!=' || operator === '&&' || operator === '||';
    case 'string':
      return ['=', '!=', '<', '<=', '>', '>=', '=~', '!~'].includes(operator);
    case 'int':
    case 'float':
    case 'duration':
      return ['=', '!=', '<', '<=', '>', '>='].includes(operator) || arithmetic.includes(operator);
  }
}

function checkPattern({
  operator,
  left,
  right,
}: Extract<FieldExpression, { kind: 'binary' }>): void {
  if (right.kind !== 'literal' || right.value?.type !== 'string') {
    throw complaint(
      `the right side of ${operator} must be a string: ${printField(left)} ${operator} ${printField(right)}`,
    );
  }
  try {
    compileRegex(right.value.value);
  } catch (error) {
    throw complaint(
      `${(error as Error).message}: ${printField(left)} ${operator} ${printField(right)}`,
    );
  }
}
