import { defineService, type MaybePromise } from 'svc/sdk';

/** An edge whose keys are right. */
export interface VerifiedEdge {
  readonly edge_id: number | string;
  /** The device it watches; absent until the two are bound. */
  readonly device_id?: number | string;
  /** Known, but may not do anything. */
  readonly disabled?: boolean;
}

/** Who knows the keys of edges, and answers from memory: every push asks. */
export interface EdgeVerifierContract {
  /** Undefined unless this secret belongs to this access key. */
  verify(accessKey: string, secretKey: string): MaybePromise<VerifiedEdge | undefined>;
}

export type Signal = 'metrics' | 'logs' | 'traces';

/** When an edge was heard of last, by signal, in milliseconds. */
export type LastPushes = Readonly<Partial<Record<Signal, number>>>;

/** What the data plane has seen of late; kept in memory. */
export interface IngestActivityContract {
  lastPushes(edgeId: string): LastPushes;
}

export const EdgeVerifier = defineService<EdgeVerifierContract>('edge.verifier');
export const IngestActivity = defineService<IngestActivityContract>('ingest.activity');
