import { type Call, type Clock, type Page, type PageRequest, SvcError, type Tables, timestamp } from 'svc/sdk';
import type { Static } from 'typebox';

import type { DashboardBook } from './dashboard-book.ts';
import { dashboardStore, type StoredDashboard } from './dashboard-store.ts';
import { assertPanel, complete, type PanelBody } from './panel.ts';
import { type MonitorTables, panelStore, type PanelStore, type StoredPanel } from './panel-store.ts';
import { placeBelow } from './position.ts';
import type { QueryCheck } from './query-check.ts';
import type { PanelDraft, PanelPatch } from './schema.ts';

/** What a change needs to know of the call that asks for it. */
type By = Pick<Call, 'requireMatch' | 'note'>;

export interface Panels {
  list(uid: string | undefined, page: PageRequest): Promise<Page<StoredPanel>>;
  create(by: By, draft: Static<typeof PanelDraft>): Promise<StoredPanel>;
  update(by: By, id: number, changes: Static<typeof PanelPatch>): Promise<StoredPanel>;
  remove(by: By, id: number): Promise<void>;
  /** A whole dashboard at once; what people had under its uid makes room when it may. */
  take(by: By, dashboard: StoredDashboard, panels: readonly PanelBody[], overwrite: boolean): Promise<readonly StoredPanel[]>;
  /** Everything that people have under a uid. */
  clear(by: By, uid: string): Promise<void>;
}

export interface PanelsParts {
  readonly tables: Tables<MonitorTables>;
  readonly book: DashboardBook;
  readonly check: QueryCheck;
  readonly clock: Clock;
}

/** Of a dashboard, whoever brings them. */
const mostOfOne = 100;
const mostOfAll = 5_000;

export function createPanels({ tables, book, check, clock }: PanelsParts): Panels {
  const { read, write } = tables;

  async function assertGood(uid: string, panel: PanelBody): Promise<void> {
    assertPanel(panel);
    await check(panel, (await book.find(uid))?.variables ?? []);
  }

  /** Inside of the write, where nobody else adds one. */
  async function assertRoom(store: PanelStore, uid: string, more: number): Promise<void> {
    const counts = await store.counts();
    if ((counts.get(uid) ?? 0) + more > mostOfOne) {
      throw new SvcError('conflict', `the dashboard ${uid} would have more than ${mostOfOne} panels of its own; put some on another`);
    }
    if ([...counts.values()].reduce((sum, count) => sum + count, more) > mostOfAll) {
      throw new SvcError('conflict', `there would be more than ${mostOfAll} panels; delete some that nobody needs`);
    }
  }

  return {
    list: (uid, page) => panelStore(read).list(uid, page),

    async create(by, { dashboard_uid: uid, ...sketch }) {
      const beside = (await book.find(uid))?.panels.map(({ position }) => position) ?? [];
      const panel = complete(sketch, placeBelow(beside));
      await assertGood(uid, panel);
      return await write(async (tx) => {
        const store = panelStore(tx);
        await assertRoom(store, uid, 1);
        const made = await store.insert(uid, panel, clock.now());
        by.note({ resourceId: made.id, after: shownPanel(made) });
        return made;
      });
    },

    async update(by, id, { dashboard_uid: uid, ...changes }) {
      const found = (await panelStore(read).find(id)) ?? missingPanel(id);
      const home = uid ?? found.dashboardUid;
      await assertGood(home, { ...found, ...changes });
      return await write(async (tx) => {
        const store = panelStore(tx);
        const before = (await store.find(id)) ?? missingPanel(id);
        by.requireMatch(shownPanel(before));
        if (before.updatedAt !== found.updatedAt) {
          throw new SvcError('conflict', `panel ${id} was changed by somebody else at the same time; load it again and repeat your change`);
        }
        if (home !== before.dashboardUid) {
          await assertRoom(store, home, 1);
        }
        const after = await store.update(id, home, { ...before, ...changes }, clock.now());
        by.note({ before: shownPanel(before), after: shownPanel(after) });
        return after;
      });
    },

    remove: (by, id) =>
      write(async (tx) => {
        const store = panelStore(tx);
        const before = (await store.find(id)) ?? missingPanel(id);
        by.requireMatch(shownPanel(before));
        await store.remove(id);
        if ((await store.of(before.dashboardUid)).length === 0) {
          await dashboardStore(tx).remove(before.dashboardUid);
        }
        by.note({ before: shownPanel(before) });
      }),

    take: (by, dashboard, panels, overwrite) =>
      write(async (tx) => {
        const { uid, title } = dashboard;
        const store = panelStore(tx);
        const owner = book.pluginOf(uid);
        if (owner !== undefined) {
          throw new SvcError('conflict', `the dashboard ${uid} belongs to the plugin ${owner}; choose another uid`);
        }
        const there = await store.of(uid);
        if (there.length > 0 && !overwrite) {
          throw new SvcError('conflict', `there is a dashboard ${uid} with ${there.length} panels already; choose another uid, or overwrite it`);
        }
        await store.removeAll(uid);
        await assertRoom(store, uid, panels.length);
        await dashboardStore(tx).put(dashboard, clock.now());
        const made: StoredPanel[] = [];
        for (const panel of panels) {
          made.push(await store.insert(uid, panel, clock.now()));
        }
        by.note({ resourceType: 'dashboard', resourceId: uid, before: { panels: there.length }, after: { title, panels: made.length } });
        return made;
      }),

    clear: (by, uid) =>
      write(async (tx) => {
        by.note({ resourceType: 'dashboard', resourceId: uid });
        const panels = await panelStore(tx).removeAll(uid);
        if (panels === 0) {
          throw new SvcError('not_found', `nobody has put a panel on a dashboard ${uid}`);
        }
        await dashboardStore(tx).remove(uid);
        by.note({ before: { panels } });
      }),
  };
}

export const shownPanel = ({ id, dashboardUid, title, type, query, legend, unit, thresholds, position, createdAt, updatedAt }: StoredPanel) => ({
  id,
  dashboard_uid: dashboardUid,
  ...{ title, type, query, legend, unit, thresholds: [...thresholds], position },
  created_at: timestamp(createdAt),
  updated_at: timestamp(updatedAt),
});

function missingPanel(id: number): never {
  throw new SvcError('not_found', `there is no panel ${id}`);
}
