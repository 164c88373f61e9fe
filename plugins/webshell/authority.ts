import { covers, type Principal } from 'svc/sdk';

import type { DirectoryContract } from '../iam/contract.ts';

/** Somebody as they were let in: whatever ends a session ends what they have open. */
export interface Standing {
  readonly principal: Principal;
  /** Of the account; grows with its password, role and status. */
  readonly version: number | undefined;
}

/** Who may have a shell at this moment. A token that has run out is no reason to lose one; losing the right is. */
export interface Authority {
  /** Undefined for whoever may not. */
  standing(principal: Principal): Standing | undefined;
  holds(standing: Standing): boolean;
}

export const shellAction = 'webshell';

export function createAuthority(directory: Pick<DirectoryContract, 'live'>): Authority {
  /** Undefined means nobody; the version alone is undefined for an operator, who has no account. */
  function now({ kind, id, grants }: Principal): { readonly version: number | undefined } | undefined {
    if (!grants.some((grant) => covers(grant, shellAction))) {
      return undefined;
    }
    if (kind === 'operator') {
      return { version: undefined };
    }
    const person = kind === 'user' || kind === 'token' ? directory.live(Number(id)) : undefined;
    return person?.status === 'active' && person.grants.some((grant) => covers(grant, shellAction)) ? { version: person.version } : undefined;
  }
  return {
    standing(principal) {
      const found = now(principal);
      return found && { principal, version: found.version };
    },
    holds({ principal, version }) {
      const found = now(principal);
      return found !== undefined && found.version === version;
    },
  };
}
