export { errors as observeErrors } from './errors.ts';
export { HealthChecks, type CheckResult, type HealthProbe, type HealthSummary } from './health.ts';
export { inert } from './inert.ts';
export { type LogLevel, type LogOptions, Logs } from './log.ts';
export { type Own, SelfMetrics, type SelfMetricsOptions } from './metrics.ts';
export { Observers } from './observers.ts';
export { isSecretName, redact, redactText } from './redact.ts';
