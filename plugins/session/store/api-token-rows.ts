import { type Kysely, sql } from 'kysely';
import { type Page, pageOf, type PageRequest } from 'svc/sdk';

import { expiredApiTokenMs } from './lifetimes.ts';
import type { Reach } from './reach.ts';
import type { ApiTokenRow, SessionTables } from './tables.ts';

export class ApiTokenRows {
  readonly #db: Kysely<SessionTables>;

  constructor(db: Kysely<SessionTables>) {
    this.#db = db;
  }

  async add(token: Omit<ApiTokenRow, 'id' | 'last_used_at'>): Promise<ApiTokenRow> {
    return await this.#db
      .insertInto('session_api_tokens')
      .values(token)
      .returningAll()
      .executeTakeFirstOrThrow();
  }

  async count(userId: number): Promise<number> {
    const { n } = await this.#db
      .selectFrom('session_api_tokens')
      .select(sql<number>`count(*)`.as('n'))
      .where('user_id', '=', userId)
      .executeTakeFirstOrThrow();
    return n;
  }

  list(userId: number, page: PageRequest): Promise<Page<ApiTokenRow>> {
    return pageOf(
      this.#db.selectFrom('session_api_tokens').selectAll().where('user_id', '=', userId),
      'id',
      page,
    );
  }

  /** Finds a token; as with refresh tokens, whoever presents it is the actor. */
  find(hash: string): Promise<ApiTokenRow | undefined> {
    return this.#db
      .selectFrom('session_api_tokens')
      .selectAll()
      .where('hash', '=', hash)
      .executeTakeFirst();
  }

  remove(reach: Reach, id: number): Promise<ApiTokenRow | undefined> {
    return this.#db
      .deleteFrom('session_api_tokens')
      .where('id', '=', id)
      .$if(reach !== 'everyone', (query) => query.where('user_id', '=', Number(reach)))
      .returningAll()
      .executeTakeFirst();
  }

  /** Returns tokens that name an action of the area. */
  async naming(area: string): Promise<readonly ApiTokenRow[]> {
    const rows = await this.#db
      .selectFrom('session_api_tokens')
      .selectAll()
      .where(({ eb, or }) =>
        or([`%"${area}:%`, `%"read:${area}"%`].map((named) => eb('actions', 'like', named))),
      )
      .execute();
    return rows;
  }

  async narrow(id: number, actions: readonly string[]): Promise<void> {
    await this.#db
      .updateTable('session_api_tokens')
      .set({ actions: JSON.stringify(actions) })
      .where('id', '=', id)
      .execute();
  }

  async noteUse(id: number, at: number): Promise<void> {
    await this.#db
      .updateTable('session_api_tokens')
      .set({ last_used_at: at })
      .where('id', '=', id)
      .where((row) => row.or([row('last_used_at', 'is', null), row('last_used_at', '<', at)]))
      .execute();
  }

  /** Removes those that expired long ago. */
  async purge(now: number): Promise<void> {
    await this.#db
      .deleteFrom('session_api_tokens')
      .where('expires_at', '<', now - expiredApiTokenMs)
      .execute();
  }
}
