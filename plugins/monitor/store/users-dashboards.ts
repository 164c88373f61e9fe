import { isDeepStrictEqual } from 'node:util';

import type { Kysely } from 'kysely';
import type { Clock, Page, PageRequest, Tables } from 'svc/sdk';
import type { Static } from 'typebox';

import { userSource } from '../model/dashboard.ts';
import { type Difference, differences } from '../model/differences.ts';
import { errors } from '../model/errors.ts';
import { assertPanel, complete, type PanelBody, refuse } from '../model/panel.ts';
import { placeBelow } from '../model/position.ts';
import type { UsersDashboardBody } from '../model/schema.ts';
import { bodyOf, type UsersContent, type UsersPanel } from '../model/users-dashboard.ts';
import type { QueryCheck } from '../render/query-check.ts';
import { assertVariables } from '../variables/variable-rules.ts';
import type { DashboardService } from './dashboard-service.ts';
import { DashboardStore, type StoredDashboard } from './dashboard-store.ts';
import type { ChangeCall, History } from './history.ts';
import { type MonitorTables, PanelStore, type StoredPanel } from './panel-store.ts';
import { assertRoom } from './panels.ts';
import { type Version, VersionStore } from './version-store.ts';

export interface UsersDashboardsParts {
  readonly tables: Tables<MonitorTables>;
  readonly dashboards: DashboardService;
  readonly history: History;
  readonly check: QueryCheck;
  readonly clock: Clock;
}

export interface UsersDashboard extends UsersContent {
  readonly uid: string;
}

export interface Draft extends UsersDashboard {
  readonly version: number;
}

export interface ComparedVersion extends Version {
  /** Number of the version that it is compared with; 0 for none. */
  readonly against: number;
  readonly changes: readonly Difference[];
}

type Given = Pick<Static<typeof UsersDashboardBody>, 'title' | 'variables' | 'panels' | 'version'>;

/** Dashboards as users change them: each as a whole, and with its versions. */
export class UsersDashboards {
  readonly #parts: UsersDashboardsParts;

  constructor(parts: UsersDashboardsParts) {
    this.#parts = parts;
  }

  /** Saves a whole dashboard; with `overwrite` it replaces the users' one of its uid. */
  take(
    call: ChangeCall,
    dashboard: StoredDashboard,
    panels: readonly (PanelBody & { readonly origin?: string })[],
    overwrite: boolean,
  ): Promise<readonly StoredPanel[]> {
    const { tables, dashboards, history, clock } = this.#parts;
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
      const made: StoredPanel[] = [];
      await history.keep(tx, call, uid, async () => {
        await store.removeAll(uid);
        await assertRoom(store, uid, panels.length);
        await new DashboardStore(tx).put(dashboard, clock.now());
        for (const panel of panels) {
          made.push(await store.insert(uid, panel, clock.now()));
        }
      });
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
    const { tables, history } = this.#parts;
    const uids = [...(await new PanelStore(tables.read).counts()).keys()].toSorted();
    const found = await Promise.all(
      uids.map(async (uid) => ({ uid, content: await history.contentOf(tables.read, uid) })),
    );
    return found.flatMap(({ uid, content }) =>
      content === undefined ? [] : [{ uid, ...content }],
    );
  }

  /** Returns the user content of one dashboard, to be changed and put back. */
  async draft(uid: string): Promise<Draft> {
    const { tables, dashboards, history } = this.#parts;
    const { source } = await dashboards.get(uid);
    const [content, version] = await Promise.all([
      history.contentOf(tables.read, uid),
      new VersionStore(tables.read).last(uid),
    ]);
    return {
      uid,
      title: source === userSource ? uid : null,
      variables: [],
      panels: [],
      ...content,
      version,
    };
  }

  /** Replaces the user content in one step; panels that are named by their id stay what they are. */
  async put(call: ChangeCall, uid: string, given: Given): Promise<UsersDashboard> {
    const content = await this.#checked(uid, given);
    await this.#parts.tables.write(async (tx) => {
      await this.#assertLast(tx, uid, given.version);
      await this.#write(tx, call, uid, content);
    });
    return { uid, ...content };
  }

  /** Copies a dashboard, with the panels of a plugin, under another uid. */
  async copy(
    call: ChangeCall,
    uid: string,
    to: { readonly uid: string; readonly title: string },
  ): Promise<UsersDashboard> {
    const { tables, dashboards } = this.#parts;
    const { variables, panels } = await dashboards.get(uid);
    const content = { title: to.title, variables, panels: panels.map(bodyOf) };
    await tables.write(async (tx) => {
      const isTaken = dashboards.pluginOf(to.uid) !== undefined;
      if (isTaken || (await new PanelStore(tx).of(to.uid)).length > 0) {
        throw errors.dashboard_exists({ uid: to.uid, detail: '' });
      }
      await this.#write(tx, call, to.uid, content);
    });
    return { uid: to.uid, ...content };
  }

  versions(uid: string, page: PageRequest): Promise<Page<Version>> {
    return new VersionStore(this.#parts.tables.read).list(uid, page);
  }

  /** Returns a version and what it changed; against the one before, unless another is named. */
  async version(uid: string, number: number, other?: number): Promise<ComparedVersion> {
    const store = new VersionStore(this.#parts.tables.read);
    const version = await versionIn(store, uid, number);
    const against =
      other === undefined ? await store.before(uid, number) : await versionIn(store, uid, other);
    return {
      ...version,
      against: against?.version ?? 0,
      changes: differences(against?.content, version.content),
    };
  }

  /** Brings a dashboard back to what it was in a version, which becomes its newest one. */
  async restore(call: ChangeCall, uid: string, number: number): Promise<UsersDashboard> {
    const { tables } = this.#parts;
    const { content } = await versionIn(new VersionStore(tables.read), uid, number);
    if (content === undefined) {
      throw errors.version_deleted({ uid, version: number });
    }
    const checked = await this.#checked(uid, {
      title: content.title,
      variables: [...content.variables],
      panels: content.panels.map((panel) => ({
        ...panel,
        thresholds: [...panel.thresholds],
      })),
    });
    await tables.write((tx) => this.#write(tx, call, uid, checked));
    return { uid, ...checked };
  }

  /** Everything that users have under a uid. */
  remove(call: ChangeCall, uid: string): Promise<void> {
    const { tables, history } = this.#parts;
    return tables.write(async (tx) => {
      call.note({ resourceType: 'dashboard', resourceId: uid });
      const store = new PanelStore(tx);
      const panels = (await store.of(uid)).length;
      if (panels === 0) {
        throw errors.no_users_panels({ uid });
      }
      await history.keep(tx, call, uid, async () => {
        await store.removeAll(uid);
        await new DashboardStore(tx).remove(uid);
      });
      call.note({ before: { panels } });
    });
  }

  async #checked(
    uid: string,
    { title, variables = [], panels: sketches }: Given,
  ): Promise<UsersContent> {
    const { dashboards, check } = this.#parts;
    const owner = dashboards.pluginOf(uid);
    if (owner !== undefined && ((title ?? null) !== null || variables.length > 0)) {
      throw errors.panels_alone({ uid, owner });
    }
    assertVariables(variables);
    const known = owner === undefined ? variables : ((await dashboards.find(uid))?.variables ?? []);
    const panels: UsersPanel[] = [];
    const ids = new Set<number>();
    for (const { id, ...sketch } of sketches) {
      if (id !== undefined && ids.has(id)) {
        refuse({ path: '/panels', message: `two panels have the id ${id}` });
      }
      ids.add(id ?? 0);
      const panel = complete(sketch, placeBelow(panels.map(({ position }) => position)));
      assertPanel(panel);
      await check(panel, known);
      panels.push({ ...(id !== undefined && { id }), ...panel });
    }
    return { title: owner === undefined ? (title ?? uid) : null, variables, panels };
  }

  async #assertLast(
    tx: Kysely<MonitorTables>,
    uid: string,
    version: number | undefined,
  ): Promise<void> {
    const store = new VersionStore(tx);
    const last = await store.last(uid);
    if (version !== undefined && version !== last) {
      const author = (await store.find(uid, last))?.author || 'an unknown person';
      throw errors.dashboard_changed({ uid, version: last, author });
    }
  }

  async #write(
    tx: Kysely<MonitorTables>,
    call: ChangeCall,
    uid: string,
    { title, variables, panels }: UsersContent,
  ): Promise<void> {
    const { history, clock } = this.#parts;
    const [store, stored] = [new PanelStore(tx), new DashboardStore(tx)];
    const before = new Map((await store.of(uid)).map((panel) => [panel.id, panel]));
    const kept = new Set(
      panels.flatMap(({ id }) => (id !== undefined && before.has(id) ? [id] : [])),
    );
    await history.keep(tx, call, uid, async () => {
      for (const id of before.keys()) {
        if (!kept.has(id)) {
          await store.remove(id);
        }
      }
      await assertRoom(store, uid, panels.length - kept.size);
      if (title !== null) {
        // What it was imported from goes with the last panel that came from there.
        const origin = kept.size === 0 ? undefined : (await stored.find(uid))?.origin;
        await stored.put({ uid, title, variables, ...(origin && { origin }) }, clock.now());
      }
      for (const { id, ...panel } of panels) {
        const old = id === undefined ? undefined : before.get(id);
        if (old === undefined) {
          await store.insert(uid, panel, clock.now());
        } else if (!isDeepStrictEqual(bodyOf(old), bodyOf(panel))) {
          const { origin } = old;
          await store.update(
            old.id,
            uid,
            { ...panel, ...(origin !== undefined && { origin }) },
            clock.now(),
          );
        }
      }
    });
    call.note({
      resourceType: 'dashboard',
      resourceId: uid,
      before: { panels: before.size },
      after: { title, panels: panels.length },
    });
  }
}

async function versionIn(store: VersionStore, uid: string, number: number): Promise<Version> {
  const version = await store.find(uid, number);
  if (version === undefined) {
    throw errors.no_version({ uid, version: number });
  }
  return version;
}
