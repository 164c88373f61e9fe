import type { PluginHealth } from 'svc/edge-protocol';
import { type ScopeSource, scopeOf } from 'svc/query';
import {
  type Call,
  type Clock,
  type Handle,
  listRoute,
  type Page,
  type Principal,
  route,
  type RouteDeclaration,
  type Tables,
} from 'svc/sdk';
import type { Static } from 'typebox';

import { assertFound, found, foundFor } from '../record/edge-store.ts';
import type { EdgeTable } from '../record/edge-table.ts';
import { pluginStore } from '../record/plugin-store.ts';
import type { EdgeRecord } from '../record/record.ts';
import {
  EdgeId,
  EdgePluginId,
  EdgePluginItem,
  EdgePluginPut,
  PluginCounts,
} from '../record/schema.ts';
import { actorOf } from '../record/shown.ts';
import type { EdgeTables } from '../record/tables.ts';
import type { Catalogue, EdgePlugin } from './catalogue.ts';
import type { DesiredState } from './desired-state.ts';
import { errors } from './errors.ts';
import type { HealthRecords } from './plugin-health.ts';

type Item = Static<typeof EdgePluginItem>;
type Change = Static<typeof EdgePluginPut>;
type Actor = Pick<Call, 'principal' | 'note'>;

export interface EdgePluginsParts {
  readonly edgeTable: EdgeTable;
  readonly tables: Tables<EdgeTables>;
  readonly catalogue: Catalogue;
  readonly desired: DesiredState;
  readonly health: HealthRecords;
  readonly clock: Clock;
  readonly scopes: Handle<ScopeSource>;
}

const largestSpec = 64 * 1024;

/** Plugins of edges, as people see and change them. */
export class EdgePlugins {
  readonly #parts: EdgePluginsParts;

  constructor(parts: EdgePluginsParts) {
    this.#parts = parts;
  }

  async list(asker: Principal, edgeId: number): Promise<Page<Item>> {
    const { edgeTable, catalogue, health, tables, scopes } = this.#parts;
    await foundFor(await scopeOf(scopes, asker), edgeId, tables.read);
    const record = assertFound(edgeTable.byId(edgeId), edgeId);
    const healths = await health.of(record);
    const items = catalogue.all().map((plugin) => this.#shown(plugin, record, healths));
    return { items, total: items.length };
  }

  async put(by: Actor, edgeId: number, name: string, change: Change): Promise<Item> {
    const { edgeTable, tables, scopes, health, desired } = this.#parts;
    await foundFor(await scopeOf(scopes, by.principal), edgeId, tables.read);
    const record = assertFound(edgeTable.byId(edgeId), edgeId);
    const plugin = this.#find(name);
    const spec = change.spec && checkedSpec(plugin, change.spec);
    const healths = await health.of(record);
    await this.#write(
      by,
      record,
      plugin,
      { enabled: change.enabled, spec },
      this.#shown(plugin, record, healths),
    );
    await edgeTable.reload(edgeId);
    desired.settle(record);
    return this.#shown(plugin, record, healths);
  }

  /** Returns the counts of desired states over all edges that the asker sees. */
  async counts(asker: Principal): Promise<Static<typeof PluginCounts>> {
    const { edgeTable, catalogue, scopes } = this.#parts;
    const seen = (await scopeOf(scopes, asker))?.ids;
    const edges = [...edgeTable.all()].filter(
      ({ deviceId }) => seen === undefined || (deviceId !== null && seen.has(deviceId)),
    );
    const plugins = catalogue.all().map(({ name, kind, default_enabled: usually }) => {
      let enabled = 0;
      for (const { wishes } of edges) {
        enabled += (wishes?.get(name)?.enabled ?? usually) ? 1 : 0;
      }
      return { name, kind, enabled, disabled: edges.length - enabled };
    });
    const sum = (field: 'enabled' | 'disabled'): number =>
      plugins.reduce((total, plugin) => total + plugin[field], 0);
    return { enabled: sum('enabled'), disabled: sum('disabled'), plugins };
  }

  async #write(
    by: Actor,
    { id }: EdgeRecord,
    plugin: EdgePlugin,
    change: { enabled: boolean | undefined; spec: string | undefined },
    shown: Item,
  ): Promise<void> {
    const { tables, clock } = this.#parts;
    const { name } = plugin;
    await tables.write(async (tx) => {
      await found(id, tx);
      const wish = (await pluginStore(tx).wishesOf(id)).find((row) => row.name === name);
      const enabled =
        change.enabled ?? (wish === undefined ? plugin.default_enabled : wish.enabled === 1);
      const spec = change.spec ?? wish?.spec ?? '{}';
      await pluginStore(tx).putWish({
        edge_id: id,
        name,
        enabled: enabled ? 1 : 0,
        spec,
        updated_by: actorOf(by.principal),
        updated_at: clock.now(),
      });
      const { health: _health, settled: _settled, ...before } = shown;
      by.note({
        resourceType: 'edge',
        resourceId: id,
        before,
        after: { name, enabled, spec: JSON.parse(spec) as object },
      });
    });
  }

  #shown(plugin: EdgePlugin, record: EdgeRecord, healths: ReadonlyMap<string, PluginHealth>): Item {
    const wish = record.wishes?.get(plugin.name);
    const enabled = wish?.enabled ?? plugin.default_enabled;
    return {
      name: plugin.name,
      kind: plugin.kind,
      enabled,
      spec: plugin.filled(JSON.parse(wish?.spec ?? '{}') as object),
      health: healths.get(plugin.name) ?? {
        state: enabled ? 'starting' : 'stopped',
        last_error: null,
        restart_count: 0,
        started_at: null,
        updated_at: null,
        samples: 0,
      },
      settled: record.tunnel
        ? record.tunnel.configHash === this.#parts.desired.of(record).hash
        : null,
    };
  }

  #find(name: string): EdgePlugin {
    const { catalogue } = this.#parts;
    const plugin = catalogue.find(name);
    if (!plugin) {
      const names = catalogue.all().map((other) => other.name);
      throw errors.no_plugin({ name, detail: names.length === 0 ? 'none' : names.join(', ') });
    }
    return plugin;
  }
}

function checkedSpec(plugin: EdgePlugin, spec: NonNullable<Change['spec']>): string {
  const text = JSON.stringify(spec);
  plugin.assertFits(spec);
  if (Buffer.byteLength(text) > largestSpec) {
    throw errors.spec_too_large(
      { largestSpec },
      { details: [{ path: '/spec', message: 'is too large' }] },
    );
  }
  return text;
}

export const pluginRoutes = (plugins: EdgePlugins): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/edges/{id}/plugins',
    access: 'any',
    devices: 'narrowed',
    summary: "List an edge's plugins with their desired and actual state",
    params: EdgeId,
    items: EdgePluginItem,
    errors: ['not_found'],
    handle: ({ params, principal }) => plugins.list(principal, params.id),
  }),
  route({
    method: 'PUT',
    path: '/api/v1/edges/{id}/plugins/{name}',
    access: 'edge:plugin',
    devices: 'narrowed',
    brief: ['name'],
    summary:
      "Enable, disable or configure an edge's plugin; an offline edge receives the change when it connects",
    params: EdgePluginId,
    body: EdgePluginPut,
    response: EdgePluginItem,
    action: 'edge:plugin',
    errors: ['not_found'],
    handle: (call) => plugins.put(call, call.params.id, call.params.name, call.body),
  }),
  route({
    method: 'GET',
    path: '/api/v1/integrations/plugin-counts',
    access: 'any',
    devices: 'narrowed',
    summary: 'Count the edges on which each plugin is enabled or disabled',
    response: PluginCounts,
    handle: ({ principal }) => plugins.counts(principal),
  }),
];
