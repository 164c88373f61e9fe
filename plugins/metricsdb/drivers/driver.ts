import type { MetricsIngest, MetricsQueries } from 'svc/contracts/metricsdb';
import type { HealthReport, MaybePromise } from 'svc/sdk';

import type { Asked } from '../thread/contract.ts';

export type DriverName = 'embedded' | 'process' | 'remote';

/** Pages of the Prometheus API that tell about the server itself. */
export const statusPages = ['buildinfo', 'runtimeinfo', 'flags', 'tsdb'] as const;
export type StatusPage = (typeof statusPages)[number];

export interface PageRequest {
  readonly signal: AbortSignal;
  /** Max entries of each list of `tsdb`. */
  readonly limit: number;
  /** True if the asker may know who sends. */
  readonly senders: boolean;
}

export interface DriverState {
  readonly status: 'running' | 'starting' | 'failed';
  /** Base address of the Prometheus API that is served. */
  readonly url: string;
  readonly pid: number | null;
  readonly startedAt: number | null;
}

/** Storage back end: keeps the samples and answers queries about them. */
export interface Driver
  extends
    MetricsIngest,
    Omit<MetricsQueries, 'status' | 'check' | 'instants'>,
    Required<Pick<MetricsQueries, 'instants'>> {
  readonly name: DriverName;
  /** A finished answer of the Prometheus API. */
  ask(asked: Asked, signal: AbortSignal): Promise<Uint8Array>;
  page(page: StatusPage, asked: PageRequest): Promise<Uint8Array | string>;
  /**
   * Reports whether svc does its part; an external server that is down is mentioned, but is no
   * fault of svc.
   */
  health(): MaybePromise<HealthReport>;
  /** Asks the back end whether it answers. */
  probe(signal?: AbortSignal): Promise<HealthReport & { readonly version?: string }>;
  state(): DriverState;
  close(): Promise<void>;
}
