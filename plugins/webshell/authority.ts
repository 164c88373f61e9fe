import { covers, type Principal, SvcError } from 'svc/sdk';

import type { DirectoryContract } from '../iam/contract.ts';

/** A principal as it was let in: whatever ends a session ends the shells that were opened in it. */
export interface Standing {
  readonly principal: Principal;
  /** Of the account; grows with its password, role and status. */
  readonly version: number | undefined;
}

export const shellAction = 'webshell';

/** Who may have a shell at this moment. A token that has run out is no reason to lose one; losing the right is. */
export class Authority {
  readonly #directory: Pick<DirectoryContract, 'live'>;

  constructor(directory: Pick<DirectoryContract, 'live'>) {
    this.#directory = directory;
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
      throw new SvcError('forbidden', 'only users and their API tokens may open shells');
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
    const person = kind === 'user' || kind === 'token' ? this.#directory.live(Number(id)) : undefined;
    return person?.status === 'active' && person.grants.some((grant) => covers(grant, shellAction)) ? { version: person.version } : undefined;
  }
}
