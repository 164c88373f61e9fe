import { definePlugin, defineService } from 'svc/sdk';

import type { TopologyGraph } from '../topology/contract.ts';
import { DeviceDirectory, Fleet } from './contract.ts';
import { deviceRoutes } from './device-routes.ts';
import { createDevices } from './devices.ts';
import { createDirectory } from './directory.ts';
import type { DeviceTables } from './tables.ts';
import { createTelling } from './telling.ts';

/** By its id: the folder of the topology may be taken away, and only types may be wanted of it. */
const Graph = defineService<TopologyGraph>('topology.graph');

const nobody: ReadonlySet<number> = new Set();
const nowhere: ReadonlyMap<number, number> = new Map();

export default definePlugin({
  activate(ctx) {
    const { clock, log } = ctx;
    const tables = ctx.db<DeviceTables>();
    const telling = createTelling(ctx.events);
    const edges = ctx.services.maybe(Fleet);
    const graph = ctx.services.maybe(Graph);
    const fleet: Fleet = {
      online: () => (edges.available ? edges.get().online() : nobody),
      get: (id) => (edges.available ? edges.get().get(id) : undefined),
    };

    ctx.services.provide(DeviceDirectory, () => createDirectory({ tables, online: () => fleet.online(), clock, telling, log }));
    ctx.http.routes(
      deviceRoutes(createDevices({ tables, fleet, clock, telling, nodesOf: async (ids) => (graph.available ? await graph.get().nodesOf(ids) : nowhere) })),
    );
  },
});
