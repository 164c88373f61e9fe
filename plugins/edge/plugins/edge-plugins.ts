import { type Call, type Clock, type Page, SvcError, type Tables } from 'svc/sdk';
import type { Static } from 'typebox';

import type { Catalogue, EdgePlugin } from './catalogue.ts';
import type { PluginHealth } from '../contract.ts';
import type { Desired } from './desired-state.ts';
import { actorOf, found, known } from '../edges.ts';
import type { HealthKeeper } from './plugin-health.ts';
import { pluginStore } from './plugin-store.ts';
import type { EdgeRecord } from '../record.ts';
import type { Roll } from '../edge-table.ts';
import type { EdgePluginItem, EdgePluginPut, PluginCounts } from '../schema.ts';
import type { EdgeTables } from '../tables.ts';

type Item = Static<typeof EdgePluginItem>;

/** What edges run, as people see and change it. */
export interface EdgePlugins {
  list(edgeId: number): Promise<Page<Item>>;
  put(by: Pick<Call, 'principal' | 'note'>, edgeId: number, name: string, change: Static<typeof EdgePluginPut>): Promise<Item>;
  /** Over all edges: what is wanted of them. */
  counts(): Static<typeof PluginCounts>;
}

export interface EdgePluginsParts {
  readonly roll: Roll;
  readonly tables: Tables<EdgeTables>;
  readonly catalogue: Catalogue;
  readonly desired: Desired;
  readonly health: HealthKeeper;
  readonly clock: Clock;
}

const largestSpec = 64 * 1024;

export function createEdgePlugins({ roll, tables, catalogue, desired, health, clock }: EdgePluginsParts): EdgePlugins {
  function shown(plugin: EdgePlugin, record: EdgeRecord, told: ReadonlyMap<string, PluginHealth>): Item {
    const wish = record.wishes?.get(plugin.name);
    const enabled = wish?.enabled ?? plugin.default_enabled;
    return {
      name: plugin.name,
      kind: plugin.kind,
      enabled,
      spec: plugin.filled(JSON.parse(wish?.spec ?? '{}') as object),
      health: told.get(plugin.name) ?? {
        ...{ state: enabled ? 'starting' : 'stopped', last_error: null, restart_count: 0 },
        ...{ started_at: null, updated_at: null, samples: 0 },
      },
      settled: record.tunnel ? record.tunnel.configHash === desired.of(record).hash : null,
    };
  }

  function pluginOf(name: string): EdgePlugin {
    const plugin = catalogue.find(name);
    if (!plugin) {
      const names = catalogue.all().map((other) => other.name);
      throw new SvcError('not_found', `edges have no plugin "${name}"; they have ${names.length === 0 ? 'none' : names.toSorted().join(', ')}`);
    }
    return plugin;
  }

  return {
    async list(edgeId) {
      const record = known(roll.byId(edgeId), edgeId);
      const told = await health.of(record);
      const items = catalogue
        .all()
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        .map((plugin) => shown(plugin, record, told));
      return { items, total: items.length };
    },

    async put(by, edgeId, name, { enabled, spec }) {
      const record = known(roll.byId(edgeId), edgeId);
      const plugin = pluginOf(name);
      const text = spec && JSON.stringify(spec);
      if (spec && text) {
        plugin.assertFits(spec);
        if (Buffer.byteLength(text) > largestSpec) {
          throw new SvcError('invalid_argument', `a spec has at most ${largestSpec} bytes of JSON`, { details: [{ path: '/spec', message: 'is too large' }] });
        }
      }
      const told = await health.of(record);
      const before = shown(plugin, record, told);
      await tables.write(async (tx) => {
        await found(edgeId, tx);
        const wish = (await pluginStore(tx).wishesOf(edgeId)).find((row) => row.name === name);
        const row = {
          ...{ edge_id: edgeId, name, enabled: (enabled ?? (wish === undefined ? plugin.default_enabled : wish.enabled === 1)) ? 1 : 0 },
          ...{ spec: text ?? wish?.spec ?? '{}', updated_by: actorOf(by.principal), updated_at: clock.now() },
        };
        await pluginStore(tx).putWish(row);
        const { health: _health, settled: _settled, ...wasWanted } = before;
        by.note({
          resourceType: 'edge',
          resourceId: edgeId,
          before: wasWanted,
          after: { name, enabled: row.enabled === 1, spec: JSON.parse(row.spec) as object },
        });
      });
      await roll.reload(edgeId);
      desired.settle(record);
      return shown(plugin, record, told);
    },

    counts() {
      const plugins = catalogue.all().map(({ name, kind, default_enabled: usually }) => {
        let enabled = 0;
        for (const { wishes } of roll.all()) {
          enabled += (wishes?.get(name)?.enabled ?? usually) ? 1 : 0;
        }
        return { name, kind, enabled, disabled: roll.size - enabled };
      });
      const sum = (field: 'enabled' | 'disabled'): number => plugins.reduce((total, plugin) => total + plugin[field], 0);
      return { enabled: sum('enabled'), disabled: sum('disabled'), plugins: plugins.toSorted((a, b) => (a.name < b.name ? -1 : 1)) };
    },
  };
}
