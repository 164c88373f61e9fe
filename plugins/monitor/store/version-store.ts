import type { Kysely, Selectable } from 'kysely';
import { sql } from 'kysely';

import { pageOf, type Page, type PageRequest } from 'svc/sdk';

import type { UsersContent } from '../model/users-dashboard.ts';
import type { MonitorTables } from './panel-store.ts';

/** State of a dashboard after a change. */
export interface Version {
  readonly version: number;
  /** Empty for what was there before the first change that was kept. */
  readonly author: string;
  readonly madeAt: number;
  /** Undefined if the change deleted the dashboard. */
  readonly content: UsersContent | undefined;
}

export const mostVersions = 50;
/** Limit for one dashboard; its last two versions stay, however large they are. */
const mostBytes = 8 * 1_048_576;
/** Limit for all dashboards, deleted ones included: the oldest versions go first. */
const mostBytesOfAll = 128 * 1_048_576;

export class VersionStore {
  readonly #db: Kysely<MonitorTables>;

  constructor(db: Kysely<MonitorTables>) {
    this.#db = db;
  }

  /** Returns the versions of a dashboard, newest first. */
  async list(uid: string, page: PageRequest): Promise<Page<Version>> {
    const { items, ...rest } = await pageOf(
      this.#db.selectFrom('monitor_versions').selectAll().where('uid', '=', uid),
      'id',
      page,
    );
    return { ...rest, items: items.map(versionOf) };
  }

  async find(uid: string, version: number): Promise<Version | undefined> {
    const row = await this.#db
      .selectFrom('monitor_versions')
      .selectAll()
      .where('uid', '=', uid)
      .where('version', '=', version)
      .executeTakeFirst();
    return row && versionOf(row);
  }

  /** Returns the version before one; undefined if it is not kept, or was the first. */
  async before(uid: string, version: number): Promise<Version | undefined> {
    const row = await this.#db
      .selectFrom('monitor_versions')
      .selectAll()
      .where('uid', '=', uid)
      .where('version', '<', version)
      .orderBy('version', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row && versionOf(row);
  }

  /** Returns the number of the last version; 0 without any. */
  async last(uid: string): Promise<number> {
    const row = await this.#db
      .selectFrom('monitor_versions')
      .select('version')
      .where('uid', '=', uid)
      .orderBy('version', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row?.version ?? 0;
  }

  /** Keeps a state as the next version, and lets go of the oldest ones. */
  async add(
    uid: string,
    content: UsersContent | undefined,
    author: string,
    now: number,
  ): Promise<void> {
    const text = content === undefined ? '' : JSON.stringify(content);
    const version = (await this.last(uid)) + 1;
    await this.#db
      .insertInto('monitor_versions')
      .values({
        uid,
        version,
        author,
        made_at: now,
        bytes: Buffer.byteLength(text),
        content: text,
      })
      .execute();
    await this.#thin(uid, version);
  }

  async #thin(uid: string, newest: number): Promise<void> {
    const rows = await this.#db
      .selectFrom('monitor_versions')
      .select(['version', 'bytes'])
      .where('uid', '=', uid)
      .orderBy('version', 'desc')
      .execute();
    let bytes = 0;
    const last = rows.findIndex(({ bytes: more }, at) => {
      bytes += more;
      return at >= mostVersions || (at >= 2 && bytes > mostBytes);
    });
    if (last >= 0) {
      await this.#db
        .deleteFrom('monitor_versions')
        .where('uid', '=', uid)
        .where('version', '<=', rows[last]!.version)
        .where('version', '<', newest)
        .execute();
    }
    await sql`
      DELETE FROM monitor_versions WHERE id <= coalesce((
        SELECT id FROM (SELECT id, sum(bytes) OVER (ORDER BY id DESC) AS total FROM monitor_versions) AS sized
        WHERE total > ${mostBytesOfAll} ORDER BY id DESC LIMIT 1), 0)`.execute(this.#db);
  }
}

const versionOf = ({
  version,
  author,
  made_at,
  content,
}: Selectable<MonitorTables['monitor_versions']>): Version => ({
  version,
  author,
  madeAt: made_at,
  content: content === '' ? undefined : (JSON.parse(content) as UsersContent),
});
