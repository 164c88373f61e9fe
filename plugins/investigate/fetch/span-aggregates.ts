import type { SpanAggregate } from 'svc/rca';

import { serviceNode } from './symptom.ts';
import { type Span, type Traces, withCalled } from './trace-source.ts';

const bucketMs = 60_000;
const mostBuckets = 600;

/** Spans of one answer by service, operation and minute: how many, how many failed, where failures begin, and the time of the operation itself. */
export function aggregatesOf({
  id,
  value,
}: {
  readonly id: string;
  readonly value: unknown;
}): readonly SpanAggregate[] {
  const spans = withCalled((value as Traces).spans);
  const known = spans.filter(({ service }) => service !== '');
  if (known.length === 0) {
    return [];
  }
  const facts = factsOf(known);
  const from =
    Math.floor(known.reduce((least, { start }) => Math.min(least, start), Infinity) / bucketMs) *
    bucketMs;
  const last = known.reduce((most, { start }) => Math.max(most, start), 0);
  const length = Math.min(mostBuckets, Math.floor((last - from) / bucketMs) + 1);
  const bucketOf = ({ start }: Span): number => Math.floor((start - from) / bucketMs);
  const failing = tracesByBucket(
    known.filter(({ trace }) => facts.failing.has(trace)),
    bucketOf,
    length,
  );
  return [...grouped(known, ({ service, name }) => JSON.stringify([service, name]))].map(
    ([key, own]) => {
      const [service, operation] = JSON.parse(key) as [string, string];
      const buckets = Array.from({ length }, (): Span[] => []);
      own.forEach((span) => buckets[bucketOf(span)]?.push(span));
      const origins = own.filter((span) => facts.origins.has(span));
      return {
        evidence: id,
        node: serviceNode(service),
        operation,
        from,
        bucket_ms: bucketMs,
        spans: buckets.map((some) => some.length),
        errors: buckets.map((some) => some.filter(({ failed }) => failed).length),
        origins: buckets.map((some) => some.filter((span) => facts.origins.has(span)).length),
        failing_here: tracesByBucket(origins, bucketOf, length),
        failing,
        self_ms: buckets.map((some) => p95(some.map((span) => facts.selfOf(span)))),
      };
    },
  );
}

function factsOf(spans: readonly Span[]): {
  readonly failing: ReadonlySet<string>;
  readonly origins: ReadonlySet<Span>;
  readonly selfOf: (span: Span) => number;
} {
  const children = grouped(spans, ({ trace, parent }) => `${trace} ${parent}`);
  const below = ({ trace, span }: Span): readonly Span[] => children.get(`${trace} ${span}`) ?? [];
  return {
    failing: new Set(spans.filter(({ failed }) => failed).map(({ trace }) => trace)),
    origins: new Set(
      spans.filter((span) => span.failed && below(span).every(({ failed }) => !failed)),
    ),
    selfOf: (span) => Math.max(0, span.ms - covered(below(span))),
  };
}

/** Time that children take together: those that run side by side are not counted twice. */
function covered(children: readonly Span[]): number {
  let total = 0;
  let until = -Infinity;
  for (const { start, ms } of children.toSorted((a, b) => a.start - b.start)) {
    const from = Math.max(start, until);
    total += Math.max(0, start + ms - from);
    until = Math.max(until, start + ms);
  }
  return total;
}

function tracesByBucket(
  spans: readonly Span[],
  bucketOf: (span: Span) => number,
  length: number,
): readonly number[] {
  const seen = Array.from({ length }, () => new Set<string>());
  spans.forEach((span) => seen[bucketOf(span)]?.add(span.trace));
  return seen.map(({ size }) => size);
}

function grouped(
  spans: readonly Span[],
  keyOf: (span: Span) => string,
): ReadonlyMap<string, readonly Span[]> {
  const groups = new Map<string, Span[]>();
  for (const span of spans) {
    const key = keyOf(span);
    const group = groups.get(key);
    if (group === undefined) {
      groups.set(key, [span]);
    } else {
      group.push(span);
    }
  }
  return groups;
}

function p95(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted.length === 0
    ? null
    : Math.round(sorted[Math.ceil(0.95 * sorted.length) - 1]! * 1_000) / 1_000;
}
