import type { FoundTrace } from './contract.ts';
import { valueText } from './store/otlp-values.ts';
import type { TracesMetrics } from './thread-contract.ts';
import type { MetricsResult, SearchResult } from './traceql/engine.ts';

/** A trace as other plugins are told of it. */
export function foundTrace(trace: SearchResult['traces'][number]): FoundTrace {
  return {
    traceId: trace.traceId,
    rootService: trace.rootService,
    rootName: trace.rootName,
    startNanos: String(trace.startNs),
    durationMs: Math.floor(trace.durationNs / 1e6),
    matched: trace.spansets.reduce((sum, { matched }) => sum + matched, 0),
    spans: trace.spansets.flatMap(({ spans }) =>
      spans.map(({ span, attributes }) => ({
        spanId: span.id,
        name: span.name,
        startNanos: String(span.startNs),
        durationNanos: span.durationNs,
        attributes: recordOf(
          attributes.map(({ key, value }) => [key, value.type === 'int' || value.type === 'float' || value.type === 'bool' ? value.value : valueText(value)]),
        ),
      })),
    ),
    services: recordOf([...trace.services]),
  };
}

export function matrixOf({ times, series }: MetricsResult): TracesMetrics {
  const kept = series.map(({ labels, values }) => {
    const slots = [...values.keys()].filter((slot) => !Number.isNaN(values[slot]!));
    return {
      labels: recordOf(labels.map(({ key, value }) => [key, valueText(value)])),
      times: Float64Array.from(slots, (slot) => times[slot]!),
      values: Float64Array.from(slots, (slot) => values[slot]!),
    };
  });
  return { type: 'matrix', labels: kept.map(({ labels }) => labels), times: kept.map((one) => one.times), values: kept.map((one) => one.values), warnings: [] };
}

/** Keys are foreign: without a prototype, and `__proto__` is a key like any other. */
function recordOf<T>(entries: readonly (readonly [string, T])[]): Readonly<Record<string, T>> {
  const record = Object.create(null) as Record<string, T>;
  for (const [key, value] of entries) {
    record[key] = value;
  }
  return record;
}
