import type { LogIngest } from 'svc/contracts/logs';
import type { Enforced, PushAnswer, Stamp } from 'svc/contracts/metricsdb';

import type { LogLimits } from '../store/head/limits.ts';
import type { PushFormat } from '../store/intake/decode-push.ts';

/** Names and values of a query or form, each name as often as it came; they travel to the thread as they are. */
export type ParameterList = readonly (readonly [string, string])[];

/** Data passed to the thread of this plugin. */
export interface ThreadData extends ThreadSettings {
  readonly folder: string;
}

export interface ThreadSettings {
  readonly limits: Partial<LogLimits>;
  readonly retention: { readonly maxAgeMs: number; readonly maxBytes: number };
  readonly query: QueryLimits;
}

export interface QueryLimits {
  readonly timeoutMs: number;
  readonly cpuMs: number;
  /** Max unpacked bytes of lines that one query may read. */
  readonly maxBytes: number;
}

export interface PushInput {
  readonly format: PushFormat;
  readonly body: Uint8Array;
  readonly encoding: string | undefined;
  readonly stamp: Stamp | undefined;
  readonly sender?: string | undefined;
}

export interface RowsInput {
  readonly rows: Parameters<LogIngest['write']>[0];
}

/** Push on its way to another server: its accepted part, as a body in Loki's JSON. */
export interface RelayedPush extends PushAnswer {
  /** Undefined when nothing of it may pass. */
  readonly body: Uint8Array | undefined;
}

export interface EndpointInput {
  readonly name: string;
  readonly parameters: ParameterList;
  readonly label?: string | undefined;
  /** True to separate the labels of a line by origin. */
  readonly categorized?: boolean | undefined;
  readonly asker?: string | undefined;
  readonly enforce?: readonly Enforced[] | undefined;
}

/** A question of another plugin. */
export interface AskInput {
  readonly query: string;
  readonly start: number;
  readonly end: number;
  readonly asker?: string | undefined;
  readonly enforce?: readonly Enforced[] | undefined;
  readonly timeoutMs?: number | undefined;
  readonly maxSamples?: number | undefined;
  readonly limit?: number | undefined;
  readonly direction?: 'forward' | 'backward' | undefined;
  readonly step?: number | undefined;
}

export interface NamesInput {
  /** Absent: the names of all labels. */
  readonly label?: string | undefined;
  readonly query?: string | undefined;
  readonly start: number;
  readonly end: number;
  readonly asker?: string | undefined;
  readonly enforce?: readonly Enforced[] | undefined;
}

export interface TailInput {
  readonly query: string;
  /** Time that a line waits for older ones. */
  readonly delayMs: number;
  /** Max newest lines since `start` that come first. */
  readonly limit: number;
  readonly start: number;
  readonly asker?: string | undefined;
  readonly enforce?: readonly Enforced[] | undefined;
}

export interface OpenedTail {
  readonly id: number;
  /** Lines from before the tail started; undefined if there are none. */
  readonly frame: Uint8Array | undefined;
}
