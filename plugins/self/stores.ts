import { defineService, type Handle, type PluginContext } from 'svc/sdk';

import type { LogIngest } from '../logs/contract.ts';
import type { MetricsIngest } from '../metricsdb/contract.ts';
import type { TraceIngest } from '../traces/contract.ts';

/** The stores of the three signals, each of which may be away. */
export interface Stores {
  readonly metrics: Handle<MetricsIngest>;
  readonly logs: Handle<LogIngest>;
  readonly traces: Handle<TraceIngest>;
}

/** By their ids: only types come from the rooms of the stores, so this one goes on when the folder of one is taken away. */
export const storesOf = ({ services }: PluginContext): Stores => ({
  metrics: services.maybe(defineService<MetricsIngest>('metrics.ingest')),
  logs: services.maybe(defineService<LogIngest>('logs.ingest')),
  traces: services.maybe(defineService<TraceIngest>('traces.ingest')),
});
