import { formatDuration, type Matcher } from 'svc/query';

import type {
  Aggregation,
  Binary,
  Duration,
  DurationPart,
  Expr,
  NumberLiteral,
  Placement,
  VectorSelector,
} from './ast.ts';
import { plainFloat, quoted } from './go-text.ts';

/** The expression as text that parses to the same expression. */
export function print(expr: Expr): string {
  switch (expr.node) {
    case 'number':
      return printNumber(expr);
    case 'string':
      return quoted(expr.value);
    case 'selector':
      return `${printMatchers(expr)}${printEdges(expr)}${printPlacement(expr)}`;
    case 'matrix':
      return `${printMatchers(expr.selector)}[${printDuration(expr.range)}]${printEdges(expr.selector)}${printPlacement(expr.selector)}`;
    case 'subquery':
      return `${print(expr.expr)}[${printDuration(expr.range)}:${expr.step === undefined ? '' : printDuration(expr.step)}]${printPlacement(expr)}`;
    case 'call':
      return `${expr.func}(${expr.args.map(print).join(', ')})`;
    case 'aggregation':
      return printAggregation(expr);
    case 'binary':
      return `${print(expr.left)} ${expr.op}${expr.bool ? ' bool' : ''}${printMatching(expr)} ${print(expr.right)}`;
    case 'unary':
      return `${expr.op}${print(expr.expr)}`;
    case 'paren':
      return `(${print(expr.expr)})`;
  }
}

function printNumber({ value, duration }: NumberLiteral): string {
  return duration
    ? `${value < 0 || Object.is(value, -0) ? '-' : ''}${formatDuration(Math.round(Math.abs(value) * 1000))}`
    : value === Infinity
      ? 'Inf'
      : plainFloat(value);
}

function printMatchers({ name, matchers }: VectorSelector): string {
  const shown = matchers
    .filter(
      (matcher) =>
        !(
          name !== '' &&
          matcher.name === '__name__' &&
          matcher.op === '=' &&
          matcher.value === name
        ),
    )
    .map(printMatcher);
  return shown.length === 0 && name !== '' ? name : `${name}{${shown.sort().join(',')}}`;
}

const plainName = /^[a-zA-Z_]\w*$/;

const printName = (name: string): string => (plainName.test(name) ? name : quoted(name));

export const printMatcher = ({ name, op, value }: Matcher): string =>
  `${printName(name)}${op}${quoted(value)}`;

const printEdges = ({ edges }: VectorSelector): string => (edges === undefined ? '' : ` ${edges}`);

function printPlacement({ at, offset }: Placement): string {
  const time =
    at === undefined ? '' : ` @ ${typeof at === 'number' ? (at / 1000).toFixed(3) : `${at}()`}`;
  if (typeof offset !== 'number') {
    return `${time} offset ${printPart(offset)}`;
  }
  return offset === 0 ? time : `${time} offset ${formatDuration(offset)}`;
}

const printDuration = (duration: Duration): string =>
  typeof duration === 'number' ? formatDuration(duration) : printPart(duration);

function printPart(part: DurationPart): string {
  if (part.node === 'number') {
    return printNumber(part);
  }
  const { op, left, right, wrapped } = part;
  const text =
    op === 'step' || op === 'range'
      ? `${op}()`
      : op === 'min_of' || op === 'max_of'
        ? `${op}(${printPart(left!)}, ${printPart(right!)})`
        : left === undefined
          ? `${op === '-' ? '-' : ''}${printPart(right!)}`
          : `${printPart(left)} ${op} ${printPart(right!)}`;
  return wrapped ? `(${text})` : text;
}

const printLabels = (labels: readonly string[]): string => `(${labels.map(printName).join(', ')})`;

function printAggregation({ op, expr, param, grouping, without }: Aggregation): string {
  const modifier = without
    ? ` without ${printLabels(grouping)} `
    : grouping.length > 0
      ? ` by ${printLabels(grouping)} `
      : '';
  return `${op}${modifier}(${param === undefined ? '' : `${print(param)}, `}${print(expr)})`;
}

function printMatching({ matching }: Binary): string {
  const { on, labels, card, include, fillLeft, fillRight } = matching;
  const grouped = card === 'many-to-one' || card === 'one-to-many';
  let text =
    labels.length > 0 || on || grouped ? ` ${on ? 'on' : 'ignoring'} ${printLabels(labels)}` : '';
  if (grouped) {
    text += ` ${card === 'many-to-one' ? 'group_left' : 'group_right'} ${printLabels(include)}`;
  }
  if (fillLeft !== undefined && Object.is(fillLeft, fillRight)) {
    return `${text} fill (${plainFloat(fillLeft)})`;
  }
  return `${text}${fillLeft === undefined ? '' : ` fill_left (${plainFloat(fillLeft)})`}${fillRight === undefined ? '' : ` fill_right (${plainFloat(fillRight)})`}`;
}
