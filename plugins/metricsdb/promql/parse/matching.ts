import { parseGrouping } from './aggregation.ts';
import type { Matching } from './ast.ts';
import { signedValue } from './literals.ts';
import type { Stream } from './token-stream.ts';
import { setOperators } from './token.ts';

/**
 * Parses what stands between an operator and its right side: `bool on (a) group_left (b) fill (0)`.
 */
export function parseMatching(
  stream: Stream,
  op: string,
): { readonly bool: boolean; readonly matching: Matching } {
  const bool = stream.takeIf('bool');
  const on = stream.is('on');
  const chosen = on || stream.is('ignoring');
  if (chosen) {
    stream.take();
  }
  const labels = chosen ? parseGrouping(stream) : [];
  let card: Matching['card'] = setOperators.has(op) ? 'many-to-many' : 'one-to-one';
  let include: readonly string[] = [];
  if (chosen && (stream.is('group_left') || stream.is('group_right'))) {
    card = stream.take().word === 'group_left' ? 'many-to-one' : 'one-to-many';
    include = stream.is('(') ? parseGrouping(stream) : [];
  }
  return { bool, matching: { on, labels, card, include, ...parseFill(stream) } };
}

function parseFill(stream: Stream): Pick<Matching, 'fillLeft' | 'fillRight'> {
  if (stream.takeIf('fill')) {
    const value = parseFillValue(stream);
    return { fillLeft: value, fillRight: value };
  }
  if (stream.takeIf('fill_left')) {
    const fillLeft = parseFillValue(stream);
    return stream.takeIf('fill_right')
      ? { fillLeft, fillRight: parseFillValue(stream) }
      : { fillLeft };
  }
  if (stream.takeIf('fill_right')) {
    const fillRight = parseFillValue(stream);
    return stream.takeIf('fill_left')
      ? { fillLeft: parseFillValue(stream), fillRight }
      : { fillRight };
  }
  return {};
}

function parseFillValue(stream: Stream): number {
  if (!stream.takeIf('(')) {
    stream.unexpected();
  }
  const value = signedValue(stream, () => stream.unexpected());
  if (!stream.takeIf(')')) {
    stream.unexpected();
  }
  return value;
}
