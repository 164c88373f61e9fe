import type { LogIngest, LogQueries } from 'svc/contracts/logs';
import type { PushAnswer } from 'svc/contracts/metricsdb';

import type { EndpointInput } from '../thread/contract.ts';

export interface DriverStatus {
  readonly driver: 'embedded' | 'remote';
  readonly ok: boolean;
  readonly degraded?: boolean;
  readonly detail?: string;
  readonly delayMs: number;
}

/** Storage back end: keeps the lines and answers queries about them. */
export interface LogDriver extends Omit<LogQueries, 'status' | 'check'> {
  /** A finished answer in Loki's shape. */
  endpoint(input: EndpointInput, signal: AbortSignal): Promise<Uint8Array>;
  push(...pushed: Parameters<LogIngest['push']>): Promise<PushAnswer>;
  write(...written: Parameters<LogIngest['write']>): Promise<PushAnswer>;
  status(): Promise<DriverStatus>;
}
