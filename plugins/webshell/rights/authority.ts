import type { DirectoryContract } from 'svc/contracts/iam';
import { type ScopeSource, scopeOf } from 'svc/query';
import { covers, type Handle, type Principal } from 'svc/sdk';

import { errors } from '../protocol/errors.ts';

/** Principal as admitted: whatever ends a session ends the shells that were opened in it. */
export interface Standing {
  readonly principal: Principal;
  /** Version of the account; grows with its password, role and status. */
  readonly version: number | undefined;
}

/** Ids of devices; undefined: all. */
export type Seen = ReadonlySet<number> | undefined;

export const shellAction = 'webshell';

/**
 * Check of who may have a shell at this moment. An expired token is no reason to lose one; losing
 * the permission is.
 */
export class Authority {
  readonly #directory: Pick<DirectoryContract, 'live'>;
  readonly #scopes: Handle<ScopeSource>;

  constructor(directory: Pick<DirectoryContract, 'live'>, scopes: Handle<ScopeSource>) {
    this.#directory = directory;
    this.#scopes = scopes;
  }

  /** Devices whose shells and recordings the principal may know of; undefined: all. */
  async seenBy(principal: Pick<Principal, 'selectors'>): Promise<Seen> {
    return (await scopeOf(this.#scopes, principal))?.ids;
  }

  /** Returns whether the person sees this device at this moment. */
  async sees({ principal }: Standing, deviceId: number): Promise<boolean> {
    const { kind, id } = principal;
    const selectors =
      kind === 'user' || kind === 'token'
        ? this.#directory.live(Number(id))?.selectors
        : principal.selectors;
    return (
      (await this.seenBy(selectors === undefined ? {} : { selectors }))?.has(deviceId) !== false
    );
  }

  /** Undefined for a principal that may not. */
  standing(principal: Principal): Standing | undefined {
    const found = this.#now(principal);
    return found && { principal, version: found.version };
  }

  /** The same; throws forbidden for a principal that may not. */
  requireStanding(principal: Principal): Standing {
    const standing = this.standing(principal);
    if (!standing) {
      throw errors.users_only();
    }
    return standing;
  }

  holds({ principal, version }: Standing): boolean {
    const found = this.#now(principal);
    return found !== undefined && found.version === version;
  }

  /** Undefined without the right; the version alone is undefined for an operator, who has no account. */
  #now({ kind, id, grants }: Principal): { readonly version: number | undefined } | undefined {
    if (!grants.some((grant) => covers(grant, shellAction))) {
      return undefined;
    }
    if (kind === 'operator') {
      return { version: undefined };
    }
    const person =
      kind === 'user' || kind === 'token' ? this.#directory.live(Number(id)) : undefined;
    return person?.status === 'active' && person.grants.some((grant) => covers(grant, shellAction))
      ? { version: person.version }
      : undefined;
  }
}
