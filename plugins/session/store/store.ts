import type { Kysely } from 'kysely';
import type { Tables } from 'svc/sdk';

import { ApiTokenRows } from './api-token-rows.ts';
import { errors } from './errors.ts';
import { RefreshTokenRows, SessionRows } from './session-rows.ts';
import type { SessionTables } from './tables.ts';

/** The tables of this plugin: committed rows to read, and rows within one transaction. */
export class Store {
  readonly read: Rows;
  readonly #tables: Tables<SessionTables>;

  constructor(tables: Tables<SessionTables>) {
    this.#tables = tables;
    this.read = new Rows(tables.read);
  }

  write<R>(work: (rows: Rows) => Promise<R>): Promise<R> {
    return this.#tables.write((tx) => work(new Rows(tx)));
  }
}

/** SQL of this plugin, by subject. */
export class Rows {
  readonly signingKeys: SigningKeyRows;
  readonly sessions: SessionRows;
  readonly refreshTokens: RefreshTokenRows;
  readonly apiTokens: ApiTokenRows;
  readonly setupToken: SetupTokenRows;

  constructor(db: Kysely<SessionTables>) {
    this.signingKeys = new SigningKeyRows(db);
    this.sessions = new SessionRows(db);
    this.refreshTokens = new RefreshTokenRows(db);
    this.apiTokens = new ApiTokenRows(db);
    this.setupToken = new SetupTokenRows(db);
  }
}

class SigningKeyRows {
  readonly #db: Kysely<SessionTables>;

  constructor(db: Kysely<SessionTables>) {
    this.#db = db;
  }

  list() {
    return this.#db
      .selectFrom('session_keys')
      .selectAll()
      .orderBy('created_at')
      .orderBy('kid')
      .execute();
  }

  async add(kid: string, sealed: string, now: number): Promise<void> {
    await this.#db.insertInto('session_keys').values({ kid, sealed, created_at: now }).execute();
  }

  async remove(kids: readonly string[]): Promise<void> {
    await this.#db.deleteFrom('session_keys').where('kid', 'in', kids).execute();
  }
}

class SetupTokenRows {
  readonly #db: Kysely<SessionTables>;

  constructor(db: Kysely<SessionTables>) {
    this.#db = db;
  }

  find() {
    return this.#db.selectFrom('session_setup').select(['hash', 'expires_at']).executeTakeFirst();
  }

  async set(hash: string, expiresAt: number): Promise<void> {
    await this.#db
      .insertInto('session_setup')
      .values({ id: 1, hash, expires_at: expiresAt })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ hash, expires_at: expiresAt }))
      .execute();
  }

  async remove(): Promise<void> {
    await this.#db.deleteFrom('session_setup').execute();
  }

  /** Uses the token up, or throws: of two requests that show it at once, one makes the administrator. */
  async spend(hash: string, now: number): Promise<void> {
    const { numDeletedRows } = await this.#db
      .deleteFrom('session_setup')
      .where('hash', '=', hash)
      .where('expires_at', '>', now)
      .executeTakeFirstOrThrow();
    if (numDeletedRows === 0n) {
      throw errors.set_up_token_used();
    }
  }
}
