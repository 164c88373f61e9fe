/**
 * Principal of a request. Made by the authenticator, carried by every call, never by a handler's
 * argument list.
 */
export interface Principal {
  readonly kind: 'anonymous' | 'user' | 'token' | 'edge' | 'operator' | 'plugin' | 'system';
  /** Stable within its kind; a user's numeric id as text. */
  readonly id: string;
  readonly email?: string;
  /** Shown in audit rows even after the account is gone. */
  readonly name?: string;
  readonly role: string;
  /** Effective actions: exact (`edge:create`), area (`edge:*`) or everything (`*`). */
  readonly grants: readonly string[];
  /** Organizations whose rows this principal may see; undefined means all of them. */
  readonly orgs?: readonly number[];
  /** Selectors of its organizations: it sees the devices that fit one of them; undefined means all. */
  readonly selectors?: readonly string[];
  readonly session?: string;
  /** The device that an edge watches, once it is known. */
  readonly device?: string;
  /**
   * Time when the person entered a password for this session, in milliseconds; no refresh renews
   * it. Absent for sign-ins by other means.
   */
  readonly authenticatedAt?: number;
}

export interface Credential {
  readonly scheme: 'bearer' | 'basic' | 'ticket';
  readonly value: string;
  readonly ip: string;
  /** Path of the request that presented it. */
  readonly path?: string;
}

/** Turns a credential into a principal, or `undefined` when it is not valid. Sync answers skip a tick. */
export interface AuthenticatorContract {
  authenticate(credential: Credential): Principal | undefined | Promise<Principal | undefined>;
}

/**
 * Returns whether holding `grant` (`*`, `edge:*`, `edge:create`) allows `action`, which may be a
 * whole area itself.
 */
export const covers = (grant: string, action: string): boolean =>
  grant === '*' ||
  grant === action ||
  (grant.endsWith(':*') && action.startsWith(grant.slice(0, -1)));

/**
 * Returns whether a principal may read what an area (a plugin) shows to every person: of all that is
 * signed in, only an API token needs a grant for it.
 */
export const mayRead = ({ kind, grants }: Principal, area: string): boolean =>
  kind !== 'token' || grants.some((grant) => covers(grant, `read:${area}`));
