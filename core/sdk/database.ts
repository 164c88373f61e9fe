import type { Kysely } from 'kysely';

/** The tables of one plugin: reads never wait for a writer, a write resolves once it is on disk. */
export interface Tables<T> {
  readonly read: Kysely<T>;
  /**
   * Runs `work` in one transaction and resolves after its fsync, which concurrent writes share.
   * Throwing rolls back this work only. A write inside a write joins it. No I/O belongs inside:
   * work that outlives the deadline is rolled back.
   */
  write<R>(work: (tx: Kysely<T>) => Promise<R>): Promise<R>;
}

/** Where a secret lives; sealing binds it to that place, so swapped ciphertexts do not open. */
export interface SealPlace {
  readonly table: string;
  readonly row: string;
  readonly column: string;
}

export interface Secrets {
  seal(place: SealPlace, plain: string): string;
  open(place: SealPlace, sealed: string): string;
}

export interface OutboxMessage<T = unknown> {
  readonly id: string;
  readonly topic: string;
  readonly payload: T;
  /** 1 on the first try. */
  readonly attempt: number;
  readonly enqueuedAt: number;
}

/** A durable queue: enqueued in the change's own transaction, delivered at least once, in order per key. */
export interface Outbox {
  enqueue(tx: Kysely<never> | Kysely<any>, topic: string, payload: unknown, options?: { key?: string; delayMs?: number }): Promise<string>;
  /** Handles a topic from commit on. Throwing retries with back-off; the last failure goes to `exhausted`. */
  deliver<T>(topic: string, handler: (message: OutboxMessage<T>, signal: AbortSignal) => Promise<void>, policy?: DeliveryPolicy<T>): void;
}

export interface DeliveryPolicy<T> {
  /** Default 5. */
  readonly attempts?: number;
  /** Deadline of one try; default 30 000. */
  readonly timeoutMs?: number;
  /** Default 1 000, doubling with jitter to at most 5 minutes. */
  readonly backoffMs?: number;
  readonly exhausted?: (message: OutboxMessage<T>, cause: string) => Promise<void>;
}
