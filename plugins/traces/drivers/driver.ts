import type { PushAnswer } from 'svc/contracts/metricsdb';
import type { TraceIngest, TraceQueries, TraceWindow } from 'svc/contracts/traces';
import type { Asking } from 'svc/query';

import type { TempoQuestion } from '../tempo/question.ts';
import type { TraceForm } from '../thread/contract.ts';

export interface DriverStatus {
  readonly driver: 'embedded' | 'remote';
  readonly ok: boolean;
  readonly degraded?: boolean;
  readonly detail?: string;
  readonly delayMs: number;
  readonly version?: string;
  /** Code of the error, if it does not answer. */
  readonly code?: string;
}

/** Names of attributes by their scope, such as `resource`. */
export type ScopedNames = Readonly<Record<string, readonly string[]>>;

/** Storage back end: keeps the spans and answers queries about them. */
export interface TraceDriver extends Omit<TraceQueries, 'status' | 'check' | 'trace'> {
  /** A finished answer in Tempo's shape. */
  answer(
    question: TempoQuestion,
    call: { readonly signal: AbortSignal } & Partial<Asking>,
  ): Promise<Uint8Array>;
  /** Undefined: there is no such trace, and the form has no word for that. */
  trace(
    traceId: string,
    form: TraceForm,
    options?: Parameters<TraceQueries['trace']>[1],
  ): Promise<Uint8Array | undefined>;
  /** Names of attributes by scope, of spans that the asker may see. */
  tagNames(
    window: TraceWindow,
    options?: Parameters<TraceQueries['tagValues']>[2],
  ): Promise<ScopedNames>;
  push(...pushed: Parameters<TraceIngest['push']>): Promise<PushAnswer>;
  status(): Promise<DriverStatus>;
}
