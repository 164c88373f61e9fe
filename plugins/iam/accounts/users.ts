import type { Updateable } from 'kysely';
import type { Call, Clock, MaybePromise, Page, PageRequest, Principal, Tables } from 'svc/sdk';

import { readEmail } from '../passwords/email.ts';
import { Guesses } from '../passwords/guesses.ts';
import type { Hasher } from '../passwords/hasher.ts';
import { assertGoodPassword } from '../passwords/password-rules.ts';
import type { People } from '../policy/people.ts';
import { builtinRoles } from '../policy/policy.ts';
import { MemberStore } from '../store/member-store.ts';
import { defaultOrg } from '../store/org-store.ts';
import { RoleStore } from '../store/role-store.ts';
import type { Iam, IamTables, UserStatus } from '../store/tables.ts';
import { type UserFilter, userIdOf, type UserRow, UserStore } from '../store/user-store.ts';
import { errors } from './errors.ts';
import { shownUser } from './shown.ts';

/** The actor of a change, and what the pipeline lends to it. */
export type Actor = Pick<Call, 'principal' | 'requireMatch' | 'note'>;

export interface NewUser {
  readonly email: string;
  readonly display_name: string;
  readonly role: string;
  readonly password: string;
}

export interface UserChanges {
  readonly email?: string;
  readonly display_name?: string;
  readonly status?: UserStatus;
}

export interface UsersParts {
  readonly tables: Tables<IamTables>;
  readonly people: People;
  readonly hasher: Hasher;
  readonly clock: Clock;
  /** All of them are held in memory, so there is a limit. */
  readonly maxUsers?: number;
}

const defaultMostUsers = 10_000;

/** Accounts: every rule about them is checked inside the write that it is about. */
export class Users {
  readonly #parts: UsersParts;
  readonly #guesses: Guesses;

  constructor(parts: UsersParts) {
    this.#parts = parts;
    this.#guesses = new Guesses(parts.clock);
  }

  list(actor: Principal, filter: UserFilter, page: PageRequest): Promise<Page<UserRow>> {
    return new UserStore(this.#parts.tables.read).list(actor, filter, page);
  }

  async get(actor: Principal, id: number): Promise<UserRow> {
    return (await new UserStore(this.#parts.tables.read).find(actor, id)) ?? missing(id);
  }

  async create(
    user: NewUser,
    createdBy: number | undefined,
    along: (user: UserRow) => MaybePromise<void>,
  ): Promise<UserRow> {
    const { tables, people, hasher, clock, maxUsers = defaultMostUsers } = this.#parts;
    const email = readEmail(user.email);
    assertGoodPassword(user.password, email);
    const password_hash = await hasher.hash(user.password);
    const created = await tables.write(async (tx) => {
      const store = new UserStore(tx);
      await assertEmailFree(tx, email);
      await assertRoleExists(tx, user.role);
      if ((await store.count()) >= maxUsers) {
        throw errors.too_many_users({ max: maxUsers });
      }
      const now = clock.now();
      const display_name = user.display_name.trim() || email.slice(0, email.indexOf('@'));
      const row = await store.insert({
        email,
        display_name,
        role: user.role,
        status: 'active',
        password_hash,
        created_by: createdBy ?? null,
        created_at: now,
        updated_at: now,
        last_login_at: null,
        deleted_at: null,
      });
      await new MemberStore(tx).insert(defaultOrg, row.id, 'member');
      await along(row);
      return row;
    });
    await people.refresh([created.id]);
    return created;
  }

  update(
    by: Actor,
    id: number,
    { email: text, display_name, status }: UserChanges,
  ): Promise<UserRow> {
    const email = text === undefined ? undefined : readEmail(text);
    return this.#amend(by, id, async (tx, before) => {
      if (email !== undefined) {
        await assertEmailFree(tx, email, id);
      }
      return {
        ...(email !== undefined && { email }),
        ...(display_name !== undefined && {
          display_name: display_name.trim() || before.display_name,
        }),
        ...(status !== undefined &&
          status !== before.status && { status, version: before.version + 1 }),
      };
    });
  }

  setRole(by: Actor, id: number, role: string): Promise<UserRow> {
    return this.#amend(by, id, async (tx, before) => {
      await assertRoleExists(tx, role);
      return role === before.role ? {} : { role, version: before.version + 1 };
    });
  }

  async setPassword(
    by: Actor,
    id: number,
    password: string,
    current: string | undefined,
  ): Promise<UserRow> {
    const { tables, hasher } = this.#parts;
    const { email } = await this.get(by.principal, id);
    const hash = await new UserStore(tables.read).hashOf(by.principal, id);
    assertGoodPassword(password, email);
    if (userIdOf(by.principal) === id) {
      await this.#assertCurrent(id, hash, current);
    }
    const password_hash = await hasher.hash(password);
    return this.#amend(by, id, async (tx, before) => {
      if ((await new UserStore(tx).hashOf(by.principal, id)) !== hash) {
        throw errors.password_changed();
      }
      return { password_hash, version: before.version + 1 };
    });
  }

  /**
   * Sets the password of a person who has proven their identity otherwise, without knowing the old
   * one.
   */
  async replacePassword(
    { id, version }: { readonly id: number; readonly version: number },
    password: string,
    along: () => MaybePromise<void>,
    note: Actor['note'],
  ): Promise<void> {
    const { people, hasher } = this.#parts;
    const person = people.live(id) ?? missing(id);
    assertGoodPassword(password, person.email);
    const password_hash = await hasher.hash(password);
    await this.#amend(
      { principal: restoring, requireMatch: () => undefined, note },
      id,
      async (_tx, before) => {
        if (before.version !== version || before.status !== 'active') {
          throw errors.changed();
        }
        await along();
        return { password_hash, version: version + 1 };
      },
    );
  }

  async remove(by: Actor, id: number): Promise<void> {
    const { clock } = this.#parts;
    await this.#amend(by, id, (_tx, before) => ({
      deleted_at: clock.now(),
      status: 'disabled',
      password_hash: '',
      version: before.version + 1,
    }));
  }

  /** One change of one account: it is there for the actor, is the version they saw, and leaves an admin in svc. */
  #amend(
    by: Actor,
    id: number,
    decide: (tx: Iam, before: UserRow) => MaybePromise<Updateable<IamTables['iam_users']>>,
  ): Promise<UserRow> {
    const { tables, people, clock } = this.#parts;
    return people.following([id], () =>
      tables.write(async (tx) => {
        const store = new UserStore(tx);
        const before = (await store.find(by.principal, id)) ?? missing(id);
        by.requireMatch(shownUser(before));
        const changes = await decide(tx, before);
        const after = await store.update(by.principal, id, changes, clock.now());
        const isGone = changes.deleted_at !== undefined;
        if (isGone) {
          await new MemberStore(tx).removeUser(id);
        }
        if (
          isActiveAdmin(before) &&
          (isGone || !isActiveAdmin(after)) &&
          !(await store.hasActiveAdmin())
        ) {
          throw errors.last_admin({ email: before.email });
        }
        by.note({ before: shownUser(before), ...(!isGone && { after: shownUser(after) }) });
        return after;
      }),
    );
  }

  /** A stolen session must not become a stolen account. */
  async #assertCurrent(
    id: number,
    hash: string | undefined,
    current: string | undefined,
  ): Promise<void> {
    if (current === undefined) {
      const message = 'is required to change your own password';
      throw errors.current_password(
        { message },
        { details: [{ path: '/current_password', message }] },
      );
    }
    if (!(await this.#guesses.check(id, () => this.#parts.hasher.verify(hash, current)))) {
      throw errors.not_your_password();
    }
  }
}

/** Principal of a person who has lost the password, and is not authenticated yet. */
const restoring: Principal = Object.freeze({
  kind: 'system',
  id: 'password-reset',
  name: 'password reset',
  role: 'none',
  grants: Object.freeze([]),
});

const isActiveAdmin = ({ role, status }: UserRow): boolean =>
  role === 'admin' && status === 'active';

export function missing(id: number): never {
  throw errors.no_user({ id });
}

async function assertEmailFree(tx: Iam, email: string, exceptId?: number): Promise<void> {
  if (!(await new UserStore(tx).isFree(email, exceptId))) {
    throw errors.email_taken({ email }, { details: [{ path: '/email', message: 'is taken' }] });
  }
}

async function assertRoleExists(tx: Iam, role: string): Promise<void> {
  const known =
    (builtinRoles as readonly string[]).includes(role) ||
    (await new RoleStore(tx).find(role)) !== undefined;
  if (!known) {
    const message = `must be ${builtinRoles.join(', ')} or a custom role`;
    throw errors.role_unknown({ message, role }, { details: [{ path: '/role', message }] });
  }
}
