export { HealthChecks, type CheckResult, type HealthOptions, type HealthProbe, type HealthSummary } from './health.ts';
export { inert } from './inert.ts';
export { createLogs, type LogLevel, type LogOptions, type Logs } from './log.ts';
export { createSelfMetrics, type CoreMetrics, type Own, type SelfMetrics, type SelfMetricsOptions } from './metrics.ts';
export { Observers } from './observers.ts';
export { isSecretName, redact, redactText } from './redact.ts';
