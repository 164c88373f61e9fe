import { type Kysely, sql } from 'kysely';
import { type Page, pageOf, type PageRequest, type Principal } from 'svc/sdk';

import { errors } from './errors.ts';
import { sessionIdleMs, sessionMs } from './lifetimes.ts';
import type { Reach } from './reach.ts';
import type { RefreshToken } from './refresh-tokens.ts';
import type { SessionRow, SessionTables, ShownSession, ShownToken } from './tables.ts';

export interface Ended {
  readonly id: string;
  readonly user_id: number;
}

/** Sessions that began with a login. */
export class SessionRows {
  readonly #db: Kysely<SessionTables>;

  constructor(db: Kysely<SessionTables>) {
    this.#db = db;
  }

  async add(session: Omit<SessionRow, 'ended_at'>): Promise<void> {
    await this.#db.insertInto('session_sessions').values(session).execute();
  }

  /** Live sessions of one person, newest first. */
  list(userId: number, now: number, page: PageRequest): Promise<Page<SessionRow>> {
    const live = this.#db
      .selectFrom('session_sessions')
      .selectAll()
      .where('user_id', '=', userId)
      .where('ended_at', 'is', null)
      .where('created_at', '>', now - sessionMs)
      .where('refreshed_at', '>', now - sessionIdleMs);
    return pageOf(live, 'id', page);
  }

  /** The session whose refresh tokens share this part. */
  ofFamily(family: string): Promise<ShownSession | undefined> {
    return this.#db
      .selectFrom('session_sessions')
      .select(['id as session_id', 'user_id', 'version', 'created_at', 'ended_at'])
      .where('family', '=', family)
      .executeTakeFirst();
  }

  /** Returns the version of the account when the session of this actor began. */
  async versionOf({ session = '' }: Principal): Promise<number> {
    const found = await this.#db
      .selectFrom('session_sessions')
      .select('version')
      .where('id', '=', session)
      .executeTakeFirst();
    if (!found) {
      throw errors.session_over();
    }
    return found.version;
  }

  endedSince(since: number) {
    return this.#db
      .selectFrom('session_sessions')
      .select(['id', 'ended_at'])
      .where('ended_at', '>', since)
      .execute();
  }

  /** Ends a session in reach of the actor that has not ended yet; tells whose it was. */
  end(reach: Reach, id: string, now: number): Promise<Ended | undefined> {
    return this.#ending(now)
      .where('id', '=', id)
      .$if(reach !== 'everyone', (query) => query.where('user_id', '=', Number(reach)))
      .executeTakeFirst();
  }

  /** Ends every session of a person. */
  endAll(userId: number, now: number): Promise<Ended[]> {
    return this.#ending(now).where('user_id', '=', userId).execute();
  }

  /** Ends all but the newest `kept` sessions of a person. */
  endOldest(userId: number, kept: number, now: number): Promise<Ended[]> {
    return this.#ending(now)
      .where('id', 'in', (rows) =>
        rows
          .selectFrom('session_sessions')
          .select('id')
          .where('user_id', '=', userId)
          .where('ended_at', 'is', null)
          .orderBy('id', 'desc')
          .limit(Number.MAX_SAFE_INTEGER)
          .offset(kept),
      )
      .execute();
  }

  /**
   * Ends the sessions of a person that have another version of the account; all of them if there is
   * none.
   */
  endOutdated(userId: number, version: number | undefined, now: number): Promise<Ended[]> {
    return this.#ending(now)
      .where('user_id', '=', userId)
      .$if(version !== undefined, (query) => query.where('version', '!=', version!))
      .execute();
  }

  async noteUse(id: string, at: number): Promise<void> {
    await this.#db
      .updateTable('session_sessions')
      .set({ last_used_at: at })
      .where('id', '=', id)
      .where('last_used_at', '<', at)
      .execute();
  }

  /**
   * Deletes expired rows. An ended session is kept while its access tokens could still be
   * presented.
   */
  async purge(now: number, endedBefore: number): Promise<void> {
    await this.#db
      .deleteFrom('session_sessions')
      .where((row) =>
        row.or([
          row('ended_at', '<', endedBefore),
          row('created_at', '<', now - sessionMs),
          row('refreshed_at', '<', now - sessionIdleMs),
        ]),
      )
      .execute();
  }

  #ending(now: number) {
    return this.#db
      .updateTable('session_sessions')
      .set({ ended_at: now })
      .where('ended_at', 'is', null)
      .returning(['id', 'user_id']);
  }
}

/** Refresh tokens of a session that are kept, spent and unspent each. */
const keptTokens = 20;

/** Refresh tokens, each the child of the one that was spent for it. */
export class RefreshTokenRows {
  readonly #db: Kysely<SessionTables>;

  constructor(db: Kysely<SessionTables>) {
    this.#db = db;
  }

  /** A client that shows a token may learn about its session, so the token itself is the actor here. */
  find(hash: string): Promise<ShownToken | undefined> {
    return this.#db
      .selectFrom('session_refresh_tokens as token')
      .innerJoin('session_sessions as session', 'session.id', 'token.session_id')
      .select([
        'token.id',
        'token.session_id',
        'token.issued_at',
        'token.spent_at',
        'token.spent_by',
      ])
      .select(['session.user_id', 'session.version', 'session.created_at', 'session.ended_at'])
      .where('token.hash', '=', hash)
      .executeTakeFirst();
  }

  async countChildren(token: {
    readonly id: number;
    readonly session_id: string;
  }): Promise<number> {
    const { n } = await this.#db
      .selectFrom('session_refresh_tokens')
      .select(sql<number>`count(*)`.as('n'))
      .where('session_id', '=', token.session_id)
      .where('parent_id', '=', token.id)
      .executeTakeFirstOrThrow();
    return n;
  }

  async spend(id: number, client: string, now: number): Promise<void> {
    await this.#db
      .updateTable('session_refresh_tokens')
      .set({ spent_at: now, spent_by: client })
      .where('id', '=', id)
      .execute();
  }

  /** Adds a token to its session, and removes those too old to matter. */
  async add(
    sessionId: string,
    parentId: number | null,
    { hash, family }: RefreshToken,
    now: number,
  ): Promise<void> {
    await this.#db
      .insertInto('session_refresh_tokens')
      .values({ session_id: sessionId, parent_id: parentId, hash, issued_at: now })
      .execute();
    await this.#db
      .updateTable('session_sessions')
      .set({ family, refreshed_at: now, last_used_at: now })
      .where('id', '=', sessionId)
      .execute();
    for (const spent of ['is', 'is not'] as const) {
      await this.#db
        .deleteFrom('session_refresh_tokens')
        .where('id', 'in', (rows) =>
          rows
            .selectFrom('session_refresh_tokens')
            .select('id')
            .where('session_id', '=', sessionId)
            .where('spent_at', spent, null)
            .orderBy('id', 'desc')
            .limit(Number.MAX_SAFE_INTEGER)
            .offset(keptTokens),
        )
        .execute();
    }
  }
}
