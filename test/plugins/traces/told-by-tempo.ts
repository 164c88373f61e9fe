import type { Loose } from './store-house.ts';

/**
 * Returns Tempo's recorded answer with all values of `span.http.method` filtered by service and
 * status (plugins/traces/README.md): in the order of trace ids the first span with the value and the status
 * decides for all, and only that one is checked for its service.
 */
export function toldByTempo(
  traces: readonly Loose[],
  service: string,
  values: readonly Loose[],
): Loose[] {
  const spans = traces.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ resource, scopeSpans }: Loose) =>
      scopeSpans.flatMap((scope: Loose) => scope.spans.map((span: Loose) => ({ resource, span }))),
    ),
  );
  const failed = spans
    .filter(({ span }) => span.status?.code === 2)
    .sort((a, b) => (a.span.traceId < b.span.traceId ? -1 : 1));
  const text = (holder: Loose, key: string): string | undefined =>
    holder.attributes?.find((attribute: Loose) => attribute.key === key)?.value.stringValue;
  return values.filter(({ value }) => {
    const first = failed.find(({ span }) => text(span, 'http.method') === value);
    return first !== undefined && text(first.resource, 'service.name') === service;
  });
}
