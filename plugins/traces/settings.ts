import type { Settings } from 'svc/sdk';
import { parseDuration } from 'svc/query';

import type { ThreadSettings } from './thread-contract.ts';

export interface RemoteSettings {
  readonly url: string;
  readonly pushUrl: string;
  readonly user: string;
  readonly password: string;
  readonly tenant: string;
  readonly ca: string;
  readonly insecure: boolean;
}

const longestQueryMs = 5 * 60_000;

export function driverOf(settings: Settings): 'embedded' | 'remote' {
  const driver = settings.get<'auto' | 'embedded' | 'remote'>('traces.driver');
  return driver !== 'auto' ? driver : settings.get<string>('traces.remote_url') === '' ? 'embedded' : 'remote';
}

/** Each watched key changes what the thread does. */
export const threadKeys = [
  'traces.retention_age',
  'traces.retention_bytes',
  'traces.max_trace_spans',
  'traces.max_span_bytes',
  'traces.query_timeout',
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
    metricSeries: settings.get<boolean>('traces.span_metrics') ? settings.get<number>('traces.max_metric_series') : 0,
  },
  query: {
    timeoutMs: Math.min(longestQueryMs, parseDuration(settings.get<string>('traces.query_timeout'))),
    maxSamples: settings.get<number>('traces.max_query_spans'),
  },
});

/** Of one search; infinite where there is no limit. */
export const searchRangeMs = (settings: Settings): number => parseDuration(settings.get<string>('traces.max_search_range')) || Infinity;

export function remoteSettings(settings: Settings): RemoteSettings {
  const base = (key: string): string => settings.get<string>(key).replace(/\/+$/, '');
  const url = base('traces.remote_url');
  return {
    url,
    pushUrl: base('traces.remote_push_url') || url,
    user: settings.get<string>('traces.remote_user'),
    password: settings.get<string>('traces.remote_password'),
    tenant: settings.get<string>('traces.remote_tenant'),
    ca: settings.get<string>('traces.remote_ca'),
    insecure: settings.get<boolean>('traces.remote_insecure'),
  };
}
