import type { Enforced, PushAnswer, QueryOptions, SampleRow, Stamp } from 'svc/contracts/metricsdb';

import type { PushFormat } from '../store/intake/push-reader.ts';
import type { MetricsStats } from '../store/figures.ts';
import type { MetricsLimits } from '../store/upkeep/limits.ts';

/** Data passed to the thread of this plugin. */
export interface ThreadData extends ThreadSettings {
  readonly folder: string;
}

export interface ThreadSettings {
  /** Undefined while another driver keeps the samples: then the thread only reads, packs and rewrites for it. */
  readonly store: Partial<MetricsLimits> | undefined;
  readonly query: QueryLimits;
  readonly push: { readonly maxPushBytes: number; readonly aheadMs: number };
}

export interface QueryLimits {
  readonly timeoutMs: number;
  readonly cpuMs: number;
  readonly maxSamples: number;
  readonly maxPoints: number;
  readonly maxAnswerBytes: number;
  readonly atOnce: number;
  readonly lookbackMs: number;
  readonly delayedNameRemoval: boolean;
}

export const endpoints = [
  'query',
  'query_range',
  'series',
  'labels',
  'values',
  'metadata',
  'query_exemplars',
  'format_query',
] as const;
export type Endpoint = (typeof endpoints)[number];

export type Pairs = readonly (readonly [name: string, value: string])[];

/** A call of the Prometheus API as it came in. */
export interface Asked {
  readonly endpoint: Endpoint;
  /** Label name of a `values` request. */
  readonly label?: string | undefined;
  readonly pairs: Pairs;
  /** Body of a form; its fields precede `pairs`. */
  readonly form?: Uint8Array | undefined;
  /** Format; `tool` returns a matrix for our own programs, instead of Prometheus' envelope. */
  readonly shape?: 'tool' | undefined;
  readonly asker?: string | undefined;
  /** Restrictions on what the caller may see. */
  readonly enforce?: readonly Enforced[] | undefined;
}

/** Call, checked and cleaned, for a server that answers elsewhere. */
export interface Forwarded {
  readonly path: string;
  readonly pairs: Pairs;
  readonly timeoutMs: number;
}

type ServiceOptions = Omit<QueryOptions, 'signal'>;

/** A question of another plugin. */
export type ServiceQuestion =
  | {
      readonly kind: 'instant';
      readonly query: string;
      readonly time: number;
      readonly options: ServiceOptions;
    }
  | {
      readonly kind: 'range';
      readonly query: string;
      readonly start: number;
      readonly end: number;
      readonly step: number;
      readonly options: ServiceOptions;
    }
  | {
      readonly kind: 'series';
      readonly matchers: readonly string[];
      readonly start: number;
      readonly end: number;
      readonly options: ServiceOptions;
    };

/** Several of kind instant at one time. */
export interface BatchQuestion {
  readonly queries: readonly string[];
  readonly time: number;
  readonly options: ServiceOptions;
}

export interface PushInput {
  readonly format: PushFormat;
  readonly body: Uint8Array;
  readonly encoding: string | undefined;
  readonly stamp: Stamp | undefined;
  readonly sender?: string | undefined;
}

export interface EndInput {
  readonly matchers: readonly Enforced[];
  readonly time: number;
}

/** A push as bodies of Prometheus remote write. */
export interface Packed extends PushAnswer {
  readonly bodies: readonly Uint8Array[];
  /** Number of samples in each. */
  readonly samples: readonly number[];
}

export type PackInput = PushInput | { readonly rows: readonly SampleRow[] };

export interface ThreadStats {
  readonly asked: number;
  readonly running: number;
  readonly waiting: number;
  /** Undefined while no store is open. */
  readonly store: (MetricsStats & { readonly damage: readonly string[] }) | undefined;
}

/** Deletion as it came in: selectors and times, as parameters of Prometheus' API. */
export interface DropAsked {
  readonly pairs: Pairs;
  readonly form?: Uint8Array | undefined;
}

export interface DropCount {
  readonly series: number;
  /** Series of the head among them. */
  readonly inHead: number;
  /** Some of their metrics. */
  readonly metrics: readonly string[];
}
