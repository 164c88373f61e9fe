import type { KeyObject } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Generation, Registry } from '../../registry/index.ts';
import type {
  AuditTrailContract,
  AuthenticatorContract,
  Clock,
  Ids,
  Logger,
} from '../../sdk/index.ts';

/** The change's own transaction, as the audit trail takes it. */
export type Transaction = Parameters<AuditTrailContract['append']>[0];

/** Witness of the writes of one call. */
export interface ChangeWitness {
  /** The last step of each outermost write unit; throwing rolls that unit back and fails it. */
  beforeCommit(tx: Transaction): Promise<void>;
  /** A unit in which `beforeCommit` had run was rolled back after all; said before the next unit begins. */
  undone(): void;
}

/**
 * Port by which a request's writes are witnessed; the composition root connects it to the storage.
 */
export interface ChangePort {
  witness<R>(witness: ChangeWitness, work: () => R): R;
  /** A write unit of the pipeline itself, on disk when it resolves. */
  write(work: (tx: Transaction) => Promise<void>): Promise<void>;
  /** Why nothing can be written at the moment, as a sentence. */
  writable(): string | undefined;
  readonly idempotency: IdempotencyStore;
}

/** Scope of a key: the same key of another principal or on another route is another key. */
export interface IdempotencyPlace {
  readonly principal: string;
  readonly route: string;
  readonly key: string;
}

export interface IdempotencyRow extends IdempotencyPlace {
  /** SHA-256 over the target and the body of the request that claimed the key. */
  readonly requestHash: string;
  readonly createdAt: number;
  /** Absent between the change's commit and its reply; stays absent when the process died there. */
  readonly answer: SealedAnswer | undefined;
}

interface SealedAnswer {
  readonly status: number;
  /** The reply's body, encrypted: it may carry a secret that is shown once. */
  readonly body: string;
}

export interface IdempotencyStore {
  /** The row of this place, unless it was created before `notBefore`. */
  find(place: IdempotencyPlace, notBefore: number): Promise<IdempotencyRow | undefined>;
  /** Adds a row; one that has expired at the same place is replaced. */
  insert(tx: Transaction, row: IdempotencyRow): Promise<void>;
  complete(place: IdempotencyPlace, answer: SealedAnswer): Promise<void>;
}

/** Bounds of the server, as they suit one box. */
export const defaultLimits = {
  /** JSON body of a route that names no limit of its own. */
  bodyBytes: 1024 * 1024,
  headersTimeoutMs: 10_000,
  /** The whole request of an ordinary route. */
  requestTimeoutMs: 30_000,
  /** The whole request of a route that takes more than `bodyBytes`. */
  uploadTimeoutMs: 600_000,
  /** Handler deadline of a route that names none. */
  handlerMs: 30_000,
  connections: 15_000,
  connectionsPerAddress: 512,
  /** Max total of heads over 16 KiB, including unfinished ones. */
  longHeadBytes: 64 * 1024 * 1024,
  streamsPerPrincipal: 6,
  heartbeatMs: 15_000,
  /** Time for which a streaming client may leave its data unread. */
  unreadMs: 60_000,
  recheckMs: 30_000,
  pingMs: 20_000,
  /** Bytes waiting for a WebSocket client before it is cut. */
  socketBufferBytes: 16 * 1024 * 1024,
};

export type HttpLimits = Readonly<typeof defaultLimits>;

/** Details of a request that was answered. */
export interface ObservedRequest {
  readonly requestId: string;
  readonly method: string;
  readonly plugin: string | undefined;
  readonly traceparent: string | undefined;
}

/** Address to listen on with TLS, with the files of the certificate and its key. */
export interface TlsOptions {
  readonly host: string;
  readonly port: number;
  readonly cert: string;
  readonly key: string;
  readonly lookEveryMs?: number;
}

/** Rest of core, as far as the HTTP server needs it. */
export interface HttpOptions {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  /** 32 bytes; seals cursors and stored answers. */
  readonly cursorKey: KeyObject;
  /** Knows the operator, also while no plugin provides an authenticator. */
  readonly operator: AuthenticatorContract;
  readonly changes: ChangePort;
  /** Addresses and ranges whose `X-Forwarded-For` counts. */
  readonly trustedProxies?: readonly string[];
  /** Address to additionally listen on with TLS. */
  readonly tls?: TlsOptions | undefined;
  /** Public URL of this service; browsers' WebSockets must come from there. */
  readonly publicUrl?: string;
  /** Answers a request in place of the routes, where it returns true. */
  readonly gate?: ((req: IncomingMessage, res: ServerResponse) => boolean) | undefined;
  /** An error that was thrown on a plugin's account. */
  readonly strike: (owner: Generation, label: string, error: unknown) => void;
  /** Blanks what looks like a secret in error bodies and in what goes into the audit trail. */
  readonly hideSecrets?: (text: string) => string;
  /** Why the plugin that should keep the audit trail does not, when one is installed and not switched off. */
  readonly absentTrail?: () => string | undefined;
  /** Compares each reply with its schema, for tests. */
  readonly checkResponses?: boolean;
  readonly observe?: (route: string, status: number, ms: number, request: ObservedRequest) => void;
  readonly limits?: Partial<HttpLimits>;
}
