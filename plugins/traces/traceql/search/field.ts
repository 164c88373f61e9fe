import { compileRegex, queryError } from 'svc/query';

import type { AttributeField, FieldExpression, Intrinsic } from '../parse/ast.ts';
import type { AttributeScope } from '../spans/source.ts';
import { attribute, type Attribute, type Span, type Value } from '../spans/span.ts';
import type { TraceView } from '../spans/trace-view.ts';
import { arithmetic, bool, compare, isNumeric, matchesText } from './values.ts';

/** The value of an expression for one span of a trace; undefined: nil. */
export type Evaluate = (view: TraceView, index: number) => Value | undefined;
export type Test = (view: TraceView, index: number) => boolean;

/** A condition of a spanset filter as a function. */
export function compileTest(expression: FieldExpression): Test {
  if (expression.kind === 'binary') {
    const { operator, left, right } = expression;
    if (operator === '&&' || operator === '||') {
      const a = compileTest(left);
      const b = compileTest(right);
      return operator === '&&'
        ? (view, index) => a(view, index) && b(view, index)
        : (view, index) => a(view, index) || b(view, index);
    }
    const test = valueTest(expression);
    if (test !== undefined) {
      const value = compileField(left);
      return (view, index) => {
        const found = value(view, index);
        return found !== undefined && test(found);
      };
    }
  }
  if (expression.kind === 'unary' && expression.operator === '!') {
    const inner = compileField(expression.operand);
    return (view, index) => {
      const value = inner(view, index);
      return value?.type === 'bool' && !value.value;
    };
  }
  const evaluate = compileField(expression);
  return (view, index) => {
    const value = evaluate(view, index);
    return value?.type === 'bool' && value.value;
  };
}

/**
 * Returns the test that a comparison with a literal applies to the value on its left; undefined if
 * it is no such comparison.
 */
export function valueTest(expression: FieldExpression): ((value: Value) => boolean) | undefined {
  if (
    expression.kind !== 'binary' ||
    expression.right.kind !== 'literal' ||
    expression.right.value === undefined
  ) {
    return undefined;
  }
  const { operator, right } = expression;
  const literal = right.value!;
  switch (operator) {
    case '=~':
    case '!~': {
      const pattern = compileRegex((literal as { value: string }).value, {
        anchored: true,
        dotAll: true,
      });
      return (value) => matchesText(value, pattern.test, operator === '!~');
    }
    case '=':
    case '!=':
    case '<':
    case '<=':
    case '>':
    case '>=':
      return (value) => compare(operator, value, literal);
    default:
      return undefined;
  }
}

export function compileField(expression: FieldExpression): Evaluate {
  switch (expression.kind) {
    case 'literal':
      return () => expression.value;
    case 'attribute':
      return ofAttribute(expression);
    case 'intrinsic':
      return intrinsicOf(expression.intrinsic);
    case 'unary':
      return unary(expression.operator, compileField(expression.operand));
    case 'binary':
      return binary(expression);
  }
}

function unary(operator: '!' | '-', operand: Evaluate): Evaluate {
  return (view, index) => {
    const value = operand(view, index);
    if (operator === '!') {
      return value?.type === 'bool' ? bool(!value.value) : undefined;
    }
    return value !== undefined && isNumeric(value)
      ? { type: value.type, value: -value.value }
      : undefined;
  };
}

function binary(expression: Extract<FieldExpression, { kind: 'binary' }>): Evaluate {
  const { operator, left, right } = expression;
  switch (operator) {
    case '&&':
    case '||':
    case '=~':
    case '!~': {
      const test = compileTest(expression);
      return (view, index) => bool(test(view, index));
    }
    case '=':
    case '!=': {
      if (isNil(left) && isNil(right)) {
        return () => bool(false);
      }
      if (isNil(left) || isNil(right)) {
        const other = compileField(isNil(left) ? right : left);
        return (view, index) => bool((other(view, index) === undefined) === (operator === '='));
      }
      return comparison(operator, left, right);
    }
    case '<':
    case '<=':
    case '>':
    case '>=':
      return comparison(operator, left, right);
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
    case '^': {
      const a = compileField(left);
      const b = compileField(right);
      return (view, index) => {
        const first = a(view, index);
        const second = b(view, index);
        return first === undefined || second === undefined
          ? undefined
          : arithmetic(operator, first, second);
      };
    }
  }
}

const isNil = (expression: FieldExpression): boolean =>
  expression.kind === 'literal' && expression.value === undefined;

function comparison(
  operator: '=' | '!=' | '<' | '<=' | '>' | '>=',
  left: FieldExpression,
  right: FieldExpression,
): Evaluate {
  const a = compileField(left);
  const b = compileField(right);
  return (view, index) => {
    const first = a(view, index);
    const second = b(view, index);
    return bool(first !== undefined && second !== undefined && compare(operator, first, second));
  };
}

function ofAttribute({ scope, name, ofParent }: AttributeField): Evaluate {
  const read = readerOf(scope, name);
  if (!ofParent) {
    return (view, index) => read(view.spans[index]!);
  }
  return (view, index) => {
    const parent = view.tree.parent[index]!;
    return parent < 0 ? undefined : read(view.spans[parent]!);
  };
}

/**
 * Unscoped, the nearest one counts: the span's own, then its resource's, then what belongs to its parts. The scope is looked at here,
 * once: V8 11.3, while it compiled a test for each span in the background, took a scope that was cut out of the query for none of these.
 */
function readerOf(scope: AttributeScope, name: string): (span: Span) => Value | undefined {
  switch (scope) {
    case 'span':
      return (span) => attribute(span.attributes, name);
    case 'resource':
      return (span) => attribute(span.resource, name);
    case 'instrumentation':
      return (span) => attribute(span.scope.attributes, name);
    case 'event':
      return (span) => eachAttribute(span.events, name);
    case 'link':
      return (span) => eachAttribute(span.links, name);
    case 'any':
      return (span) =>
        attribute(span.attributes, name) ??
        attribute(span.resource, name) ??
        eachAttribute(span.events, name) ??
        eachAttribute(span.links, name) ??
        attribute(span.scope.attributes, name);
  }
}

const eachAttribute = (
  parts: readonly { readonly attributes: readonly Attribute[] }[],
  name: string,
): Value | undefined => each(parts.map((part) => attribute(part.attributes, name)));

/** Returns the values of several parts of one span; nil if none of them has any. */
function each(values: readonly (Value | undefined)[]): Value | undefined {
  const found = values.filter((value) => value !== undefined);
  return found.length > 1 ? { type: 'each', values: found } : found[0];
}

const text = (value: string): Value => ({ type: 'string', value });
const whole = (value: number): Value => ({ type: 'int', value });

function intrinsicOf(intrinsic: Intrinsic): Evaluate {
  switch (intrinsic) {
    case 'duration':
      return (view, index) => ({ type: 'duration', value: view.spans[index]!.durationNs });
    case 'name':
      return (view, index) => text(view.spans[index]!.name);
    case 'status':
      return (view, index) => ({ type: 'status', value: view.spans[index]!.status });
    case 'statusMessage':
      return (view, index) => text(view.spans[index]!.statusMessage);
    case 'kind':
      return (view, index) => ({ type: 'kind', value: view.spans[index]!.kind });
    case 'childCount':
      return (view, index) => whole(view.tree.childCount[index]!);
    case 'rootName':
      return (view) => (view.root === undefined ? undefined : text(view.rootName));
    case 'rootServiceName':
      return (view) => (view.root === undefined ? undefined : text(view.rootService));
    case 'traceDuration':
      return (view) => ({ type: 'duration', value: view.extent.durationNs });
    case 'nestedSetLeft':
      return (view, index) => whole(view.tree.left[index]!);
    case 'nestedSetRight':
      return (view, index) => whole(view.tree.right[index]!);
    case 'nestedSetParent':
      return (view, index) => {
        const parent = view.tree.parent[index]!;
        return whole(parent === -1 ? -1 : parent < 0 ? 0 : view.tree.left[parent]!);
      };
    case 'trace:id':
      return (view) => text(view.traceId);
    case 'span:id':
      return (view, index) => text(view.spans[index]!.id);
    case 'span:parentID':
      return (view, index) => text(view.spans[index]!.parentId);
    case 'event:name':
      return (view, index) => each(view.spans[index]!.events.map(({ name }) => text(name)));
    case 'event:timeSinceStart':
      return (view, index) =>
        each(
          view.spans[index]!.events.map(({ sinceStart }) => ({
            type: 'duration',
            value: sinceStart,
          })),
        );
    case 'link:traceID':
      return (view, index) => each(view.spans[index]!.links.map(({ traceId }) => text(traceId)));
    case 'link:spanID':
      return (view, index) => each(view.spans[index]!.links.map(({ spanId }) => text(spanId)));
    case 'instrumentation:name':
      return (view, index) => text(view.spans[index]!.scope.name);
    case 'instrumentation:version':
      return (view, index) => text(view.spans[index]!.scope.version);
    case 'parent':
      throw queryError('bad_data', 'invalid TraceQL query: intrinsic (parent) not yet supported');
  }
}
