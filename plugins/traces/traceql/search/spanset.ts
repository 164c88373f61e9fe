import type { Relation, SpansetExpression, SpansetOperator } from '../parse/ast.ts';
import type { Tree, TraceView } from '../spans/trace-view.ts';
import { compileTest } from './field.ts';

/** Numbers of spans within their trace, ascending. */
export type Members = readonly number[];
export type SelectSpans = (view: TraceView, members: Members) => Members;

/** Compiles a spanset expression without inner pipelines; `inner` compiles those. */
export function compileSpanset(
  expression: SpansetExpression,
  inner: (expression: Extract<SpansetExpression, { kind: 'pipeline' }>) => SelectSpans,
): SelectSpans {
  switch (expression.kind) {
    case 'filter': {
      if (expression.condition === undefined) {
        return (_view, members) => members;
      }
      const test = compileTest(expression.condition);
      return (view, members) => members.filter((index) => test(view, index));
    }
    case 'pipeline':
      return inner(expression);
    case 'operation': {
      const left = compileSpanset(expression.left, inner);
      const right = compileSpanset(expression.right, inner);
      const combine = combination(expression.operator);
      return (view, members) => combine(view, left(view, members), right(view, members));
    }
  }
}

type Combine = (view: TraceView, left: Members, right: Members) => Members;

function combination(operator: SpansetOperator): Combine {
  switch (operator) {
    case '||':
      return (_view, left, right) => union(left, right);
    case '&&':
      return (_view, left, right) =>
        left.length === 0 || right.length === 0 ? [] : union(left, right);
    case '>':
    case '>>':
    case '<':
    case '<<':
    case '~':
      return (view, left, right) => related(operator, view.tree, left, right);
    case '!>':
    case '!>>':
    case '!<':
    case '!<<':
    case '!~': {
      const relation = operator.slice(1) as Relation;
      return (view, left, right) => {
        const found = new Set(related(relation, view.tree, left, right));
        return right.filter((index) => !found.has(index));
      };
    }
    case '&>':
    case '&>>':
    case '&<':
    case '&<<':
    case '&~': {
      const relation = operator.slice(1) as Relation;
      return (view, left, right) =>
        union(
          related(relation, view.tree, left, right),
          related(inverse[relation], view.tree, right, left),
        );
    }
  }
}

const inverse: Readonly<Record<Relation, Relation>> = {
  '>': '<',
  '>>': '<<',
  '<': '>',
  '<<': '>>',
  '~': '~',
};

function union(left: Members, right: Members): Members {
  return left.length === 0
    ? right
    : right.length === 0
      ? left
      : [...new Set([...left, ...right])].sort((a, b) => a - b);
}

/**
 * Returns the members on the right that relate to one on the left: child `>`, descendant `>>`,
 * parent `<`, ancestor `<<`, sibling `~`.
 */
function related(relation: Relation, tree: Tree, left: Members, right: Members): Members {
  if (left.length === 0 || right.length === 0) {
    return [];
  }
  const { parent } = tree;
  const marked = new Uint8Array(parent.length);
  for (const index of left) {
    marked[index] = 1;
  }
  switch (relation) {
    case '>':
      return right.filter((index) => parent[index]! >= 0 && marked[parent[index]!] === 1);
    case '>>': {
      const below = belowMarked(tree, marked);
      return right.filter((index) => below[index] === 1);
    }
    case '<': {
      const above = new Uint8Array(parent.length);
      for (const index of left) {
        if (parent[index]! >= 0) {
          above[parent[index]!] = 1;
        }
      }
      return right.filter((index) => above[index] === 1);
    }
    case '<<': {
      const above = aboveMarked(tree, marked);
      return right.filter((index) => above[index] === 1);
    }
    case '~': {
      const brood = new Uint32Array(parent.length);
      for (const index of left) {
        if (parent[index]! >= 0) {
          brood[parent[index]!]!++;
        }
      }
      return right.filter(
        (index) => parent[index]! >= 0 && brood[parent[index]!]! > marked[index]!,
      );
    }
  }
}

function belowMarked({ parent, order }: Tree, marked: Uint8Array): Uint8Array {
  const below = new Uint8Array(marked.length);
  for (const index of order) {
    const above = parent[index]!;
    if (above >= 0) {
      below[index] = marked[above]! | below[above]!;
    }
  }
  return below;
}

function aboveMarked({ parent, order }: Tree, marked: Uint8Array): Uint8Array {
  const above = new Uint8Array(marked.length);
  for (let i = order.length - 1; i >= 0; i--) {
    const index = order[i]!;
    const up = parent[index]!;
    if (up >= 0) {
      above[up]! |= marked[index]! | above[index]!;
    }
  }
  return above;
}
