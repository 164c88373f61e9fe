import { type Generated, type Kysely, type Selectable, sql } from 'kysely';
import { type Page, pageOf, type PageRequest } from 'svc/sdk';

import type { PanelBody } from './panel.ts';
import type { PanelType } from './schema.ts';
import type { Threshold } from './thresholds.ts';
import type { Unit } from './units.ts';

export interface MonitorTables {
  monitor_panels: {
    id: Generated<number>;
    dashboard_uid: string;
    title: string;
    type: PanelType;
    query: string;
    legend: string;
    unit: Unit;
    thresholds: string;
    x: number;
    y: number;
    w: number;
    h: number;
    created_at: number;
    updated_at: number;
  };
  monitor_dashboards: { uid: string; title: string; variables: string; created_at: number; updated_at: number };
}

/** A panel that people made. */
export interface StoredPanel extends PanelBody {
  readonly id: number;
  readonly dashboardUid: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface PanelStore {
  list(uid: string | undefined, page: PageRequest): Promise<Page<StoredPanel>>;
  /** In the order in which they were made. */
  of(uid: string): Promise<readonly StoredPanel[]>;
  find(id: number): Promise<StoredPanel | undefined>;
  insert(uid: string, panel: PanelBody, now: number): Promise<StoredPanel>;
  update(id: number, uid: string, panel: PanelBody, now: number): Promise<StoredPanel>;
  remove(id: number): Promise<void>;
  removeAll(uid: string): Promise<number>;
  counts(): Promise<ReadonlyMap<string, number>>;
}

export const panelStore = (db: Kysely<MonitorTables>): PanelStore => ({
  async list(uid, page) {
    const within = db
      .selectFrom('monitor_panels')
      .selectAll()
      .$if(uid !== undefined, (query) => query.where('dashboard_uid', '=', uid!));
    const { items, ...rest } = await pageOf(within, 'id', page);
    return { ...rest, items: items.map(panelOf) };
  },

  async of(uid) {
    return (await db.selectFrom('monitor_panels').selectAll().where('dashboard_uid', '=', uid).orderBy('id').execute()).map(panelOf);
  },

  async find(id) {
    const row = await db.selectFrom('monitor_panels').selectAll().where('id', '=', id).executeTakeFirst();
    return row && panelOf(row);
  },

  async insert(uid, panel, now) {
    const row = { ...rowOf(panel), dashboard_uid: uid, created_at: now, updated_at: now };
    return panelOf(await db.insertInto('monitor_panels').values(row).returningAll().executeTakeFirstOrThrow());
  },

  async update(id, uid, panel, now) {
    return panelOf(
      await db
        .updateTable('monitor_panels')
        // Its version: two changes in one millisecond are still two.
        .set({ ...rowOf(panel), dashboard_uid: uid, updated_at: sql<number>`max(${now}, updated_at + 1)` })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow(),
    );
  },

  async remove(id) {
    await db.deleteFrom('monitor_panels').where('id', '=', id).execute();
  },

  async removeAll(uid) {
    const { numDeletedRows } = await db.deleteFrom('monitor_panels').where('dashboard_uid', '=', uid).executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  },

  async counts() {
    const rows = await db
      .selectFrom('monitor_panels')
      .select((eb) => ['dashboard_uid', eb.fn.countAll<number>().as('panels')])
      .groupBy('dashboard_uid')
      .execute();
    return new Map(rows.map(({ dashboard_uid, panels }) => [dashboard_uid, panels]));
  },
});

const rowOf = ({ position, thresholds, title, type, query, legend, unit }: PanelBody) => ({
  title,
  type,
  query,
  legend,
  unit,
  thresholds: JSON.stringify(thresholds),
  ...position,
});

const panelOf = ({ id, dashboard_uid, x, y, w, h, thresholds, created_at, updated_at, ...rest }: Selectable<MonitorTables['monitor_panels']>): StoredPanel => ({
  id,
  dashboardUid: dashboard_uid,
  ...rest,
  thresholds: JSON.parse(thresholds) as Threshold[],
  position: { x, y, w, h },
  createdAt: created_at,
  updatedAt: updated_at,
});
