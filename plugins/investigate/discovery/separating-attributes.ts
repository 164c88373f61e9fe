import type { AttributeSplit } from 'svc/rca';

import { serviceNode } from '../fetch/symptom.ts';
import type { Span, Traces } from '../fetch/trace-source.ts';
import type { Entities } from './entities.ts';

/** Attributes that say where a request was served. */
const placeKeys = new Set(['host.name', 'k8s.node.name', 'host.id', 'net.host.name']);

const leastSpans = 5;
/** Share of the failing spans that must have the value, and of the others that may. */
const leastFailing = 0.8;
const mostOthers = 0.3;
const mostValues = 40;

interface Answered {
  readonly id: string;
  readonly value: unknown;
}

/**
 * Returns the attribute values that tell failing spans of a service from its others: a version, a host, a tenant, a route. Spans that
 * only pass a failure on are left out: their attributes are no reason.
 */
export function attributeSplits(
  answers: readonly (Answered | undefined)[],
  entities: Entities,
): readonly AttributeSplit[] {
  const [failed, all] = answers;
  const spans = [failed, all].flatMap((one) =>
    one === undefined ? [] : (one.value as Traces).spans,
  );
  const evidence = failed?.id ?? all?.id;
  if (evidence === undefined) {
    return [];
  }
  const bySpan = new Map(spans.map((span) => [`${span.trace} ${span.span}`, span]));
  const passedOn = new Set(
    [...bySpan.values()].flatMap((span) =>
      span.failed && bySpan.has(`${span.trace} ${span.parent}`)
        ? [`${span.trace} ${span.parent}`]
        : [],
    ),
  );
  const byService = new Map<string, { readonly failing: Span[]; readonly others: Span[] }>();
  for (const [key, span] of bySpan) {
    if (
      span.service !== '' &&
      span.attributes !== undefined &&
      !(span.failed && passedOn.has(key))
    ) {
      const own = byService.get(span.service) ?? { failing: [], others: [] };
      own[span.failed ? 'failing' : 'others'].push(span);
      byService.set(span.service, own);
    }
  }
  return [...byService].flatMap(([service, { failing, others }]) => {
    const split = splitOf(failing, others);
    const place =
      split !== undefined && placeKeys.has(split.key)
        ? entities.resolve({ host: split.value }, 'host', { known: true })?.id
        : undefined;
    return split === undefined
      ? []
      : [
          {
            evidence,
            node: serviceNode(service),
            ...split,
            ...(place !== undefined && { place }),
          },
        ];
  });
}

/** Returns the value that separates best; undefined where none does. */
function splitOf(
  failing: readonly Span[],
  others: readonly Span[],
): Omit<AttributeSplit, 'evidence' | 'node' | 'place'> | undefined {
  if (failing.length < leastSpans || others.length < leastSpans) {
    return undefined;
  }
  const counts = new Map<string, { key: string; value: string; failing: number; others: number }>();
  const count = (spans: readonly Span[], side: 'failing' | 'others'): void =>
    spans.forEach(({ attributes = {} }) =>
      Object.entries(attributes).forEach(([key, value]) => {
        const id = JSON.stringify([key, value]);
        const known = counts.get(id) ?? { key, value, failing: 0, others: 0 };
        known[side] += 1;
        counts.set(id, known);
      }),
    );
  count(failing, 'failing');
  count(others, 'others');
  const values = new Map<string, number>();
  counts.forEach(({ key }) => values.set(key, (values.get(key) ?? 0) + 1));
  const shareOf = (one: { readonly failing: number; readonly others: number }): number =>
    one.failing / failing.length - one.others / others.length;
  return [...counts.values()]
    .filter(
      (one) =>
        values.get(one.key)! > 1 &&
        values.get(one.key)! <= mostValues &&
        one.failing >= leastFailing * failing.length &&
        one.others <= mostOthers * others.length,
    )
    .sort((a, b) => shareOf(b) - shareOf(a) || (a.key < b.key ? -1 : 1))
    .map((one) => ({ ...one, of_failing: failing.length, of_others: others.length }))[0];
}
