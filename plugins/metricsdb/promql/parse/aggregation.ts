import type { Aggregation, Expr } from './ast.ts';
import { isLabelName, quoted, unquoted } from './go-text.ts';
import type { Stream } from './token-stream.ts';
import { parametrised, type Token } from './token.ts';

/** `sum by (a) (x)` and `sum(x) by (a)`; the operator is taken already. */
export function parseAggregation(
  stream: Stream,
  operator: Token,
  parseArguments: () => Expr[],
): Aggregation {
  const before = parseModifier(stream);
  const args = parseArguments();
  const closing = stream.lastClosing;
  const after = before === undefined ? parseModifier(stream) : undefined;
  const { without, grouping } = before ?? after ?? { without: false, grouping: [] };
  const end = after === undefined ? closing : stream.lastClosing;

  if (args.length === 0) {
    stream.fail(operator.start, 'no arguments for aggregate expression provided');
  }
  const wanted = parametrised.has(operator.word) ? 2 : 1;
  if (args.length !== wanted) {
    stream.fail(
      operator.start,
      `wrong number of arguments for aggregate expression provided, expected ${wanted}, got ${args.length}`,
    );
  }
  return {
    node: 'aggregation',
    op: operator.word,
    expr: args[wanted - 1]!,
    ...(wanted === 2 && { param: args[0]! }),
    grouping,
    without,
    start: operator.start,
    end,
  };
}

function parseModifier(
  stream: Stream,
): { readonly without: boolean; readonly grouping: readonly string[] } | undefined {
  const without = stream.is('without');
  if (!without && !stream.is('by')) {
    return undefined;
  }
  stream.take();
  return { without, grouping: parseGrouping(stream) };
}

/** `(a, b, "a label with blanks",)` */
export function parseGrouping(stream: Stream): readonly string[] {
  if (!stream.takeIf('(')) {
    stream.unexpected('grouping opts', '"("');
  }
  const labels: string[] = [];
  while (!stream.takeIf(')')) {
    if (labels.length > 0) {
      if (!stream.takeIf(',')) {
        stream.unexpected('grouping opts', '"," or ")"');
      }
      if (stream.takeIf(')')) {
        break;
      }
    }
    labels.push(parseLabel(stream));
  }
  return labels;
}

function parseLabel(stream: Stream): string {
  const peek = stream.peek();
  switch (peek.kind) {
    case 'string': {
      const name = unquoted(stream.take().text);
      return isLabelName(name)
        ? name
        : stream.fail(peek.start, `invalid label name for grouping: ${quoted(name)}`);
    }
    case 'identifier':
    case 'metric':
    case 'aggregator':
    case 'preprocessor':
      return stream.take().text;
    case 'keyword':
    case 'operator':
      return /^[a-z]/.test(peek.word) && peek.word !== 'without'
        ? stream.take().text
        : stream.unexpected('grouping opts', 'label');
    default:
      return stream.unexpected('grouping opts', 'label');
  }
}
