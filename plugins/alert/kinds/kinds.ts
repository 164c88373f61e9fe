import type { StoredKind } from '../rule/rule.ts';
import type { Kind } from './kind.ts';
import { logMatch, logVolume } from './logs.ts';
import { metricBurnRate } from './metric-burn-rate.ts';
import { metricRaw } from './metric-raw.ts';
import { metricAnomaly, metricForecast } from './metric-statistics.ts';
import { traceErrorRate, traceLatency } from './traces.ts';

export const kinds: Readonly<Record<StoredKind, Kind>> = {
  metric_raw: metricRaw,
  metric_anomaly: metricAnomaly,
  metric_forecast: metricForecast,
  metric_burn_rate: metricBurnRate,
  log_match: logMatch,
  log_volume: logVolume,
  trace_latency: traceLatency,
  trace_error_rate: traceErrorRate,
};

/** Names of old, which have all come to mean the same. */
export const legacyKinds = [
  'edge_offline',
  'prom_query',
  'ingest_health',
  'edge_absence',
  'health_ingest',
  'event_internal',
] as const;

export const storedKinds = Object.keys(kinds) as readonly StoredKind[];
/** Rule kinds that the API accepts. */
export const acceptedKinds = ['metric_threshold', ...storedKinds, ...legacyKinds] as const;
export type AcceptedKind = (typeof acceptedKinds)[number];

export const storedKindOf = (kind: AcceptedKind): StoredKind =>
  Object.hasOwn(kinds, kind) ? (kind as StoredKind) : 'metric_raw';
