import { LogIngest } from 'svc/contracts/logs';
import { MetricsIngest } from 'svc/contracts/metricsdb';
import { TraceIngest } from 'svc/contracts/traces';
import type { Handle, PluginContext } from 'svc/sdk';

/** Stores of the three signals, any of which may be missing. */
export interface Stores {
  readonly metrics: Handle<MetricsIngest>;
  readonly logs: Handle<LogIngest>;
  readonly traces: Handle<TraceIngest>;
}

export const storesOf = ({ services }: PluginContext): Stores => ({
  metrics: services.maybe(MetricsIngest),
  logs: services.maybe(LogIngest),
  traces: services.maybe(TraceIngest),
});
