import {
  defineEvent,
  defineExtensionPoint,
  defineService,
  type MaybePromise,
  type Principal,
} from 'svc/sdk';

/**
 * Fired after the commit that ended a session or deleted an API token: whatever is still open on
 * its account should close.
 */
export const SessionEnded = defineEvent<{ readonly session_id: string; readonly user_id: number }>(
  'session.ended',
);

/** A spent refresh token was shown: one of its two holders is a thief, so both were signed out. */
export const SessionReplayed = defineEvent<{
  readonly session_id: string;
  readonly user_id: number;
  readonly ip: string;
}>('session.replayed');

/** An edge whose keys are right. */
export interface VerifiedEdge {
  readonly edge_id: number | string;
  /** The device it watches; absent until the two are bound. */
  readonly device_id?: number | string;
  /** Known, but may not do anything. */
  readonly disabled?: boolean;
}

/** Contributed as `ticket`: knows the one-time tickets by which browsers sign in to a WebSocket. */
export interface TicketVerifier {
  /** Spends the ticket: shown again it is not valid, whatever became of the first time. */
  recognise(
    ticket: string,
    shown: { readonly ip: string; readonly path: string },
  ): Principal | undefined;
}

/** Contributed as `edge-key`: knows the keys of edges, and answers from memory, because every push asks. */
export interface EdgeKeyVerifier {
  /** Undefined unless this secret belongs to this access key. */
  recognise(accessKey: string, secretKey: string): MaybePromise<VerifiedEdge | undefined>;
}

/** Verifiers by the id under which they are contributed; the registry refuses a second of the same id. */
export interface CredentialVerifiers {
  readonly ticket: TicketVerifier;
  readonly 'edge-key': EdgeKeyVerifier;
}

/** Credentials that other plugins vouch for; packs vouch for none. */
export const Credentials = defineExtensionPoint<CredentialVerifiers[keyof CredentialVerifiers]>(
  'session.credentials',
  undefined,
  { methods: ['recognise'] },
);

/** Which ways in are open to somebody without an account. */
export interface FirstSetup {
  /** Visitors may make an account for themselves. */
  readonly registration: boolean;
  /**
   * One-time token that creates the first admin; undefined once there is one. It may be shown to
   * whoever starts svc and never over HTTP.
   */
  readonly waiting: string | undefined;
}

export const Setup = defineService<FirstSetup>('session.setup');
