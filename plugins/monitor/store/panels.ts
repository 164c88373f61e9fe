import {
  type Call,
  type Clock,
  type Page,
  type PageRequest,
  type Tables,
  timestamp,
} from 'svc/sdk';
import type { Static } from 'typebox';

import { drawingOf } from '../model/drawing.ts';
import { errors } from '../model/errors.ts';
import type { DashboardService } from './dashboard-service.ts';
import { DashboardStore, type StoredDashboard } from './dashboard-store.ts';
import { assertPanel, changed, complete, type PanelBody } from '../model/panel.ts';
import { type MonitorTables, PanelStore, type StoredPanel } from './panel-store.ts';
import { placeBelow } from '../model/position.ts';
import type { QueryCheck } from '../render/query-check.ts';
import {
  mostPanels,
  type PanelDraft,
  type PanelPatch,
  type UsersDashboardBody,
} from '../model/schema.ts';
import { assertVariables } from '../variables/variable-rules.ts';

/** The call that changes a panel: its precondition, and where the change is noted. */
export type ChangeCall = Pick<Call, 'requireMatch' | 'note'>;

export interface PanelsParts {
  readonly tables: Tables<MonitorTables>;
  readonly dashboards: DashboardService;
  readonly check: QueryCheck;
  readonly clock: Clock;
}

export interface UsersDashboard extends Omit<StoredDashboard, 'title'> {
  readonly title: string | null;
  readonly panels: readonly PanelBody[];
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
    const { tables, dashboards, clock } = this.#parts;
    const beside = (await dashboards.find(uid))?.panels.map(({ position }) => position) ?? [];
    const panel = complete(sketch, placeBelow(beside));
    await this.#assertWorks(uid, panel);
    return await tables.write(async (tx) => {
      const store = new PanelStore(tx);
      await assertRoom(store, uid, 1);
      const made = await store.insert(uid, panel, clock.now());
      call.note({ resourceId: made.id, after: shownPanel(made) });
      return made;
    });
  }

  async update(
    call: ChangeCall,
    id: number,
    { dashboard_uid: uid, ...changes }: Static<typeof PanelPatch>,
  ): Promise<StoredPanel> {
    const { tables, clock } = this.#parts;
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
      const after = await store.update(
        id,
        home,
        {
          ...changed(before, changes),
          ...(before.origin !== undefined && { origin: before.origin }),
        },
        clock.now(),
      );
      call.note({ before: shownPanel(before), after: shownPanel(after) });
      return after;
    });
  }

  remove(call: ChangeCall, id: number): Promise<void> {
    return this.#parts.tables.write(async (tx) => {
      const store = new PanelStore(tx);
      const before = await existing(id, store);
      call.requireMatch(shownPanel(before));
      await store.remove(id);
      if ((await store.of(before.dashboardUid)).length === 0) {
        await new DashboardStore(tx).remove(before.dashboardUid);
      }
      call.note({ before: shownPanel(before) });
    });
  }

  /** Saves a whole dashboard; with `overwrite` it replaces the users' one of its uid. */
  importDashboard(
    call: ChangeCall,
    dashboard: StoredDashboard,
    panels: readonly (PanelBody & { readonly origin?: string })[],
    overwrite: boolean,
  ): Promise<readonly StoredPanel[]> {
    const { tables, dashboards, clock } = this.#parts;
    const { uid, title } = dashboard;
    return tables.write(async (tx) => {
      const store = new PanelStore(tx);
      const owner = dashboards.pluginOf(uid);
      if (owner !== undefined) {
        throw errors.dashboard_of_plugin({ uid, owner });
      }
      const before = await store.of(uid);
      if (before.length > 0 && !overwrite) {
        throw errors.dashboard_has_panels({ uid, count: before.length });
      }
      await store.removeAll(uid);
      await assertRoom(store, uid, panels.length);
      await new DashboardStore(tx).put(dashboard, clock.now());
      const made: StoredPanel[] = [];
      for (const panel of panels) {
        made.push(await store.insert(uid, panel, clock.now()));
      }
      call.note({
        resourceType: 'dashboard',
        resourceId: uid,
        before: { panels: before.length },
        after: { title, panels: made.length },
      });
      return made;
    });
  }

  /**
   * Returns user content by dashboard uid: all of a user's dashboard, and the panels added to a
   * plugin's.
   */
  async whole(): Promise<readonly UsersDashboard[]> {
    const { tables, dashboards } = this.#parts;
    const [store, stored] = [
      new PanelStore(tables.read),
      new Map((await new DashboardStore(tables.read).all()).map((one) => [one.uid, one])),
    ];
    const uids = [...(await store.counts()).keys()].toSorted();
    return await Promise.all(
      uids.map(async (uid) => {
        const { title = uid, variables = [] } = stored.get(uid) ?? {};
        const own =
          dashboards.pluginOf(uid) === undefined
            ? { title, variables }
            : { title: null, variables: [] };
        return { uid, ...own, panels: (await store.of(uid)).map(bodyOf) };
      }),
    );
  }

  /** Replaces the user content in one step. */
  async put(
    call: ChangeCall,
    uid: string,
    { title, variables = [], panels: sketches }: Static<typeof UsersDashboardBody>,
  ): Promise<UsersDashboard> {
    const { tables, dashboards, clock, check } = this.#parts;
    const owner = dashboards.pluginOf(uid);
    if (owner !== undefined && ((title ?? null) !== null || variables.length > 0)) {
      throw errors.panels_alone({ uid, owner });
    }
    assertVariables(variables);
    const known = owner === undefined ? variables : ((await dashboards.find(uid))?.variables ?? []);
    const panels: PanelBody[] = [];
    for (const sketch of sketches) {
      const panel = complete(sketch, placeBelow(panels.map(({ position }) => position)));
      assertPanel(panel);
      await check(panel, known);
      panels.push(panel);
    }
    const shown = {
      uid,
      title: owner === undefined ? (title ?? uid) : null,
      variables: [...variables],
      panels,
    };
    await tables.write(async (tx) => {
      const store = new PanelStore(tx);
      const before = await store.removeAll(uid);
      await assertRoom(store, uid, panels.length);
      if (shown.title !== null) {
        await new DashboardStore(tx).put({ uid, title: shown.title, variables }, clock.now());
      }
      for (const panel of panels) {
        await store.insert(uid, panel, clock.now());
      }
      call.note({
        resourceType: 'dashboard',
        resourceId: uid,
        before: { panels: before },
        after: { title: shown.title, panels: panels.length },
      });
    });
    return shown;
  }

  /** Everything that users have under a uid. */
  removeDashboard(call: ChangeCall, uid: string): Promise<void> {
    return this.#parts.tables.write(async (tx) => {
      call.note({ resourceType: 'dashboard', resourceId: uid });
      const panels = await new PanelStore(tx).removeAll(uid);
      if (panels === 0) {
        throw errors.no_users_panels({ uid });
      }
      await new DashboardStore(tx).remove(uid);
      call.note({ before: { panels } });
    });
  }

  async #assertWorks(uid: string, panel: PanelBody): Promise<void> {
    assertPanel(panel);
    await this.#parts.check(panel, (await this.#parts.dashboards.find(uid))?.variables ?? []);
  }
}

/** Returns the body of a panel, without its row. */
const bodyOf = (panel: PanelBody): PanelBody => ({
  title: panel.title,
  type: panel.type,
  query: panel.query,
  legend: panel.legend,
  unit: panel.unit,
  thresholds: panel.thresholds,
  position: panel.position,
  ...drawingOf(panel),
});

/** Inside of the write, where no other call adds one. */
async function assertRoom(store: PanelStore, uid: string, more: number): Promise<void> {
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
