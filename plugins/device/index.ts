import {
  DeviceChanged,
  DeviceCreated,
  DeviceDetailSources,
  DeviceDirectory,
  DeviceNames,
  DeviceRemoved,
  DeviceReports,
  DevicesNamed,
} from 'svc/contracts/device';
import { type EdgeEntry, EdgeFleet } from 'svc/contracts/edge';
import { MetricsQueries } from 'svc/contracts/metricsdb';
import { Mentions } from 'svc/contracts/mention';
import { DeviceScopes } from 'svc/query';
import { definePlugin } from 'svc/sdk';

import { deviceRoutes, searchRoutes, watcherRoutes } from './device-routes.ts';
import { Devices, type EdgePresence } from './devices.ts';
import { Directory } from './directory.ts';
import { errors } from './errors.ts';
import { DeviceEvents } from './events.ts';
import { deviceMention } from './mention.ts';
import { Names } from './names.ts';
import { Reports } from './reports.ts';
import { Scopes } from './scopes.ts';
import { FoundDevices, type FoundDevicesParts } from './found-devices.ts';
import { Measures } from './measures.ts';
import { Inventory, Search } from './search.ts';
import { deviceSkills } from './skills.ts';
import type { DeviceTables } from './store/tables.ts';
import { viewStore } from './store/view-store.ts';
import { viewRoutes } from './view-routes.ts';

const none: ReadonlySet<number> = new Set();
/** Time in which further changes of devices are awaited before their names are read. */
const renameMs = 50;

export default definePlugin({
  errors,
  activate(ctx) {
    const { clock, log } = ctx;
    const tables = ctx.db<DeviceTables>();
    const scopes = new Scopes(tables);
    const inventory = new Inventory(tables);
    const forget = (): void => {
      scopes.forget();
      inventory.forget();
    };
    const events = new DeviceEvents(ctx.events, forget);
    const edges = ctx.services.maybe(EdgeFleet);
    const fleet: EdgePresence = {
      online: () => (edges.available ? edges.get().online() : none),
      present: () => (edges.available ? edges.get().present() : none),
      get: (id) => (edges.available ? edges.get().get(id) : undefined),
      list: () => (edges.available ? edges.get().list() : []),
    };

    ctx.services.provide(
      DeviceDirectory,
      () => new Directory({ tables, online: () => fleet.online(), clock, events, log }),
    );
    ctx.services.provide(DeviceScopes, () => scopes);
    const reports = new Reports({ tables, clock, events });
    ctx.services.provide(DeviceReports, () => reports);
    const names = new Names(tables, log, () => ctx.events.emit(DevicesNamed, {}));
    ctx.services.provide(DeviceNames, () => names);
    let isDue = false;
    /** Once for all devices of a fleet that comes back. */
    const readNamesSoon = (): void => {
      if (!isDue) {
        isDue = true;
        ctx.scope.timeout('read changed names', renameMs, async () => {
          isDue = false;
          if (!(await names.catchUp())) {
            readNamesSoon();
          }
        });
      }
    };
    // Some are fired by another generation of this plugin.
    const changed = ({ device_id: id }: { readonly device_id: number }): void => {
      forget();
      names.note(id);
      readNamesSoon();
    };
    ctx.events.on(DeviceCreated, changed);
    ctx.events.on(DeviceChanged, changed);
    ctx.events.on(DeviceRemoved, changed);
    const devices = new Devices({
      tables,
      scopes,
      fleet,
      reports,
      details: ctx.extend.open(DeviceDetailSources),
      clock,
      events,
    });
    const measures = new Measures(ctx.services.maybe(MetricsQueries), clock);
    const search = new Search({
      inventory,
      agents: () => agentsByDevice(fleet.list()),
      isOnline: (device, agent) => agent?.status === 'online' || reports.online().has(device),
    });
    const scopeOf: FoundDevicesParts['scopeOf'] = async ({ selectors }) =>
      selectors === undefined ? undefined : await scopes.of(selectors);
    const found = new FoundDevices({ search, measures, devices, scopeOf });
    ctx.http.routes([
      ...deviceRoutes(devices),
      ...watcherRoutes(devices),
      ...searchRoutes(found),
      ...viewRoutes(viewStore(tables), clock),
    ]);
    ctx.extend.contribute(Mentions, 'device', deviceMention(devices));
    deviceSkills(devices).forEach((skill) => ctx.skills.add(skill));
    return names;
  },
  async start(_ctx, names) {
    await names.load();
  },
});

/** An agent that is connected counts before others of the same device. */
function agentsByDevice(edges: readonly EdgeEntry[]): ReadonlyMap<number, EdgeEntry> {
  const agents = new Map<number, EdgeEntry>();
  for (const edge of edges) {
    if (edge.device_id !== null && (edge.status === 'online' || !agents.has(edge.device_id))) {
      agents.set(edge.device_id, edge);
    }
  }
  return agents;
}
