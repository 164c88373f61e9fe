import { defineService } from 'svc/sdk';

import type { VerifiedEdge } from './session.ts';

/** One push as its route takes it. */
export interface EdgePush {
  /** The path of the route, such as `/api/v1/write`. */
  readonly to: string;
  readonly type: string;
  readonly encoding?: string | undefined;
  readonly body: Uint8Array;
}

/** Takes what an edge pushes another way than by a request of its own. */
export interface EdgePushesContract {
  /**
   * Stores a push and resolves once all of it is on disk; throws the errors of the route. The
   * caller has authenticated the edge.
   */
  push(edge: VerifiedEdge, push: EdgePush, call: { readonly signal: AbortSignal }): Promise<void>;
}

export type Signal = 'metrics' | 'logs' | 'traces';

/** Time of the last push of an edge by signal, in milliseconds. */
export type LastPushes = Readonly<Partial<Record<Signal, number>>>;

/** Recent activity of the data plane; kept in memory. */
export interface IngestActivityContract {
  lastPushes(edgeId: string): LastPushes;
}

export const EdgePushes = defineService<EdgePushesContract>('ingest.pushes');
export const IngestActivity = defineService<IngestActivityContract>('ingest.activity');
