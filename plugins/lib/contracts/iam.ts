import { type AuditNote, defineEvent, defineService, type MaybePromise } from 'svc/sdk';

/** An account as it stands after the last commit. */
export interface Person {
  readonly id: number;
  readonly email: string;
  readonly display_name: string;
  readonly role: string;
  readonly status: 'active' | 'disabled';
  /** Grows with every change that must end sessions: password, role, status. */
  readonly version: number;
  /** Effective actions: of the role, and of being org_admin somewhere. */
  readonly grants: readonly string[];
  /** Organizations the person belongs to; undefined for who may see all of them. */
  readonly orgs: readonly number[] | undefined;
  /**
   * Selectors of their organizations, where those have one: the user sees devices that match any of
   * these; undefined for all devices.
   */
  readonly selectors: readonly string[] | undefined;
}

/** Times of an account, in milliseconds. */
export interface AccountTimes {
  readonly created_at: number;
  readonly updated_at: number;
  readonly last_login_at: number | null;
}

export interface NewPerson {
  readonly email: string;
  readonly display_name: string;
  readonly role: string;
  readonly password: string;
}

/** Directory of users and their permissions. */
export interface DirectoryContract {
  /**
   * Returns a person from memory, as the next request must see it. Disabled and deleted people are
   * not found.
   */
  live(id: number): Person | undefined;
  /** The people themselves, deleted ones too, for rows that name them. */
  nameOf(
    id: number,
  ): Promise<{ readonly email: string; readonly display_name: string } | undefined>;
  /** Returns times as of the last commit; throws not_found for an account that never existed. */
  timesOf(id: number): Promise<AccountTimes>;
  /**
   * Checks rules (unique e-mail, known role, password quality), hashes, and adds the account to the default organization.
   * `along` runs inside that write, before its commit: rows of yours that must come into being together with the person,
   * and the audit note. It hashes, so it is not for use inside a write of yours.
   */
  create(
    person: NewPerson,
    createdBy: number | undefined,
    along?: (person: { readonly id: number; readonly email: string }) => MaybePromise<void>,
  ): Promise<Person>;
  /** Returns whether an active admin exists. */
  hasAdmin(): Promise<boolean>;
  /** Grants of a role as it stands now; empty for one that does not exist. */
  grantsOf(role: string): readonly string[];
  /** Returns, from memory, whether any organization limits its members to some devices. */
  narrows(): boolean;
  /** Remembers that a login succeeded; may join a write of yours. */
  noteLogin(id: number): Promise<void>;
}

/** Password operations, for the session plugin only. */
export interface PasswordsContract {
  /**
   * The active person whose password this is. Unknown people, wrong passwords and disabled accounts cost the same time.
   * Throws rate_limited when too many passwords are being checked already. Writes nothing.
   */
  verify(email: string, password: string): Promise<Person | undefined>;
}

/** Account recovery operations, for the plugin of forgotten passwords only. */
export interface RestoringContract {
  /** The active person with this e-mail, for a message to it. Whether there is one is not for any answer. */
  find(email: string): Promise<Person | undefined>;
  /**
   * Another password for who has proven by other means to be this person, as they were then; it ends their sessions and API
   * tokens. `along` runs inside the write. Throws conflict when the account has changed meanwhile.
   */
  replace(
    person: Pick<Person, 'id' | 'version'>,
    password: string,
    along: () => MaybePromise<void>,
    note: (note: AuditNote) => void,
  ): Promise<void>;
}

export const Directory = defineService<DirectoryContract>('iam.directory');
export const Passwords = defineService<PasswordsContract>('iam.passwords');
export const Restoring = defineService<RestoringContract>('iam.restoring');

/**
 * Fired after the commit that changed or deleted an account, or its memberships. The grants of a
 * role may change without it.
 */
export const PersonChanged = defineEvent<{ readonly id: number }>('iam.person-changed');

/** Fired after the commit that created, changed or deleted a custom role. */
export const RoleChanged = defineEvent<{ readonly name: string }>('iam.role-changed');
