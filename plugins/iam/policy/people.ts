import type { Person } from 'svc/contracts/iam';

import type { Account } from '../store/people-store.ts';
import { everything, matching, orgRoleGrants } from './grants.ts';
import { InTurn } from './in-turn.ts';
import type { Policy } from './policy.ts';

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

/** All people who are not deleted, in memory, as of the last commit. */
export class People {
  readonly #parts: PeopleParts;
  readonly #turns = new InTurn();
  #known = new Map<number, Known>();

  constructor(parts: PeopleParts) {
    this.#parts = parts;
  }

  /** Returns the person if they may act at this moment: neither deleted nor disabled. */
  live(id: number): Person | undefined {
    const person = this.find(id);
    return person?.status === 'active' ? person : undefined;
  }

  /** Disabled people too, in the order of their ids. */
  all(): readonly Person[] {
    return [...this.#known.keys()].sort((a, b) => a - b).map((id) => this.find(id)!);
  }

  /** A role may have changed under the person; then this is the moment they feel it. */
  find(id: number): Person | undefined {
    let entry = this.#known.get(id);
    if (entry !== undefined && entry.edition !== this.#parts.policy.edition) {
      entry = this.#make(entry.account);
      this.#known.set(id, entry);
    }
    return entry?.person;
  }

  account(id: number): Account | undefined {
    return this.#known.get(id)?.account;
  }

  load(): Promise<void> {
    return this.#turns.run(async () => {
      this.#known = new Map(
        (await this.#parts.read()).map((account) => [account.id, this.#make(account)]),
      );
    });
  }

  /** Reloads these people from disk, and emits events for those who changed. */
  refresh(ids: readonly number[]): Promise<void> {
    return this.#turns.run(() => this.#reread(ids));
  }

  /**
   * Runs a write about these people, then refreshes them, however it ended: the answer of a commit can
   * get lost when the commit did not.
   */
  async following<T>(ids: readonly number[], write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } finally {
      await this.refresh(ids);
    }
  }

  #make(account: Account): Known {
    const { policy } = this.#parts;
    return { account, person: personOf(account, policy), edition: policy.edition };
  }

  async #reread(ids: readonly number[]): Promise<void> {
    let found: readonly Account[] = [];
    try {
      found = await this.#parts.read(ids);
    } finally {
      // An account that cannot be read is treated as missing: better locked out than admitted on
      // outdated data.
      const byId = new Map(found.map((account) => [account.id, account]));
      for (const id of ids) {
        this.#replace(id, byId.get(id));
      }
    }
  }

  #replace(id: number, account: Account | undefined): void {
    const before = this.#known.get(id)?.account;
    if (account === undefined) {
      this.#known.delete(id);
    } else {
      this.#known.set(id, this.#make(account));
    }
    if (JSON.stringify(before) !== JSON.stringify(account)) {
      this.#parts.changed(id);
    }
  }
}

function personOf({ memberships, ...account }: Account, policy: Policy): Person {
  const ofRole = policy.grantsOf(account.role);
  const added = memberships
    .flatMap(({ role }) => orgRoleGrants[role])
    .filter((grant) => matching(ofRole, grant) === undefined);
  return Object.freeze({
    ...account,
    // Without additions all share the array of the role, which then is compiled once.
    grants: added.length === 0 ? ofRole : Object.freeze([...ofRole, ...new Set(added)]),
    orgs: ofRole.includes(everything)
      ? undefined
      : Object.freeze(memberships.map(({ org_id }) => org_id)),
    selectors: ofRole.includes(everything) ? undefined : selectorsOf(memberships),
  });
}

/** An organization without a selector widens nothing: everybody begins in one. */
function selectorsOf(memberships: Account['memberships']): readonly string[] | undefined {
  const selectors = memberships
    .map(({ device_selector: selector }) => selector)
    .filter((selector) => selector !== null);
  return selectors.length === 0 ? undefined : Object.freeze([...new Set(selectors)].sort());
}
