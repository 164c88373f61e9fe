import type { Attribute, Scope, Value } from '../../traceql/spans/span.ts';

/** Scopes in which attributes of a dictionary occur; bits of a mask. */
export const scopeBits = { span: 1, resource: 2, event: 4, link: 8, instrumentation: 16 } as const;
export type ScopeName = keyof typeof scopeBits;

/** Texts and attributes shared by the spans of one table; the columns contain their numbers. */
export interface SpanDictionary {
  text(id: number): string;
  readonly texts: number;
  /** Attributes with their values. */
  readonly pairs: number;
  pair(id: number): Attribute;
  /** Numbers of the pairs with this key. */
  pairsOf(key: string): Iterable<number>;
  /**
   * Yields pairs like `pairsOf`, but may leave out those that are a different text or a different
   * plain value.
   */
  pairsThatMayBe(key: string, text: string): Iterable<number>;
  keys(): Iterable<{ readonly key: string; readonly scopes: number }>;
  /** Returns the scopes in which a pair occurs. */
  scopesOf(pair: number): number;
  readonly resources: number;
  resource(id: number): readonly Attribute[];
  resourcePairs(id: number): ArrayLike<number>;
  readonly scopes: number;
  scope(id: number): Scope;
  scopePairs(id: number): ArrayLike<number>;
}

/** Parts of spans that repeat: those of row i are the numbers from starts[i] to starts[i + 1]. */
export interface EventColumns {
  readonly starts: Uint32Array;
  readonly names: Uint32Array;
  readonly sinceStart: Float64Array;
  readonly pairStarts: Uint32Array;
  readonly pairs: Uint32Array;
}

export interface LinkColumns {
  readonly starts: Uint32Array;
  /** 16 and 8 bytes each. */
  readonly traceIds: Uint8Array;
  readonly spanIds: Uint8Array;
  readonly states: Uint32Array;
  readonly pairStarts: Uint32Array;
  readonly pairs: Uint32Array;
}

/** Spans by column. Arrays may be longer than there are rows. */
export interface SpanTable {
  readonly rows: number;
  readonly dictionary: SpanDictionary;
  /** 8 bytes a row. */
  readonly spanIds: Uint8Array;
  /** 16 hexadecimal digits, or empty. */
  parentId(row: number): string;
  /** Milliseconds, and the nanoseconds beyond them. */
  readonly startMs: Float64Array;
  readonly startNs: Uint32Array;
  readonly durations: Float64Array;
  /** kind * 4 + status */
  readonly kinds: Uint8Array;
  readonly names: Uint32Array;
  readonly messages: Uint32Array;
  readonly states: Uint32Array;
  readonly flags: Uint32Array;
  readonly resourceIds: Uint32Array;
  readonly scopeIds: Uint32Array;
  readonly pairStarts: Uint32Array;
  readonly pairIds: Uint32Array;
  readonly events: EventColumns;
  readonly links: LinkColumns;
  /** Flags of valid rows; undefined if all are. */
  readonly live: Uint8Array | undefined;
  readonly traces: number;
  /** Number of the trace of each row. */
  readonly traceOf: Uint32Array;
  /** 32 hexadecimal digits. */
  traceId(trace: number): string;
  rowsOf(trace: number): number[];
  /** The number of a trace; -1 when it is not here. */
  findTrace(id: Uint8Array): number;
}

export type { Attribute, Value };
