import { formatDuration, formatFloat } from 'svc/query';
import { quote } from 'svc/template';

import type {
  Expr,
  Extraction,
  Grouping,
  LabelFilter,
  LabelPick,
  LogExpr,
  Matching,
  RangeExpr,
  Stage,
  Unwrap,
} from './ast.ts';

/** The query written the one way; it means the same when it is parsed again. */
export function printExpr(expr: Expr): string {
  switch (expr.kind) {
    case 'log':
      return printLog(expr);
    case 'number':
      return formatFloat(expr.value);
    case 'vector':
      return `vector(${formatFloat(expr.value)})`;
    case 'label_replace':
      return `label_replace(${printExpr(expr.inner)}, ${[expr.target, expr.replacement, expr.source, expr.regex].map(quote).join(', ')})`;
    case 'range':
      return printRange(expr);
    case 'aggregation': {
      const parameter = expr.parameter === undefined ? '' : `${expr.parameter}, `;
      return `${expr.op}${printGrouping(expr.grouping)}(${parameter}${printExpr(expr.inner)})`;
    }
    case 'binary':
      return `(${printExpr(expr.left)} ${expr.op}${expr.bool ? ' bool' : ''}${printMatching(expr.matching)} ${printExpr(expr.right)})`;
  }
}

function printLog(log: LogExpr): string {
  return [printSelector(log), ...log.stages.map(printStage)].join(' ');
}

export function printSelector({ matchers }: LogExpr): string {
  return `{${matchers.map(({ name, op, value }) => `${name}${op}${quote(value)}`).join(', ')}}`;
}

function printRange({
  op,
  log,
  rangeMs,
  offsetMs,
  unwrap,
  parameter,
  grouping,
}: RangeExpr): string {
  const first = parameter === undefined ? '' : `${formatFloat(parameter)}, `;
  const lines = [printLog(log), ...(unwrap === undefined ? [] : printUnwrap(unwrap))].join(' ');
  return `${op}(${first}${lines} ${printWindow(rangeMs, offsetMs)})${printGrouping(grouping)}`;
}

/** `[5m] offset 1h` */
export function printWindow(rangeMs: number, offsetMs: number): string {
  return `[${span(rangeMs)}]${offsetMs === 0 ? '' : ` offset ${span(offsetMs)}`}`;
}

/** Formats a span; fractions of a millisecond need Go's own form. */
function span(ms: number): string {
  return Number.isInteger(ms) ? formatDuration(ms) : `${formatFloat(ms * 1e6)}ns`;
}

/** `| unwrap` and the filters behind it, each a stage. */
export function printUnwrap({ label, convert, filters }: Unwrap): string[] {
  return [
    `| unwrap ${convert === undefined ? label : `${convert}(${label})`}`,
    ...filters.map((filter) => `| ${printFilter(filter)}`),
  ];
}

export function printGrouping(grouping: Grouping | undefined): string {
  return grouping === undefined
    ? ''
    : ` ${grouping.without ? 'without' : 'by'} (${grouping.labels.join(', ')}) `.trimEnd();
}

export function printMatching(matching: Matching | undefined): string {
  if (matching === undefined) {
    return '';
  }
  const many =
    matching.many === undefined ? '' : ` group_${matching.many} (${matching.include.join(', ')})`;
  return ` ${matching.on ? 'on' : 'ignoring'} (${matching.labels.join(', ')})${many}`;
}

export function printStage(stage: Stage): string {
  switch (stage.kind) {
    case 'line':
      return `${stage.op} ${stage.texts.map(({ text, ip }) => (ip ? `ip(${quote(text)})` : quote(text))).join(' or ')}`;
    case 'json':
      return ['| json', printExtractions(stage.fields)].filter((part) => part !== '').join(' ');
    case 'logfmt':
      return [
        '| logfmt',
        stage.strict ? '--strict' : '',
        stage.keepEmpty ? '--keep-empty' : '',
        printExtractions(stage.fields),
      ]
        .filter((part) => part !== '')
        .join(' ');
    case 'regexp':
    case 'pattern':
    case 'line_format':
      return `| ${stage.kind} ${quote(stage.text)}`;
    case 'unpack':
    case 'decolorize':
      return `| ${stage.kind}`;
    case 'filter':
      return `| ${printFilter(stage.filter)}`;
    case 'label_format':
      return `| label_format ${stage.formats.map(({ name, source, template }) => `${name}=${source ?? quote(template!)}`).join(', ')}`;
    case 'drop':
    case 'keep':
      return `| ${stage.kind} ${stage.labels.map(printPick).join(', ')}`;
  }
}

const printPick = ({ name, op, value }: LabelPick): string =>
  op === undefined ? name : `${name}${op}${quote(value!)}`;

function printExtractions(fields: readonly Extraction[]): string {
  return fields.map(({ name, expression }) => `${name}=${quote(expression)}`).join(',');
}

function printFilter(filter: LabelFilter): string {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return `(${printFilter(filter.left)} ${filter.kind} ${printFilter(filter.right)})`;
    case 'string':
      return `${filter.name}${filter.op}${quote(filter.value)}`;
    case 'ip':
      return `${filter.name}${filter.op}ip(${quote(filter.text)})`;
    default:
      return `${filter.name}${filter.op}${filter.text}`;
  }
}
