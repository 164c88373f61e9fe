import type { Kysely } from 'kysely';

import type { Origin, Variable } from '../model/dashboard.ts';
import type { MonitorTables } from './panel-store.ts';

/** A dashboard that users imported; its panels are rows of their own. */
export interface StoredDashboard {
  readonly uid: string;
  readonly title: string;
  readonly variables: readonly Variable[];
  /** What it was imported from. */
  readonly origin?: Origin;
}

export class DashboardStore {
  readonly #db: Kysely<MonitorTables>;

  constructor(db: Kysely<MonitorTables>) {
    this.#db = db;
  }

  async all(): Promise<readonly StoredDashboard[]> {
    return (
      await this.#db.selectFrom('monitor_dashboards').selectAll().orderBy('uid').execute()
    ).map(dashboardOf);
  }

  async find(uid: string): Promise<StoredDashboard | undefined> {
    const row = await this.#db
      .selectFrom('monitor_dashboards')
      .selectAll()
      .where('uid', '=', uid)
      .executeTakeFirst();
    return row && dashboardOf(row);
  }

  async put({ uid, title, variables, origin }: StoredDashboard, now: number): Promise<void> {
    const changed = {
      title,
      variables: JSON.stringify(variables),
      origin: origin === undefined ? '' : JSON.stringify(origin),
      updated_at: now,
    };
    await this.#db
      .insertInto('monitor_dashboards')
      .values({ uid, ...changed, created_at: now })
      .onConflict((found) => found.column('uid').doUpdateSet(changed))
      .execute();
  }

  async remove(uid: string): Promise<void> {
    await this.#db.deleteFrom('monitor_dashboards').where('uid', '=', uid).execute();
  }
}

const dashboardOf = ({
  uid,
  title,
  variables,
  origin,
}: {
  uid: string;
  title: string;
  variables: string;
  origin: string;
}): StoredDashboard => ({
  uid,
  title,
  variables: JSON.parse(variables) as Variable[],
  ...(origin !== '' && { origin: JSON.parse(origin) as Origin }),
});
