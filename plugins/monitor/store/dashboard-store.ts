import type { Kysely } from 'kysely';

import type { Variable } from '../model/dashboard.ts';
import type { MonitorTables } from './panel-store.ts';

/** A dashboard that users imported; its panels are rows of their own. */
export interface StoredDashboard {
  readonly uid: string;
  readonly title: string;
  readonly variables: readonly Variable[];
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

  async put({ uid, title, variables }: StoredDashboard, now: number): Promise<void> {
    const changed = { title, variables: JSON.stringify(variables), updated_at: now };
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
}: {
  uid: string;
  title: string;
  variables: string;
}): StoredDashboard => ({
  uid,
  title,
  variables: JSON.parse(variables) as Variable[],
});
