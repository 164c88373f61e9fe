import type { Kysely } from 'kysely';

import type { ImTables, NoticeRow } from './tables.ts';

/** Key of a notice: one in each conversation for each incident. */
export type NoticeKey = Pick<NoticeRow, 'app_id' | 'conversation' | 'incident_id'>;

const keyColumns = ['app_id', 'conversation', 'incident_id'] as const;

/** Messages that tell of incidents, within a read or one transaction. */
export class NoticeStore {
  readonly #db: Kysely<ImTables>;

  constructor(db: Kysely<ImTables>) {
    this.#db = db;
  }

  find(key: NoticeKey): Promise<NoticeRow | undefined> {
    return this.#db
      .selectFrom('imbridge_notices')
      .selectAll()
      .where('app_id', '=', key.app_id)
      .where('conversation', '=', key.conversation)
      .where('incident_id', '=', key.incident_id)
      .executeTakeFirst();
  }

  ofIncident(incident: number): Promise<NoticeRow[]> {
    return this.#db
      .selectFrom('imbridge_notices')
      .selectAll()
      .where('incident_id', '=', incident)
      .execute();
  }

  /** Returns the incident that one of these messages tells of. */
  async incidentOf(
    appId: string,
    conversation: string,
    messages: readonly string[],
  ): Promise<number | undefined> {
    const row = await this.#db
      .selectFrom('imbridge_notices')
      .select('incident_id')
      .where('app_id', '=', appId)
      .where('conversation', '=', conversation)
      .where('message', 'in', [...messages])
      .executeTakeFirst();
    return row?.incident_id;
  }

  /** Returns the incidents that were told of last. */
  async latest(most: number): Promise<readonly number[]> {
    const rows = await this.#db
      .selectFrom('imbridge_notices')
      .select('incident_id')
      .distinct()
      .orderBy('incident_id', 'desc')
      .limit(most)
      .execute();
    return rows.map(({ incident_id: id }) => id);
  }

  async put(row: NoticeRow): Promise<void> {
    await this.#db
      .insertInto('imbridge_notices')
      .values(row)
      .onConflict((on) => on.columns(keyColumns).doUpdateSet(row))
      .execute();
  }

  /** Notes up to which event the thread has followed its incident; never goes back. */
  async tell(key: NoticeKey, told: number): Promise<void> {
    await this.#change(key, { told }, told);
  }

  async show(key: NoticeKey, change: Partial<Pick<NoticeRow, 'shown' | 'body'>>): Promise<void> {
    await this.#change(key, change);
  }

  async forget(before: number): Promise<void> {
    await this.#db.deleteFrom('imbridge_notices').where('created_at', '<', before).execute();
  }

  async #change(key: NoticeKey, change: Partial<NoticeRow>, toldBefore?: number): Promise<void> {
    await this.#db
      .updateTable('imbridge_notices')
      .set(change)
      .where('app_id', '=', key.app_id)
      .where('conversation', '=', key.conversation)
      .where('incident_id', '=', key.incident_id)
      .$if(toldBefore !== undefined, (query) => query.where('told', '<', toldBefore!))
      .execute();
  }
}
