import type { Settings } from 'svc/sdk';
import { addressOf, parseDuration } from 'svc/query';

import type { ThreadSettings } from './thread/contract.ts';

const longestQueryMs = 5 * 60_000;

/** Each watched key changes what the thread does. */
export const threadKeys = [
  'traces.retention_age',
  'traces.retention_bytes',
  'traces.max_trace_spans',
  'traces.max_span_bytes',
  'traces.query_timeout',
  'traces.query_cpu',
  'traces.max_query_spans',
  'traces.span_metrics',
  'traces.max_metric_series',
];

export const threadSettings = (settings: Settings): ThreadSettings => ({
  limits: {
    traceSpans: settings.get<number>('traces.max_trace_spans'),
    spanBytes: settings.get<number>('traces.max_span_bytes'),
    maxAgeMs: parseDuration(settings.get<string>('traces.retention_age')),
    maxBytes: settings.get<number>('traces.retention_bytes'),
    metricSeries: settings.get<boolean>('traces.span_metrics')
      ? settings.get<number>('traces.max_metric_series')
      : 0,
  },
  query: {
    timeoutMs: Math.min(
      longestQueryMs,
      parseDuration(settings.get<string>('traces.query_timeout')),
    ),
    cpuMs: parseDuration(settings.get<string>('traces.query_cpu')),
    maxSamples: settings.get<number>('traces.max_query_spans'),
  },
});

/** Returns the max range of a search; infinite if unlimited. */
export const searchRangeMs = (settings: Settings): number =>
  parseDuration(settings.get<string>('traces.max_search_range')) || Infinity;

/**
 * Returns the address at which a remote store accepts spans, which may differ from where it answers
 * queries.
 */
export const pushAddress = (settings: Settings): string =>
  addressOf(settings, 'traces.remote_push_url') || addressOf(settings, 'traces.remote_url');
