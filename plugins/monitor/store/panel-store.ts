import { type Generated, type Kysely, type Selectable, sql } from 'kysely';
import { type Page, pageOf, type PageRequest } from 'svc/sdk';

import { type Drawing, drawingOf } from '../model/drawing.ts';
import type { PanelBody } from '../model/panel.ts';
import type { PanelType } from '../model/schema.ts';
import type { Threshold } from '../model/thresholds.ts';
import type { Unit } from '../model/units.ts';

export interface MonitorTables {
  monitor_panels: {
    id: Generated<number>;
    dashboard_uid: string;
    title: string;
    /** What versions before 002 draw in place of the type in `drawing`. */
    type: PanelType;
    query: string;
    legend: string;
    unit: Unit;
    thresholds: string;
    /** JSON of `Kept`. */
    drawing: string;
    x: number;
    y: number;
    w: number;
    h: number;
    created_at: number;
    updated_at: number;
  };
  monitor_dashboards: {
    uid: string;
    title: string;
    variables: string;
    /** JSON of what the dashboard was imported from; empty without. */
    origin: string;
    created_at: number;
    updated_at: number;
  };
  monitor_links: {
    id: Generated<number>;
    dashboard_uid: string;
    token_digest: string;
    note: string;
    range_s: number;
    /** JSON of pairs of a variable and its values. */
    chosen: string;
    made_by: string;
    maker_id: number | null;
    made_at: number;
    expires_at: number;
    opened_at: number | null;
    /** JSON of the `Dashboard` that it shows. */
    content: string;
  };
  monitor_versions: {
    id: Generated<number>;
    uid: string;
    version: number;
    author: string;
    made_at: number;
    bytes: number;
    /** JSON of `UsersContent`; empty for a dashboard that was deleted. */
    content: string;
  };
}

/** A panel that a user made. */
export interface StoredPanel extends PanelBody {
  readonly id: number;
  readonly dashboardUid: string;
  /** Place in the dashboard that it was imported from. */
  readonly origin?: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export class PanelStore {
  readonly #db: Kysely<MonitorTables>;

  constructor(db: Kysely<MonitorTables>) {
    this.#db = db;
  }

  async list(uid: string | undefined, page: PageRequest): Promise<Page<StoredPanel>> {
    const within = this.#db
      .selectFrom('monitor_panels')
      .selectAll()
      .$if(uid !== undefined, (query) => query.where('dashboard_uid', '=', uid!));
    const { items, ...rest } = await pageOf(within, 'id', page);
    return { ...rest, items: items.map(panelOf) };
  }

  /** Returns panels in the order of creation. */
  async of(uid: string): Promise<readonly StoredPanel[]> {
    return (
      await this.#db
        .selectFrom('monitor_panels')
        .selectAll()
        .where('dashboard_uid', '=', uid)
        .orderBy('id')
        .execute()
    ).map(panelOf);
  }

  async find(id: number): Promise<StoredPanel | undefined> {
    const row = await this.#db
      .selectFrom('monitor_panels')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    return row && panelOf(row);
  }

  async insert(uid: string, panel: PanelBody & Kept, now: number): Promise<StoredPanel> {
    const row = { ...rowOf(panel), dashboard_uid: uid, created_at: now, updated_at: now };
    return panelOf(
      await this.#db
        .insertInto('monitor_panels')
        .values(row)
        .returningAll()
        .executeTakeFirstOrThrow(),
    );
  }

  async update(
    id: number,
    uid: string,
    panel: PanelBody & Kept,
    now: number,
  ): Promise<StoredPanel> {
    return panelOf(
      await this.#db
        .updateTable('monitor_panels')
        // Its version: two changes in one millisecond are still two.
        .set({
          ...rowOf(panel),
          dashboard_uid: uid,
          updated_at: sql<number>`max(${now}, updated_at + 1)`,
        })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow(),
    );
  }

  async remove(id: number): Promise<void> {
    await this.#db.deleteFrom('monitor_panels').where('id', '=', id).execute();
  }

  async removeAll(uid: string): Promise<number> {
    const { numDeletedRows } = await this.#db
      .deleteFrom('monitor_panels')
      .where('dashboard_uid', '=', uid)
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  }

  /** Returns the number of panels of each dashboard. */
  async counts(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#db
      .selectFrom('monitor_panels')
      .select((eb) => ['dashboard_uid', eb.fn.countAll<number>().as('panels')])
      .groupBy('dashboard_uid')
      .execute();
    return new Map(rows.map(({ dashboard_uid, panels }) => [dashboard_uid, panels]));
  }
}

/** Part of a panel that is kept in one column. */
interface Kept extends Drawing {
  readonly type?: PanelType;
  readonly origin?: string;
}

/** Types of the first version, which its table checks, and what stands in for the others there. */
const standIns: Readonly<Record<PanelType, PanelType>> = {
  timeseries: 'timeseries',
  stat: 'stat',
  gauge: 'gauge',
  table: 'table',
  logs: 'logs',
  bar_gauge: 'gauge',
  bar_chart: 'stat',
  pie_chart: 'stat',
  heatmap: 'timeseries',
  state_timeline: 'timeseries',
  status_history: 'timeseries',
  status: 'stat',
  traces: 'table',
  topology: 'table',
  text: 'table',
  row: 'table',
};

const rowOf = (panel: PanelBody & Kept) => {
  const { position, thresholds, title, type, query, legend, unit, origin } = panel;
  const kept: Kept = {
    ...drawingOf(panel),
    ...(standIns[type] !== type && { type }),
    ...(origin !== undefined && { origin }),
  };
  return {
    title,
    type: standIns[type],
    query,
    legend,
    unit,
    thresholds: JSON.stringify(thresholds),
    drawing: JSON.stringify(kept),
    ...position,
  };
};

const panelOf = ({
  id,
  dashboard_uid,
  x,
  y,
  w,
  h,
  thresholds,
  drawing,
  created_at,
  updated_at,
  ...rest
}: Selectable<MonitorTables['monitor_panels']>): StoredPanel => ({
  id,
  dashboardUid: dashboard_uid,
  ...rest,
  thresholds: JSON.parse(thresholds) as Threshold[],
  ...(JSON.parse(drawing) as Kept),
  position: { x, y, w, h },
  createdAt: created_at,
  updatedAt: updated_at,
});
