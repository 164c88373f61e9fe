import { type Contribution, type OpenPoint, SvcError, type Tables } from 'svc/sdk';

import { type Dashboard, people } from './dashboard.ts';
import { dashboardReader, type ReadDashboard } from './dashboard-file.ts';
import { dashboardStore } from './dashboard-store.ts';
import { type MonitorTables, panelStore } from './panel-store.ts';

/** One line of the list. */
export interface DashboardEntry {
  readonly uid: string;
  readonly title: string;
  readonly source: string;
  readonly panels: number;
  readonly variables: readonly string[];
  readonly problem?: string;
}

export interface DashboardBook {
  /** By uid; those of plugins, broken ones too, and those that people made. */
  list(): Promise<readonly DashboardEntry[]>;
  /** With the panels that people added; throws not_found, or conflict for one that is broken. */
  get(uid: string): Promise<Dashboard>;
  /** The same, or undefined when there is none. */
  find(uid: string): Promise<Dashboard | undefined>;
  /** The plugin that brings a dashboard of this uid. */
  pluginOf(uid: string): string | undefined;
}

interface Broken {
  /** Of its contribution, which no other has. */
  readonly id: string;
  readonly uid: string;
  readonly source: string;
  readonly problem: string;
}

/** Every dashboard there is at the moment: what the plugins that serve bring, and what people made. */
export function dashboardBook(point: OpenPoint<unknown>, { read }: Tables<MonitorTables>, own: string): DashboardBook {
  const readFile = dashboardReader();
  const known = new WeakMap<object, ReadDashboard>();
  const panels = panelStore(read);
  const stored = dashboardStore(read);

  function contributed(): { readonly whole: ReadonlyMap<string, Dashboard>; readonly broken: readonly Broken[] } {
    const whole = new Map<string, Dashboard>();
    const broken: Broken[] = [];
    // The seeded ones have their uids to themselves; among the others the order of their names decides, not who came up first.
    for (const { id, pluginId, value } of point.list().toSorted((a, b) => rank(a, own) - rank(b, own) || compare(a.id, b.id))) {
      const found = contentOf(value, pluginId);
      if ('problem' in found) {
        broken.push({ uid: found.uid ?? id, source: pluginId, problem: found.problem, id });
      } else if (whole.has(found.dashboard.uid)) {
        const { uid } = found.dashboard;
        broken.push({ uid: id, source: pluginId, problem: `its uid ${uid} belongs to the plugin ${whole.get(uid)!.source} already`, id });
      } else {
        whole.set(found.dashboard.uid, found.dashboard);
      }
    }
    // In the list every uid stands once.
    const taken = new Set(whole.keys());
    return { whole, broken: broken.map((entry) => (taken.has(entry.uid) ? { ...entry, uid: entry.id } : (taken.add(entry.uid), entry))) };
  }

  function contentOf(value: unknown, pluginId: string): ReadDashboard {
    if (typeof value !== 'object' || value === null) {
      return { problem: 'is no dashboard' };
    }
    let found = known.get(value);
    if (found === undefined) {
      found = readFile(value, pluginId);
      known.set(value, found);
    }
    return found;
  }

  async function find(uid: string): Promise<Dashboard | undefined> {
    const base = contributed().whole.get(uid);
    const [added, taken] = await Promise.all([panels.of(uid), stored.find(uid)]);
    if (base === undefined && added.length === 0) {
      return undefined;
    }
    const names = new Set(base?.variables.map(({ name }) => name));
    return {
      uid,
      title: base?.title ?? taken?.title ?? uid,
      description: base?.description ?? '',
      source: base?.source ?? people,
      variables: [...(base?.variables ?? []), ...(taken?.variables ?? []).filter(({ name }) => !names.has(name))],
      sources: base?.sources ?? [],
      panels: [...(base?.panels ?? []), ...added.map((panel) => ({ ...panel, source: people }))],
    };
  }

  return {
    find,
    pluginOf: (uid) => contributed().whole.get(uid)?.source,

    async get(uid) {
      const found = await find(uid);
      if (found !== undefined) {
        return found;
      }
      const broken = contributed().broken.find((entry) => entry.uid === uid);
      if (broken !== undefined) {
        throw new SvcError('conflict', `the dashboard ${uid} of the plugin ${broken.source} cannot be shown: ${broken.problem}`);
      }
      throw new SvcError('not_found', `there is no dashboard ${uid}; GET /api/v1/observability/dashboards lists them`);
    },

    async list() {
      const { whole, broken } = contributed();
      const [counts, taken] = await Promise.all([panels.counts(), stored.all()]);
      const titles = new Map(taken.map((dashboard) => [dashboard.uid, dashboard]));
      const entries: DashboardEntry[] = [...whole.values()].map(({ uid, title, source, variables, panels: brought }) => ({
        uid,
        title,
        source,
        panels: brought.length + (counts.get(uid) ?? 0),
        variables: variables.map(({ name }) => name),
      }));
      for (const [uid, count] of counts) {
        if (!whole.has(uid)) {
          const { title = uid, variables = [] } = titles.get(uid) ?? {};
          entries.push({ uid, title, source: people, panels: count, variables: variables.map(({ name }) => name) });
        }
      }
      entries.push(...broken.map(({ uid, source, problem }) => ({ uid, title: uid, source, panels: 0, variables: [], problem })));
      return entries.sort((a, b) => compare(a.uid, b.uid));
    },
  };
}

const rank = ({ pluginId }: Contribution<unknown>, own: string): number => (pluginId === own ? 0 : 1);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
