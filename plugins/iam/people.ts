import type { Person } from './contract.ts';
import { everything, matching, orgRoleGrants } from './grants.ts';
import { inTurn } from './in-turn.ts';
import type { Account } from './people-store.ts';
import type { Policy } from './policy.ts';

/** Everybody who is not deleted, in memory, as of the last commit. */
export interface People {
  /** Who may act at this moment: neither deleted nor disabled. */
  live(id: number): Person | undefined;
  /** Disabled people too, in the order of their ids. */
  all(): readonly Person[];
  find(id: number): Person | undefined;
  account(id: number): Account | undefined;
  load(): Promise<void>;
  /** Makes memory say what the disk says about these people, and tells of those who changed. */
  refresh(ids: readonly number[]): Promise<void>;
  /**
   * Runs a write about these people, then refreshes them, however it ended: the answer of a commit can
   * get lost when the commit did not.
   */
  following<T>(ids: readonly number[], write: () => Promise<T>): Promise<T>;
}

interface Known {
  readonly account: Account;
  readonly person: Person;
  /** The edition of the policy that the person was made by. */
  readonly edition: number;
}

export interface PeopleParts {
  readonly policy: Policy;
  readonly read: (ids?: readonly number[]) => Promise<readonly Account[]>;
  readonly changed: (id: number) => void;
}

export function createPeople({ policy, read, changed }: PeopleParts): People {
  const one = inTurn();
  let known = new Map<number, Known>();

  const made = (account: Account): Known => ({ account, person: personOf(account, policy), edition: policy.edition });

  /** A role may have changed under the person; then this is the moment they feel it. */
  function find(id: number): Person | undefined {
    let entry = known.get(id);
    if (entry !== undefined && entry.edition !== policy.edition) {
      entry = made(entry.account);
      known.set(id, entry);
    }
    return entry?.person;
  }

  async function reread(ids: readonly number[]): Promise<void> {
    let found: readonly Account[] = [];
    try {
      found = await read(ids);
    } finally {
      // Who cannot be read is not there: better locked out than let in on what used to be true.
      const byId = new Map(found.map((account) => [account.id, account]));
      for (const id of ids) {
        const before = known.get(id)?.account;
        const account = byId.get(id);
        if (account === undefined) {
          known.delete(id);
        } else {
          known.set(id, made(account));
        }
        if (JSON.stringify(before) !== JSON.stringify(account)) {
          changed(id);
        }
      }
    }
  }

  const refresh = (ids: readonly number[]): Promise<void> => one(() => reread(ids));

  return {
    live(id) {
      const person = find(id);
      return person?.status === 'active' ? person : undefined;
    },
    all: () => [...known.keys()].sort((a, b) => a - b).map((id) => find(id)!),
    find,
    account: (id) => known.get(id)?.account,
    load: () =>
      one(async () => {
        known = new Map((await read()).map((account) => [account.id, made(account)]));
      }),
    refresh,
    async following(ids, write) {
      try {
        return await write();
      } finally {
        await refresh(ids);
      }
    },
  };
}

function personOf({ memberships, ...account }: Account, policy: Policy): Person {
  const ofRole = policy.grantsOf(account.role);
  const added = memberships.flatMap(({ role }) => orgRoleGrants[role]).filter((grant) => matching(ofRole, grant) === undefined);
  return Object.freeze({
    ...account,
    // Without additions everybody shares the array of the role, which then is compiled once.
    grants: added.length === 0 ? ofRole : Object.freeze([...ofRole, ...new Set(added)]),
    orgs: ofRole.includes(everything) ? undefined : Object.freeze(memberships.map(({ org_id }) => org_id)),
  });
}
