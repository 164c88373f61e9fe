import { defineEvent, definePlugin, defineService } from 'svc/sdk';

import type { DeviceDirectory } from '../device/contract.ts';
import { blastRadius } from './blast-radius.ts';
import { TopologyGraph } from './contract.ts';
import { createHostMirror } from './host-mirror.ts';
import { nodeRoutes } from './node-routes.ts';
import { nodeStore } from './node-store.ts';
import { createNodeTypes } from './node-types.ts';
import { createNodes } from './nodes.ts';
import { createPropsCheck } from './props.ts';
import { relationRoutes } from './relation-routes.ts';
import { createRelationTypes } from './relation-types.ts';
import { createRelations } from './relations.ts';
import type { TopologyTables } from './tables.ts';
import { nodeTypeRoutes, relationTypeRoutes } from './type-routes.ts';

/** By their ids: the folder of the devices may be taken away, and only types may be wanted of it. */
const Devices = defineService<DeviceDirectory>('device.directory');
const deviceEvents = ['device.created', 'device.changed', 'device.removed'].map((id) => defineEvent<{ readonly device_id: number }>(id));

const lookMs = 250;

export default definePlugin({
  activate(ctx) {
    const { clock, log, scope } = ctx;
    const tables = ctx.db<TopologyTables>();
    const check = createPropsCheck();
    const devices = ctx.services.maybe(Devices);
    const mirror = createHostMirror({ tables, devices, clock, log });

    ctx.services.provide(TopologyGraph, () => ({
      nodesOf: async (ids) => new Map((await nodeStore(tables.read).ofDevices(ids)).map(({ id, device_id }) => [device_id!, id])),
      blastRadius: (nodeId, depth) => blastRadius(tables.read, nodeId, depth),
    }));
    ctx.http.routes([
      ...nodeTypeRoutes(createNodeTypes({ tables, check, clock })),
      ...nodeRoutes(createNodes({ tables, check, clock })),
      ...relationTypeRoutes(createRelationTypes({ tables, clock })),
      ...relationRoutes(createRelations({ tables, clock })),
    ]);

    deviceEvents.forEach((event) => ctx.events.on(event, ({ device_id: id }) => mirror.note(id)));
    devices.onChange((state) => (state === 'up' ? mirror.noteAll() : undefined));
    scope.interval('mirror devices', lookMs, (signal) => mirror.catchUp(signal));
  },
});
