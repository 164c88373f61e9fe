import { type Clock, type Page, type PageRequest, type Tables, timestamp } from 'svc/sdk';
import type { Static } from 'typebox';

import { errors } from '../model/errors.ts';
import type { DashboardService } from './dashboard-service.ts';
import { DashboardStore } from './dashboard-store.ts';
import type { ChangeCall, History } from './history.ts';
import { assertPanel, changed, complete, type PanelBody } from '../model/panel.ts';
import { type MonitorTables, PanelStore, type StoredPanel } from './panel-store.ts';
import { placeBelow } from '../model/position.ts';
import type { QueryCheck } from '../render/query-check.ts';
import { mostPanels, type PanelDraft, type PanelPatch } from '../model/schema.ts';
import { bodyOf } from '../model/users-dashboard.ts';

export interface PanelsParts {
  readonly tables: Tables<MonitorTables>;
  readonly dashboards: DashboardService;
  readonly history: History;
  readonly check: QueryCheck;
  readonly clock: Clock;
}

const mostOfAll = 20_000;

/** Panels that users put on dashboards. */
export class Panels {
  readonly #parts: PanelsParts;

  constructor(parts: PanelsParts) {
    this.#parts = parts;
  }

  list(uid: string | undefined, page: PageRequest): Promise<Page<StoredPanel>> {
    return new PanelStore(this.#parts.tables.read).list(uid, page);
  }

  async create(
    call: ChangeCall,
    { dashboard_uid: uid, ...sketch }: Static<typeof PanelDraft>,
  ): Promise<StoredPanel> {
    const { tables, dashboards, history, clock } = this.#parts;
    const beside = (await dashboards.find(uid))?.panels.map(({ position }) => position) ?? [];
    const panel = complete(sketch, placeBelow(beside));
    await this.#assertWorks(uid, panel);
    return await tables.write(async (tx) => {
      const store = new PanelStore(tx);
      await assertRoom(store, uid, 1);
      const made = await history.keep(tx, call, uid, () => store.insert(uid, panel, clock.now()));
      call.note({ resourceId: made.id, after: shownPanel(made) });
      return made;
    });
  }

  async update(
    call: ChangeCall,
    id: number,
    { dashboard_uid: uid, ...changes }: Static<typeof PanelPatch>,
  ): Promise<StoredPanel> {
    const { tables, history, clock } = this.#parts;
    const found = await existing(id, new PanelStore(tables.read));
    const home = uid ?? found.dashboardUid;
    await this.#assertWorks(home, changed(found, changes));
    return await tables.write(async (tx) => {
      const store = new PanelStore(tx);
      const before = await existing(id, store);
      call.requireMatch(shownPanel(before));
      if (before.updatedAt !== found.updatedAt) {
        throw errors.panel_changed({ id });
      }
      if (home !== before.dashboardUid) {
        await assertRoom(store, home, 1);
      }
      const body = {
        ...changed(before, changes),
        ...(before.origin !== undefined && { origin: before.origin }),
      };
      const change = () =>
        history.keep(tx, call, home, () => store.update(id, home, body, clock.now()));
      const after =
        home === before.dashboardUid
          ? await change()
          : await history.keep(tx, call, before.dashboardUid, change);
      call.note({ before: shownPanel(before), after: shownPanel(after) });
      return after;
    });
  }

  remove(call: ChangeCall, id: number): Promise<void> {
    return this.#parts.tables.write(async (tx) => {
      const store = new PanelStore(tx);
      const before = await existing(id, store);
      call.requireMatch(shownPanel(before));
      const { dashboardUid: uid } = before;
      await this.#parts.history.keep(tx, call, uid, async () => {
        await store.remove(id);
        if ((await store.of(uid)).length === 0) {
          await new DashboardStore(tx).remove(uid);
        }
      });
      call.note({ before: shownPanel(before) });
    });
  }

  async #assertWorks(uid: string, panel: PanelBody): Promise<void> {
    assertPanel(panel);
    await this.#parts.check(panel, (await this.#parts.dashboards.find(uid))?.variables ?? []);
  }
}

/** Inside of the write, where no other call adds one. */
export async function assertRoom(store: PanelStore, uid: string, more: number): Promise<void> {
  const counts = await store.counts();
  if ((counts.get(uid) ?? 0) + more > mostPanels) {
    throw errors.too_many_on_dashboard({ uid, max: mostPanels });
  }
  if ([...counts.values()].reduce((sum, count) => sum + count, more) > mostOfAll) {
    throw errors.too_many_panels({ max: mostOfAll });
  }
}

async function existing(id: number, store: PanelStore): Promise<StoredPanel> {
  const panel = await store.find(id);
  if (panel === undefined) {
    throw errors.no_panel({ id });
  }
  return panel;
}

export const shownPanel = (panel: StoredPanel) => ({
  id: panel.id,
  dashboard_uid: panel.dashboardUid,
  ...bodyOf(panel),
  thresholds: [...panel.thresholds],
  created_at: timestamp(panel.createdAt),
  updated_at: timestamp(panel.updatedAt),
});
