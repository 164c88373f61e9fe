import type { Kysely } from 'kysely';

import type { Variable } from './dashboard.ts';
import type { MonitorTables } from './panel-store.ts';

/** A dashboard that people took over; its panels are rows of their own. */
export interface StoredDashboard {
  readonly uid: string;
  readonly title: string;
  readonly variables: readonly Variable[];
}

export interface DashboardStore {
  all(): Promise<readonly StoredDashboard[]>;
  find(uid: string): Promise<StoredDashboard | undefined>;
  put(dashboard: StoredDashboard, now: number): Promise<void>;
  remove(uid: string): Promise<boolean>;
}

export const dashboardStore = (db: Kysely<MonitorTables>): DashboardStore => ({
  async all() {
    return (await db.selectFrom('monitor_dashboards').selectAll().orderBy('uid').execute()).map(dashboardOf);
  },

  async find(uid) {
    const row = await db.selectFrom('monitor_dashboards').selectAll().where('uid', '=', uid).executeTakeFirst();
    return row && dashboardOf(row);
  },

  async put({ uid, title, variables }, now) {
    const changed = { title, variables: JSON.stringify(variables), updated_at: now };
    await db
      .insertInto('monitor_dashboards')
      .values({ uid, ...changed, created_at: now })
      .onConflict((found) => found.column('uid').doUpdateSet(changed))
      .execute();
  },

  async remove(uid) {
    const { numDeletedRows } = await db.deleteFrom('monitor_dashboards').where('uid', '=', uid).executeTakeFirstOrThrow();
    return numDeletedRows > 0n;
  },
});

const dashboardOf = ({ uid, title, variables }: { uid: string; title: string; variables: string }): StoredDashboard => ({
  uid,
  title,
  variables: JSON.parse(variables) as Variable[],
});
