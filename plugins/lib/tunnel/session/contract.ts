import type { Logger, MaybePromise } from 'svc/sdk';

import type { TunnelLimits } from '../message/limits.ts';
import type { Sweeper } from '../message/sweeper.ts';
import type { MessageTransport } from '../message/transport.ts';
import type { IdempotencyJournal } from './journal.ts';
import type { TunnelStream } from './stream.ts';

/** Side of a session: ids of the manager are even, those of an edge odd. */
export type Side = 'manager' | 'edge';

export interface CallOptions {
  /** Time limit; crosses the tunnel as the remaining time, so the clocks need not agree. */
  readonly timeoutMs: number;
  /** Needed by mutating methods: however often it arrives, the command runs once. */
  readonly idempotencyKey?: string | undefined;
  /** Aborting it tells the other side to stop, too. */
  readonly signal?: AbortSignal | undefined;
}

/** A call as the method that answers it sees it. */
export interface InboundCall {
  /** Aborts on cancel and at the deadline; for reading methods also when the connection is gone. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly session: TunnelSession;
  readonly idempotencyKey: string | undefined;
}

export interface TunnelMethod {
  /** Default false. A mutating method is journaled by its key and outlives the connection that asked for it. */
  readonly mutating?: boolean;
  /**
   * Handles a call. Its result crosses as JSON, SvcErrors as they are, any other error as
   * `internal`.
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- each method validates what it takes
  readonly handle: (params: any, call: InboundCall) => MaybePromise<unknown>;
}

/** Called immediately; must not block. Its error is logged. */
// oxlint-disable-next-line typescript/no-explicit-any -- each listener validates what it takes
export type TunnelListener = (payload: any, session: TunnelSession) => void;

/** Resolves to accept the stream, throws an SvcError to refuse it. It may read before; bytes wait until it does. */
export type TunnelService = (
  stream: TunnelStream,
  meta: unknown,
  session: TunnelSession,
) => MaybePromise<void>;

/** One object for all sessions of a process; what a session answers to is looked up at each message. */
export interface TunnelHandlers {
  readonly methods?: ReadonlyMap<string, TunnelMethod>;
  readonly events?: ReadonlyMap<string, TunnelListener>;
  readonly services?: ReadonlyMap<string, TunnelService>;
}

export interface SessionOptions {
  readonly side: Side;
  readonly sweeper: Sweeper;
  readonly log: Logger;
  readonly handlers?: TunnelHandlers;
  readonly limits?: Partial<TunnelLimits>;
  /** Needed where a mutating method is served. */
  readonly journal?: IdempotencyJournal;
  /** 0 ≤ x < 1; spreads the pings of edges. */
  readonly random: () => number;
  /** Name of this edge in log lines. */
  readonly label?: string;
}

export interface GoAwayReason {
  /** A close code; see `closeCode`. */
  readonly code: number;
  readonly message: string;
}

export interface GoAwayOptions {
  /** Window in which the edge reconnects at a random moment. */
  readonly retryMinMs: number;
  readonly retryMaxMs: number;
  /** Time for calls and streams to finish; default 2 s. */
  readonly graceMs?: number;
}

/** End of a session. */
export interface SessionEnd {
  readonly code: number;
  readonly reason: string;
  /** Retry times requested by the other side. */
  readonly retry: { readonly minMs: number; readonly maxMs: number } | undefined;
  /** Milliseconds that it was up. */
  readonly upMs: number;
}

export interface SessionStats {
  readonly openedAt: number;
  /** Time of the last message by the monotonic clock, like `openedAt`. */
  readonly lastHeardAt: number;
  /**
   * Round trip of the last ping; undefined before the first answer, and on the side that does not
   * ping.
   */
  readonly rttMs: number | undefined;
  readonly callsOut: number;
  readonly callsIn: number;
  readonly streams: number;
  /** Events that came or were emitted above the rate, and are lost. */
  readonly droppedEvents: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** One live connection with the other side, after both have proved who they are. */
export interface TunnelSession {
  readonly side: Side;
  /** Rejects with what the other side threw, or unavailable: closed, late, busy. */
  call<R>(method: string, params: unknown, options: CallOptions): Promise<R>;
  /** False when it was dropped: above the rate, the connection full or closed. */
  emit(event: string, payload: unknown): boolean;
  /** Resolves once the other side has accepted; rejects with its refusal, or unavailable after `timeoutMs` (default 10 s). */
  open(
    service: string,
    meta: unknown,
    options?: { readonly timeoutMs?: number },
  ): Promise<TunnelStream>;
  /** Announces the end, lets running calls continue for the grace period, then closes. */
  goAway(reason: GoAwayReason, options: GoAwayOptions): void;
  /** Looks more often whether the manager still answers; for the side of an edge. */
  pingEvery(ms: number, missedPings: number): void;
  /** Closes at once, politely. */
  close(code?: number, reason?: string): Promise<SessionEnd>;
  readonly live: boolean;
  readonly closed: Promise<SessionEnd>;
  readonly stats: SessionStats;
}

export type { MessageTransport };
