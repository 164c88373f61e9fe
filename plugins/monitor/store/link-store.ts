import type { Kysely, Selectable } from 'kysely';
import { type Page, pageOf, type PageRequest } from 'svc/sdk';

import type { Dashboard } from '../model/dashboard.ts';
import type { MonitorTables } from './panel-store.ts';

/** A link that shows a dashboard without an account. */
export interface Link {
  readonly id: number;
  readonly dashboardUid: string;
  readonly note: string;
  readonly rangeS: number;
  readonly madeBy: string;
  /** Account that it was made with; null for who has none, such as the operator. */
  readonly makerId: number | null;
  readonly madeAt: number;
  readonly expiresAt: number;
  readonly openedAt: number | null;
}

/** Content of a link, which is not what the dashboard becomes later. */
export interface Shown {
  readonly dashboard: Dashboard;
  readonly chosen: ReadonlyMap<string, readonly string[]>;
}

export class LinkStore {
  readonly #db: Kysely<MonitorTables>;

  constructor(db: Kysely<MonitorTables>) {
    this.#db = db;
  }

  async list(uid: string | undefined, now: number, page: PageRequest): Promise<Page<Link>> {
    const { items, ...rest } = await pageOf(
      this.#db
        .selectFrom('monitor_links')
        .selectAll()
        .where('expires_at', '>', now)
        .$if(uid !== undefined, (query) => query.where('dashboard_uid', '=', uid!)),
      'id',
      page,
    );
    return { ...rest, items: items.map(linkOf) };
  }

  async find(id: number): Promise<Link | undefined> {
    const row = await this.#db
      .selectFrom('monitor_links')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    return row && linkOf(row);
  }

  /** Returns the link of a token, and what it shows. */
  async byDigest(digest: string): Promise<(Link & Shown) | undefined> {
    const row = await this.#db
      .selectFrom('monitor_links')
      .selectAll()
      .where('token_digest', '=', digest)
      .executeTakeFirst();
    return (
      row && {
        ...linkOf(row),
        dashboard: JSON.parse(row.content) as Dashboard,
        chosen: new Map(JSON.parse(row.chosen) as [string, string[]][]),
      }
    );
  }

  async count(): Promise<number> {
    const { links } = await this.#db
      .selectFrom('monitor_links')
      .select((eb) => eb.fn.countAll<number>().as('links'))
      .executeTakeFirstOrThrow();
    return links;
  }

  async add(
    {
      dashboardUid,
      note,
      rangeS,
      madeBy,
      makerId,
      madeAt,
      expiresAt,
    }: Omit<Link, 'id' | 'openedAt'>,
    { dashboard, chosen }: Shown,
    digest: string,
  ): Promise<Link> {
    return linkOf(
      await this.#db
        .insertInto('monitor_links')
        .values({
          dashboard_uid: dashboardUid,
          token_digest: digest,
          note,
          range_s: rangeS,
          chosen: JSON.stringify([...chosen]),
          made_by: madeBy,
          maker_id: makerId,
          made_at: madeAt,
          expires_at: expiresAt,
          opened_at: null,
          content: JSON.stringify(dashboard),
        })
        .returningAll()
        .executeTakeFirstOrThrow(),
    );
  }

  async opened(id: number, now: number): Promise<void> {
    await this.#db
      .updateTable('monitor_links')
      .set({ opened_at: now })
      .where('id', '=', id)
      .execute();
  }

  async remove(id: number): Promise<void> {
    await this.#db.deleteFrom('monitor_links').where('id', '=', id).execute();
  }

  async removeOf(uid: string): Promise<void> {
    await this.#db.deleteFrom('monitor_links').where('dashboard_uid', '=', uid).execute();
  }

  async removeExpired(now: number): Promise<void> {
    await this.#db.deleteFrom('monitor_links').where('expires_at', '<=', now).execute();
  }
}

const linkOf = (row: Selectable<MonitorTables['monitor_links']>): Link => ({
  id: row.id,
  dashboardUid: row.dashboard_uid,
  note: row.note,
  rangeS: row.range_s,
  madeBy: row.made_by,
  makerId: row.maker_id,
  madeAt: row.made_at,
  expiresAt: row.expires_at,
  openedAt: row.opened_at,
});
