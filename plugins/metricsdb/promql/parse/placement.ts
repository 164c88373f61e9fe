import type { At, Edges, Expr, Placement, Subquery, VectorSelector } from './ast.ts';
import { parseOffset } from './duration.ts';
import { signedValue } from './literals.ts';
import type { Stream } from './token-stream.ts';

/** `x offset 5m`: what stands before must be a selector or a subquery. */
export function parsePlacement(stream: Stream, expr: Expr): Expr {
  stream.take();
  const offset = parseOffset(stream);
  const placed = placementOf(expr);
  if (placed === undefined) {
    stream.fail(
      expr.start,
      'offset modifier must be preceded by an instant vector selector or range vector selector or a subquery',
    );
  }
  if (placed.offset !== 0) {
    stream.fail(expr.start, 'offset may not be set multiple times');
  }
  return withPlacement(expr, { offset }, stream.lastClosing);
}

/** `x @ 1609746000`, `x @ start()` */
export function parseAt(stream: Stream, expr: Expr): Expr {
  stream.take();
  const at = parseTime(stream, expr);
  const placed = placementOf(expr);
  if (placed === undefined) {
    stream.fail(
      expr.start,
      '@ modifier must be preceded by an instant vector selector or range vector selector or a subquery',
    );
  }
  if (placed.at !== undefined) {
    stream.fail(expr.start, '@ <timestamp> may not be set multiple times');
  }
  return withPlacement(expr, { at }, stream.lastClosing);
}

function parseTime(stream: Stream, expr: Expr): At {
  const peek = stream.peek();
  if (peek.kind === 'preprocessor' && (peek.word === 'start' || peek.word === 'end')) {
    stream.take();
    if (!stream.takeIf('(') || !stream.takeIf(')')) {
      stream.unexpected('@', 'timestamp');
    }
    return peek.word;
  }
  const seconds = signedValue(stream, () => stream.unexpected('@', 'timestamp'));
  if (!(Math.abs(seconds) < 2 ** 63)) {
    stream.fail(
      expr.start,
      `timestamp out of bounds for @ modifier: ${Number.isFinite(seconds) ? `${BigInt(seconds)}.000000` : Number.isNaN(seconds) ? 'NaN' : seconds > 0 ? '+Inf' : '-Inf'}`,
    );
  }
  return Math.round(seconds * 1000);
}

/** `x anchored`, `x[5m] smoothed` */
export function parseEdges(stream: Stream, expr: Expr): Expr {
  const edges = stream.take().word as Edges;
  const selector = expr.node === 'matrix' ? expr.selector : expr;
  if (selector.node === 'subquery') {
    stream.fail(expr.start, `${edges} modifier is not supported for subqueries`);
  }
  if (selector.node !== 'selector') {
    stream.fail(expr.start, `${edges} modifier not implemented`);
  }
  if (selector.edges !== undefined && selector.edges !== edges) {
    stream.fail(expr.start, 'anchored and smoothed modifiers cannot be used together');
  }
  return expr.node === 'matrix'
    ? { ...expr, selector: { ...selector, edges } }
    : { ...selector, edges };
}

function placementOf(expr: Expr): Placement | undefined {
  return expr.node === 'matrix'
    ? expr.selector
    : expr.node === 'selector' || expr.node === 'subquery'
      ? expr
      : undefined;
}

function withPlacement(expr: Expr, placement: Partial<Placement>, end: number): Expr {
  return expr.node === 'matrix'
    ? { ...expr, selector: { ...expr.selector, ...placement }, end }
    : { ...(expr as VectorSelector | Subquery), ...placement, end };
}
