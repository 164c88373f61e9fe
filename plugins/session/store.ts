import { type Kysely, sql } from 'kysely';
import { type Page, pageOf, type PageRequest, type Principal, SvcError, type Tables } from 'svc/sdk';

import { expiredApiTokenMs, sessionIdleMs, sessionMs } from './lifetimes.ts';
import type { Reach } from './reach.ts';
import type { RefreshToken } from './refresh-tokens.ts';
import type { ApiTokenRow, SessionRow, SessionTables, ShownSession, ShownToken } from './tables.ts';

export type Rows = ReturnType<typeof rowsOver>;

/** The tables of this room: committed rows to read, and rows within one transaction. */
export interface Store {
  readonly read: Rows;
  write<R>(work: (rows: Rows) => Promise<R>): Promise<R>;
}

export const createStore = ({ read, write }: Tables<SessionTables>): Store => ({ read: rowsOver(read), write: (work) => write((tx) => work(rowsOver(tx))) });

/** Refresh tokens of a session that are kept, spent and unspent each. */
const keptTokens = 20;

const rowsOver = (db: Kysely<SessionTables>) => ({
  keys: () => db.selectFrom('session_keys').selectAll().orderBy('created_at').orderBy('kid').execute(),

  async addKey(kid: string, sealed: string, now: number): Promise<void> {
    await db.insertInto('session_keys').values({ kid, sealed, created_at: now }).execute();
  },

  async dropKeys(kids: readonly string[]): Promise<void> {
    await db.deleteFrom('session_keys').where('kid', 'in', kids).execute();
  },

  async addSession(session: Omit<SessionRow, 'ended_at'>): Promise<void> {
    await db.insertInto('session_sessions').values(session).execute();
  },

  /** Live sessions of one person, newest first. */
  sessionsOf(userId: number, now: number, page: PageRequest): Promise<Page<SessionRow>> {
    const live = db
      .selectFrom('session_sessions')
      .selectAll()
      .where('user_id', '=', userId)
      .where('ended_at', 'is', null)
      .where('created_at', '>', now - sessionMs)
      .where('refreshed_at', '>', now - sessionIdleMs);
    return pageOf(live, 'id', page);
  },

  /** Ends a session in reach of the actor that has not ended yet; tells whose it was. */
  endSession: (reach: Reach, id: string, now: number): Promise<Ended | undefined> =>
    db
      .updateTable('session_sessions')
      .set({ ended_at: now })
      .where('id', '=', id)
      .where('ended_at', 'is', null)
      .$if(reach !== 'everyone', (query) => query.where('user_id', '=', Number(reach)))
      .returning(['id', 'user_id'])
      .executeTakeFirst(),

  /** Ends every session of a person. */
  endAll: (userId: number, now: number): Promise<Ended[]> =>
    db
      .updateTable('session_sessions')
      .set({ ended_at: now })
      .where('user_id', '=', userId)
      .where('ended_at', 'is', null)
      .returning(['id', 'user_id'])
      .execute(),

  /** Ends all but the newest `kept` sessions of a person. */
  endOldest: (userId: number, kept: number, now: number): Promise<Ended[]> =>
    db
      .updateTable('session_sessions')
      .set({ ended_at: now })
      .where('id', 'in', (rows) =>
        rows
          .selectFrom('session_sessions')
          .select('id')
          .where('user_id', '=', userId)
          .where('ended_at', 'is', null)
          .orderBy('id', 'desc')
          .limit(-1)
          .offset(kept),
      )
      .returning(['id', 'user_id'])
      .execute(),

  /** Ends the sessions of a person that are not of this version of the account; all of them when there is none. */
  endOutdated: (userId: number, version: number | undefined, now: number): Promise<Ended[]> =>
    db
      .updateTable('session_sessions')
      .set({ ended_at: now })
      .where('user_id', '=', userId)
      .where('ended_at', 'is', null)
      .$if(version !== undefined, (query) => query.where('version', '!=', version!))
      .returning(['id', 'user_id'])
      .execute(),

  endedSince: (since: number) => db.selectFrom('session_sessions').select(['id', 'ended_at']).where('ended_at', '>', since).execute(),

  /** Whoever shows a token may learn about its session, so the token itself is the actor here. */
  refreshToken: (hash: string): Promise<ShownToken | undefined> =>
    db
      .selectFrom('session_refresh_tokens as token')
      .innerJoin('session_sessions as session', 'session.id', 'token.session_id')
      .select(['token.id', 'token.session_id', 'token.issued_at', 'token.spent_at', 'token.spent_by'])
      .select(['session.user_id', 'session.version', 'session.created_at', 'session.ended_at'])
      .where('token.hash', '=', hash)
      .executeTakeFirst(),

  /** The session whose tokens share this part. */
  familySession: (family: string): Promise<ShownSession | undefined> =>
    db
      .selectFrom('session_sessions')
      .select(['id as session_id', 'user_id', 'version', 'created_at', 'ended_at'])
      .where('family', '=', family)
      .executeTakeFirst(),

  async childrenOf(token: { readonly id: number; readonly session_id: string }): Promise<number> {
    return await count(db.selectFrom('session_refresh_tokens').select(counted).where('session_id', '=', token.session_id).where('parent_id', '=', token.id));
  },

  async spend(id: number, client: string, now: number): Promise<void> {
    await db.updateTable('session_refresh_tokens').set({ spent_at: now, spent_by: client }).where('id', '=', id).execute();
  },

  /** Adds a refresh token to its session, and forgets those too old to matter. */
  async addRefreshToken(sessionId: string, parentId: number | null, { hash, family }: RefreshToken, now: number): Promise<void> {
    await db.insertInto('session_refresh_tokens').values({ session_id: sessionId, parent_id: parentId, hash, issued_at: now }).execute();
    await db.updateTable('session_sessions').set({ family, refreshed_at: now, last_used_at: now }).where('id', '=', sessionId).execute();
    for (const spent of ['is', 'is not'] as const) {
      await db
        .deleteFrom('session_refresh_tokens')
        .where('id', 'in', (rows) =>
          rows
            .selectFrom('session_refresh_tokens')
            .select('id')
            .where('session_id', '=', sessionId)
            .where('spent_at', spent, null)
            .orderBy('id', 'desc')
            .limit(-1)
            .offset(keptTokens),
        )
        .execute();
    }
  },

  /** Of the account, as the session of this actor began. */
  async versionOf({ session = '' }: Principal): Promise<number> {
    const found = await db.selectFrom('session_sessions').select('version').where('id', '=', session).executeTakeFirst();
    if (!found) {
      throw new SvcError('unauthorized', 'this session is over; sign in again');
    }
    return found.version;
  },

  async addApiToken(token: Omit<ApiTokenRow, 'id' | 'last_used_at'>): Promise<ApiTokenRow> {
    return await db.insertInto('session_api_tokens').values(token).returningAll().executeTakeFirstOrThrow();
  },

  countApiTokens: (userId: number): Promise<number> => count(db.selectFrom('session_api_tokens').select(counted).where('user_id', '=', userId)),

  apiTokensOf: (userId: number, page: PageRequest): Promise<Page<ApiTokenRow>> =>
    pageOf(db.selectFrom('session_api_tokens').selectAll().where('user_id', '=', userId), 'id', page),

  /** As with refresh tokens: whoever shows it is the actor. */
  apiToken: (hash: string): Promise<ApiTokenRow | undefined> => db.selectFrom('session_api_tokens').selectAll().where('hash', '=', hash).executeTakeFirst(),

  removeApiToken: (reach: Reach, id: number): Promise<ApiTokenRow | undefined> =>
    db
      .deleteFrom('session_api_tokens')
      .where('id', '=', id)
      .$if(reach !== 'everyone', (query) => query.where('user_id', '=', Number(reach)))
      .returningAll()
      .executeTakeFirst(),

  async noteUse(of: 'session_sessions' | 'session_api_tokens', id: string | number, at: number): Promise<void> {
    await db
      .updateTable(of)
      .set({ last_used_at: at })
      .where('id', '=', id as never)
      .where((row) => row.or([row('last_used_at', 'is', null), row('last_used_at', '<', at)]))
      .execute();
  },

  setupToken: () => db.selectFrom('session_setup').select(['hash', 'expires_at']).executeTakeFirst(),

  async setSetupToken(hash: string, expiresAt: number): Promise<void> {
    await db.replaceInto('session_setup').values({ id: 1, hash, expires_at: expiresAt }).execute();
  },

  async dropSetupToken(): Promise<void> {
    await db.deleteFrom('session_setup').execute();
  },

  /** Uses the set-up token up, or throws: of two who show it at once, one makes the administrator. */
  async spendSetupToken(hash: string, now: number): Promise<void> {
    const { numDeletedRows } = await db.deleteFrom('session_setup').where('hash', '=', hash).where('expires_at', '>', now).executeTakeFirstOrThrow();
    if (numDeletedRows === 0n) {
      throw new SvcError('unauthorized', 'the set-up token was used already');
    }
  },

  /** Forgets what is over. A session that ended is kept while its access tokens could still be shown. */
  async purge(now: number, endedBefore: number): Promise<void> {
    await db
      .deleteFrom('session_sessions')
      .where((row) => row.or([row('ended_at', '<', endedBefore), row('created_at', '<', now - sessionMs), row('refreshed_at', '<', now - sessionIdleMs)]))
      .execute();
    await db
      .deleteFrom('session_api_tokens')
      .where('expires_at', '<', now - expiredApiTokenMs)
      .execute();
  },
});

export interface Ended {
  readonly id: string;
  readonly user_id: number;
}

const counted = sql<number>`count(*)`.as('n');

async function count(query: { executeTakeFirstOrThrow(): Promise<{ readonly n: number }> }): Promise<number> {
  return (await query.executeTakeFirstOrThrow()).n;
}
