import type { Span } from './tree.ts';

/** A time of a trace in milliseconds from its beginning. */
export type Part = readonly [from: number, to: number];

/** Returns the time in which each span worked itself, while nothing that it had called did. */
export function selfTimes(spans: readonly Span[]): ReadonlyMap<string, number> {
  const children = childrenOf(spans);
  return new Map(
    spans.map((span) => {
      const end = span.offset + span.length;
      let covered = 0;
      let reached = span.offset;
      // They stand by the time of their start.
      for (const child of children.get(span.id) ?? []) {
        const from = Math.max(reached, child.offset);
        const to = Math.min(end, child.offset + child.length);
        covered += Math.max(0, to - from);
        reached = Math.max(reached, to);
      }
      return [span.id, span.length - covered];
    }),
  );
}

/**
 * Returns the parts of the spans that a trace waited for: had one of them been shorter, so had the
 * trace. They are found from the end: what ended last is what its caller waited for.
 */
export function criticalPath(spans: readonly Span[]): ReadonlyMap<string, readonly Part[]> {
  const children = childrenOf(spans);
  const parts = new Map<string, Part[]>();
  const [first, ...others] = spans.filter(({ depth }) => depth === 0);
  if (first === undefined) {
    return parts;
  }
  const longest = others.reduce((a, b) => (b.length > a.length ? b : a), first);
  const waiting: (readonly [span: Span, until: number])[] = [[longest, Infinity]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [span, until] = next;
    const own: Part[] = [];
    let end = Math.min(until, span.offset + span.length);
    const called = (children.get(span.id) ?? []).toSorted(
      (a, b) => b.offset + b.length - (a.offset + a.length),
    );
    for (const child of called) {
      const to = Math.min(end, child.offset + child.length);
      if (child.offset < end && to > span.offset) {
        own.push([to, end]);
        waiting.push([child, to]);
        end = Math.max(span.offset, child.offset);
      }
    }
    own.push([span.offset, end]);
    parts.set(
      span.id,
      own.filter(([from, to]) => to > from),
    );
  }
  return parts;
}

function childrenOf(spans: readonly Span[]): ReadonlyMap<string, readonly Span[]> {
  const children = new Map<string, Span[]>();
  for (const span of spans) {
    if (span.parent !== undefined) {
      const siblings = children.get(span.parent) ?? [];
      siblings.push(span);
      children.set(span.parent, siblings);
    }
  }
  return children;
}
