import type { PasswordsContract, Person } from 'svc/contracts/iam';
import { isSvcError, type Logger, messageOf, type Tables } from 'svc/sdk';

import { normalEmail } from '../passwords/email.ts';
import type { Hasher } from '../passwords/hasher.ts';
import type { People } from '../policy/people.ts';
import { PeopleStore } from '../store/people-store.ts';
import type { IamTables } from '../store/tables.ts';

export interface Renewal {
  readonly old: string;
  readonly renewed: string;
}

export interface CredentialsParts {
  readonly tables: Tables<IamTables>;
  readonly people: People;
  readonly hasher: Hasher;
  readonly log: Logger;
}

/** A renewal that is not taken is made again at the next login. */
const maxRenewals = 100;

/** Checks passwords. It writes nothing: the first write of a login belongs to the plugin of sessions, and with it the audit row. */
export class Credentials implements PasswordsContract {
  readonly #parts: CredentialsParts;
  readonly #renewals = new Map<number, Renewal>();

  constructor(parts: CredentialsParts) {
    this.#parts = parts;
  }

  async find(email: string): Promise<Person | undefined> {
    const { tables, people } = this.#parts;
    const account = await new PeopleStore(tables.read).credentials(normalEmail(email));
    return account && people.live(account.id);
  }

  async verify(email: string, password: string): Promise<Person | undefined> {
    const { tables, people, hasher } = this.#parts;
    const account = await new PeopleStore(tables.read).credentials(normalEmail(email));
    const isRight = await hasher.verify(account?.password_hash, password);
    if (!isRight || account?.status !== 'active') {
      return undefined;
    }
    if (hasher.isDated(account.password_hash)) {
      await this.#renew(account.id, account.password_hash, password);
    }
    const person = people.live(account.id);
    // Hashing takes its time: a password that was replaced meanwhile opens nothing any more.
    return person?.version === account.version ? person : undefined;
  }

  /** The stronger hash that the last successful check has made of a dated one; given out once. */
  takeRenewal(id: number): Renewal | undefined {
    const renewal = this.#renewals.get(id);
    this.#renewals.delete(id);
    return renewal;
  }

  async #renew(id: number, old: string, password: string): Promise<void> {
    const { hasher, log } = this.#parts;
    if (this.#renewals.size >= maxRenewals) {
      this.#renewals.clear();
    }
    try {
      this.#renewals.set(id, { old, renewed: await hasher.hash(password) });
    } catch (error) {
      if (!isSvcError(error)) {
        throw error;
      }
      // The password was right; a stronger hash of it can wait for a calmer moment.
      log.info(
        { user_id: id, cause: messageOf(error) },
        'failed to upgrade an old password hash; retrying at the next sign-in',
      );
    }
  }
}
