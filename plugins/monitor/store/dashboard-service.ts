import type { Contribution, OpenPoint, Tables } from 'svc/sdk';

import { type Dashboard, userSource } from '../model/dashboard.ts';
import { errors } from '../model/errors.ts';
import { DashboardReader, type ReadDashboard } from './dashboard-file.ts';
import { DashboardStore } from './dashboard-store.ts';
import { type MonitorTables, PanelStore } from './panel-store.ts';

/** One line of the list. */
export interface DashboardEntry {
  readonly uid: string;
  readonly title: string;
  readonly source: string;
  readonly panels: number;
  readonly variables: readonly string[];
  readonly problem?: string;
}

interface Broken {
  /** Id of its contribution, which no other has. */
  readonly id: string;
  readonly uid: string;
  readonly source: string;
  readonly problem: string;
}

interface Contributed {
  readonly whole: ReadonlyMap<string, Dashboard>;
  readonly broken: readonly Broken[];
}

/** Current dashboards: those of running plugins, and those of users. */
export class DashboardService {
  readonly #point: OpenPoint<unknown>;
  readonly #own: string;
  readonly #reader = new DashboardReader();
  readonly #known = new WeakMap<object, ReadDashboard>();
  readonly #panels: PanelStore;
  readonly #stored: DashboardStore;

  constructor(point: OpenPoint<unknown>, { read }: Tables<MonitorTables>, own: string) {
    this.#point = point;
    this.#own = own;
    this.#panels = new PanelStore(read);
    this.#stored = new DashboardStore(read);
  }

  /** Lists dashboards by uid: those of plugins, including broken ones, and those of users. */
  async list(): Promise<readonly DashboardEntry[]> {
    const { whole, broken } = this.#contributed();
    const [counts, stored] = await Promise.all([this.#panels.counts(), this.#stored.all()]);
    const byUid = new Map(stored.map((dashboard) => [dashboard.uid, dashboard]));
    const entries: DashboardEntry[] = [...whole.values()].map(
      ({ uid, title, source, variables, panels: brought }) => ({
        uid,
        title,
        source,
        panels: brought.length + (counts.get(uid) ?? 0),
        variables: variables.map(({ name }) => name),
      }),
    );
    for (const [uid, count] of counts) {
      if (!whole.has(uid)) {
        const { title = uid, variables = [] } = byUid.get(uid) ?? {};
        entries.push({
          uid,
          title,
          source: userSource,
          panels: count,
          variables: variables.map(({ name }) => name),
        });
      }
    }
    entries.push(
      ...broken.map(({ uid, source, problem }) => ({
        uid,
        title: uid,
        source,
        panels: 0,
        variables: [],
        problem,
      })),
    );
    return entries.sort((a, b) => compare(a.uid, b.uid));
  }

  /** Every one that can be shown, with the panels that users added, by uid. */
  async whole(): Promise<readonly Dashboard[]> {
    const entries = (await this.list()).filter(({ problem }) => problem === undefined);
    return (await Promise.all(entries.map(({ uid }) => this.find(uid)))).filter(
      (dashboard) => dashboard !== undefined,
    );
  }

  /**
   * Returns a dashboard with the panels that users added; throws not_found, or conflict for a
   * broken one.
   */
  async get(uid: string): Promise<Dashboard> {
    const found = await this.find(uid);
    if (found !== undefined) {
      return found;
    }
    const broken = this.#contributed().broken.find((entry) => entry.uid === uid);
    if (broken !== undefined) {
      throw errors.dashboard_broken({ uid, source: broken.source, problem: broken.problem });
    }
    throw errors.no_dashboard({ uid });
  }

  /** Returns the same, or undefined if there is none. */
  async find(uid: string): Promise<Dashboard | undefined> {
    const base = this.#contributed().whole.get(uid);
    const [added, stored] = await Promise.all([this.#panels.of(uid), this.#stored.find(uid)]);
    if (base === undefined && added.length === 0) {
      return undefined;
    }
    const names = new Set(base?.variables.map(({ name }) => name));
    return {
      uid,
      title: base?.title ?? stored?.title ?? uid,
      description: base?.description ?? '',
      source: base?.source ?? userSource,
      variables: [
        ...(base?.variables ?? []),
        ...(stored?.variables ?? []).filter(({ name }) => !names.has(name)),
      ],
      sources: base?.sources ?? [],
      ...(base === undefined && stored?.origin && { origin: stored.origin }),
      panels: [
        ...(base?.panels ?? []),
        ...added.map((panel) => ({ ...panel, source: userSource })),
      ],
    };
  }

  /** Returns the plugin that contributes a dashboard of this uid. */
  pluginOf(uid: string): string | undefined {
    return this.#contributed().whole.get(uid)?.source;
  }

  #contributed(): Contributed {
    const whole = new Map<string, Dashboard>();
    const broken: Broken[] = [];
    // Seeded dashboards have their uids to themselves; among the others the order of their names
    // decides, not of their start.
    for (const { id, pluginId, value } of this.#point
      .list()
      .toSorted((a, b) => rank(a, this.#own) - rank(b, this.#own) || compare(a.id, b.id))) {
      const found = this.#read(value, pluginId);
      if ('problem' in found) {
        broken.push({ uid: found.uid ?? id, source: pluginId, problem: found.problem, id });
      } else if (whole.has(found.dashboard.uid)) {
        const { uid } = found.dashboard;
        broken.push({
          uid: id,
          source: pluginId,
          problem: `its uid ${uid} already belongs to the plugin ${whole.get(uid)!.source}`,
          id,
        });
      } else {
        whole.set(found.dashboard.uid, found.dashboard);
      }
    }
    // Every uid occurs once in the list.
    const taken = new Set(whole.keys());
    return {
      whole,
      broken: broken.map((entry) =>
        taken.has(entry.uid) ? { ...entry, uid: entry.id } : (taken.add(entry.uid), entry),
      ),
    };
  }

  #read(value: unknown, pluginId: string): ReadDashboard {
    if (typeof value !== 'object' || value === null) {
      return { problem: 'is not a dashboard' };
    }
    let found = this.#known.get(value);
    if (found === undefined) {
      found = this.#reader.read(value, pluginId);
      this.#known.set(value, found);
    }
    return found;
  }
}

const rank = ({ pluginId }: Contribution<unknown>, own: string): number =>
  pluginId === own ? 0 : 1;

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
