import type { Budget } from 'svc/query';

import type { TraceSpans, Value } from './span.ts';

/**
 * Field of a condition: an intrinsic of the span, or an attribute by scope; `any` prefers the
 * span's own, then the resource's, then others.
 */
export type Field =
  | {
      readonly intrinsic:
        | 'name'
        | 'statusMessage'
        | 'kind'
        | 'status'
        | 'duration'
        | 'traceId'
        | 'spanId';
    }
  | { readonly scope: AttributeScope; readonly key: string };

/**
 * Attributes that the server sets: a name without a scope means the server's value, never that of a
 * span.
 */
const stamped: ReadonlySet<string> = new Set(['device_id', 'edge_id']);

/** Returns the scope of a name that is written without one. */
export const scopeOf = (name: string): AttributeScope => (stamped.has(name) ? 'resource' : 'any');

export type AttributeScope = 'any' | 'span' | 'resource' | 'event' | 'link' | 'instrumentation';

/** A question that a store can put to its dictionaries and columns: `test` depends on the value alone. */
export interface Condition {
  readonly field: Field;
  /** Equality with this literal is all that is asked; a store may skip what cannot hold it. */
  readonly equals?: Value;
  /** Tests a value that is present; an absent one never matches. */
  readonly test: (value: Value) => boolean;
}

/**
 * Condition that a span must meet for its trace to matter. A hint: a store may return more, never
 * less. Undefined means any span.
 */
export type SpanPrefilter =
  | Condition
  | { readonly all: readonly SpanPrefilter[] }
  | { readonly some: readonly SpanPrefilter[] };

export interface Prefilter {
  readonly spans: SpanPrefilter | undefined;
  /**
   * True if the query examines spans one by one, so that a trace may arrive in several parts,
   * without what does not match.
   */
  readonly partial: boolean;
}

/** Milliseconds, both inclusive. */
export interface SearchWindow {
  readonly startMs: number;
  readonly endMs: number;
}

export interface TraceBatch {
  readonly traces: readonly TraceSpans[];
  /**
   * Start, in milliseconds, after which no trace of a later batch starts: once enough newer ones
   * are found, the search is over.
   */
  readonly newestLeft: number;
  /** Share of the search that is done, this batch included: from 0 to 1. */
  readonly share: number;
}

export interface SpanSource {
  /** Traces with at least one span that overlaps the window, roughly newest first, each whole unless `partial` is asked for. */
  traces(window: SearchWindow, prefilter: Prefilter, budget: Budget): AsyncIterable<TraceBatch>;
}
