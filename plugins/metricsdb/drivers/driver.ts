import type { MetricsIngest, MetricsQueries } from 'svc/contracts/metricsdb';
import type { HealthReport, MaybePromise } from 'svc/sdk';

import type { Asked } from '../thread/contract.ts';

export type DriverName = 'embedded' | 'process' | 'remote';

/** Pages of the Prometheus API that tell about the server itself. */
export const statusPages = ['buildinfo', 'runtimeinfo', 'flags', 'tsdb'] as const;
export type StatusPage = (typeof statusPages)[number];

export interface DriverState {
  readonly status: 'running' | 'starting' | 'failed';
  /** Base address of the Prometheus API that is served. */
  readonly url: string;
  readonly pid: number | null;
  readonly startedAt: number | null;
}

/** Whoever keeps the samples and answers questions about them. */
export interface Driver
  extends
    MetricsIngest,
    Omit<MetricsQueries, 'status' | 'check' | 'instants'>,
    Required<Pick<MetricsQueries, 'instants'>> {
  readonly name: DriverName;
  /** A finished answer of the Prometheus API. */
  ask(asked: Asked, signal: AbortSignal): Promise<Uint8Array>;
  page(page: StatusPage, signal: AbortSignal): Promise<Uint8Array | string>;
  /** Whether this house does its part; another's server that is down is told, and is no fault of svc. */
  health(): MaybePromise<HealthReport>;
  /** Whether it answers; asks it. */
  probe(signal?: AbortSignal): Promise<HealthReport & { readonly version?: string }>;
  state(): DriverState;
  close(): Promise<void>;
}
