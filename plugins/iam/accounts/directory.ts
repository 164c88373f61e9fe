import type { DirectoryContract } from 'svc/contracts/iam';
import type { Clock, Tables } from 'svc/sdk';

import type { People } from '../policy/people.ts';
import type { Policy } from '../policy/policy.ts';
import { PeopleStore } from '../store/people-store.ts';
import type { IamTables } from '../store/tables.ts';
import { UserStore } from '../store/user-store.ts';
import type { Credentials } from './credentials.ts';
import { errors } from './errors.ts';
import { missing, type Users } from './users.ts';

export interface DirectoryParts {
  readonly tables: Tables<IamTables>;
  readonly people: People;
  readonly policy: Policy;
  readonly users: Users;
  readonly credentials: Credentials;
  readonly clock: Clock;
}

/** Creates the directory through which other plugins query people. */
export const createDirectory = ({
  tables,
  people,
  policy,
  users,
  credentials,
  clock,
}: DirectoryParts): DirectoryContract => ({
  live: (id) => people.live(id),
  nameOf: (id) => new PeopleStore(tables.read).nameOf(id),
  timesOf: async (id) => (await new PeopleStore(tables.read).timesOf(id)) ?? missing(id),
  async create(person, createdBy, along = () => undefined) {
    const { id, email } = await users.create(person, createdBy, along);
    return people.live(id) ?? gone(email);
  },
  hasAdmin: () => new UserStore(tables.read).hasActiveAdmin(),
  grantsOf: (role) => policy.grantsOf(role),
  narrows: () => people.all().some(({ selectors }) => selectors !== undefined),
  noteLogin: (id) =>
    tables.write(async (tx) => {
      const store = new PeopleStore(tx);
      const renewal = credentials.takeRenewal(id);
      if (renewal) {
        await store.renewHash(id, renewal.old, renewal.renewed);
      }
      await store.noteLogin(id, clock.now());
    }),
});

function gone(email: string): never {
  throw errors.account_gone({ email });
}
