import type {
  CompareStage,
  FieldExpression,
  Query,
  ScalarExpression,
  SpansetExpression,
  Stage,
} from './ast.ts';

/** Prints a query such that it parses to the same one; nested operations are in parentheses. */
export function printQuery({ stages, metrics, ranks, hints }: Query): string {
  const parts = stages.map(printStage);
  if (metrics?.function === 'compare') {
    parts.push(printComparison(metrics));
  } else if (metrics !== undefined) {
    const inner = [
      ...(metrics.field === undefined ? [] : [printField(metrics.field)]),
      ...metrics.quantiles.map(String),
    ].join(', ');
    parts.push(
      `${metrics.function}(${inner})${metrics.by.length === 0 ? '' : ` by(${metrics.by.map((field) => printField(field)).join(', ')})`}`,
    );
  }
  parts.push(...ranks.map((rank) => `${rank.function}(${rank.count})`));
  const given = [
    ...(hints.mostRecent === true ? ['most_recent=true'] : []),
    ...(hints.exemplars === undefined ? [] : [`exemplars=${hints.exemplars}`]),
  ];
  return parts.join(' | ') + (given.length === 0 ? '' : ` with(${given.join(', ')})`);
}

function printComparison({ selection, top, startNs, endNs }: CompareStage): string {
  const window = startNs === undefined || endNs === undefined ? [] : [startNs, endNs];
  return `compare(${[printSpanset({ kind: 'filter', condition: selection }), top, ...window].join(', ')})`;
}

function printStage(stage: Stage): string {
  switch (stage.kind) {
    case 'compare':
      return `${printScalar(stage.left)} ${stage.operator} ${printScalar(stage.right)}`;
    case 'by':
    case 'select':
      return `${stage.kind}(${stage.fields.map((field) => printField(field)).join(', ')})`;
    case 'coalesce':
      return 'coalesce()';
    case 'filter':
    case 'operation':
    case 'pipeline':
      return printSpanset(stage);
  }
}

function printSpanset(expression: SpansetExpression, within = false): string {
  switch (expression.kind) {
    case 'filter':
      return expression.condition === undefined ? '{ }' : `{ ${printField(expression.condition)} }`;
    case 'pipeline':
      return `(${expression.stages.map(printStage).join(' | ')})`;
    case 'operation': {
      const text = `${printSpanset(expression.left, true)} ${expression.operator} ${printSpanset(expression.right, true)}`;
      return within ? `(${text})` : text;
    }
  }
}

export function printScalar(expression: ScalarExpression, within = false): string {
  switch (expression.kind) {
    case 'number':
      return expression.text;
    case 'aggregate':
      return `${expression.function}(${expression.field === undefined ? '' : printField(expression.field)})`;
    case 'negative':
      return `-${printScalar(expression.operand, true)}`;
    case 'arithmetic': {
      const text = `${printScalar(expression.left, true)} ${expression.operator} ${printScalar(expression.right, true)}`;
      return within ? `(${text})` : text;
    }
  }
}

export function printField(expression: FieldExpression, within = false): string {
  switch (expression.kind) {
    case 'literal':
      return expression.value?.type === 'string' ? quoted(expression.value.value) : expression.text;
    case 'attribute': {
      const prefix = expression.ofParent
        ? expression.scope === 'any'
          ? 'parent.'
          : `parent.${expression.scope}.`
        : expression.scope === 'any'
          ? '.'
          : `${expression.scope}.`;
      return (
        prefix +
        (/^[^\s{}()=~!<>&|^,"\\]+$/.test(expression.name)
          ? expression.name
          : JSON.stringify(expression.name))
      );
    }
    case 'intrinsic':
      return expression.text;
    case 'unary':
      return `${expression.operator}${printField(expression.operand, true)}`;
    case 'binary': {
      const text = `${printField(expression.left, true)} ${expression.operator} ${printField(expression.right, true)}`;
      return within ? `(${text})` : text;
    }
  }
}

const quoted = (text: string): string =>
  text.includes('`') ? JSON.stringify(text) : `\`${text}\``;
