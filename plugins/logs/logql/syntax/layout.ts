import { formatFloat } from 'svc/query';
import { quote } from 'svc/template';

import type {
  BinaryExpr,
  BinaryOp,
  Expr,
  LogExpr,
  MetricExpr,
  RangeExpr,
  VectorExpr,
} from './ast.ts';
import { precedence } from './metric-parser.ts';
import {
  printExpr,
  printGrouping,
  printMatching,
  printSelector,
  printStage,
  printUnwrap,
  printWindow,
} from './print.ts';

const usualWidth = 100;

/**
 * Formats the query for people: long parts are broken, one argument or stage per line. It parses to
 * the same query.
 */
export function layOut(expr: Expr, width = usualWidth): string {
  return new Layout(width).expr(expr, 0).join('\n');
}

const indent = (level: number): string => '  '.repeat(level);

/** Layout of each part in lines, indented by its level. */
class Layout {
  readonly #width: number;

  constructor(width: number) {
    this.#width = width;
  }

  expr(expr: Expr, level: number): string[] {
    const whole = printExpr(expr);
    if (whole.length <= this.#width) {
      return [indent(level) + whole];
    }
    switch (expr.kind) {
      case 'log':
        return this.#log(expr, level);
      case 'range':
        return this.#range(expr, level);
      case 'aggregation':
        return this.#aggregation(expr, level);
      case 'binary':
        return this.#binary(expr, level);
      case 'label_replace':
        return call('label_replace', level, [
          this.expr(expr.inner, level + 1),
          ...[expr.target, expr.replacement, expr.source, expr.regex].map((text) => [
            indent(level + 1) + quote(text),
          ]),
        ]);
      case 'number':
      case 'vector':
        return [indent(level) + whole];
    }
  }

  #log(expr: LogExpr, level: number): string[] {
    return [
      indent(level) + printSelector(expr),
      ...expr.stages.map((stage) => indent(level + 1) + printStage(stage)),
    ];
  }

  #range(expr: RangeExpr, level: number): string[] {
    const { op, log, rangeMs, offsetMs, unwrap, parameter, grouping } = expr;
    const lines = this.#log(log, level + 1);
    lines.push(
      ...(unwrap === undefined
        ? []
        : printUnwrap(unwrap).map((stage) => indent(level + 2) + stage)),
    );
    const last = `${lines.pop()!} ${printWindow(rangeMs, offsetMs)}`;
    const head = parameter === undefined ? [] : [[indent(level + 1) + formatFloat(parameter)]];
    return call(op, level, [...head, [...lines, last]], printGrouping(grouping));
  }

  #aggregation({ op, parameter, grouping, inner }: VectorExpr, level: number): string[] {
    const head = parameter === undefined ? [] : [[`${indent(level + 1)}${parameter}`]];
    return call(`${op}${printGrouping(grouping)}`, level, [...head, this.expr(inner, level + 1)]);
  }

  #binary(expr: BinaryExpr, level: number): string[] {
    const { op, bool, matching, left, right } = expr;
    return [
      ...this.#operand(left, level + 1, bindsLess(left, op, op === '^')),
      `${indent(level)}${op}${bool ? ' bool' : ''}${printMatching(matching)}`,
      ...this.#operand(right, level + 1, bindsLess(right, op, op !== '^')),
    ];
  }

  #operand(expr: MetricExpr, level: number, parenthesized: boolean): string[] {
    return parenthesized && printExpr(expr).length > this.#width
      ? call('', level, [this.expr(expr, level + 1)])
      : this.expr(expr, level);
  }
}

/** Returns whether a nested operation would associate differently without parentheses. */
function bindsLess(expr: MetricExpr, op: BinaryOp, orEqually: boolean): boolean {
  const inner = expr.kind === 'binary' ? precedence.get(expr.op)! : Infinity;
  const outer = precedence.get(op)!;
  return inner < outer || (orEqually && inner === outer);
}

/** `name(` … `)`, with each argument on lines of its own. */
function call(
  name: string,
  level: number,
  parts: readonly (readonly string[])[],
  behind = '',
): string[] {
  const lines = parts.flatMap((part, index) =>
    index === parts.length - 1 ? part : [...part.slice(0, -1), `${part.at(-1)!},`],
  );
  return [`${indent(level)}${name}(`, ...lines, `${indent(level)})${behind}`];
}
