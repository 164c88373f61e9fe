import {
  DeviceChanged,
  DeviceCreated,
  DeviceDetailSources,
  DeviceDirectory,
  DeviceRemoved,
} from 'svc/contracts/device';
import { TopologyGraph } from 'svc/contracts/topology';
import { DeviceScopes, seenBy } from 'svc/query';
import { definePlugin } from 'svc/sdk';

import { blastRadius } from './blast-radius.ts';
import { declaredErrors } from './declared-errors.ts';
import { HostMirror } from './host-mirror.ts';
import { neighbourhood } from './neighbourhood.ts';
import { nodeRoutes } from './node-routes.ts';
import { nodeStore } from './node-store.ts';
import { NodeTypes } from './node-types.ts';
import { Nodes } from './nodes.ts';
import { PropsCheck } from './props/props.ts';
import { relationRoutes } from './relation-routes.ts';
import { RelationTypes } from './relation-types.ts';
import { Relations } from './relations.ts';
import { topologySkills } from './skills.ts';
import type { TopologyTables } from './tables.ts';
import { nodeTypeRoutes, relationTypeRoutes } from './type-routes.ts';

const lookMs = 250;

export default definePlugin({
  errors: declaredErrors,
  activate(ctx) {
    const { clock, log, scope } = ctx;
    const tables = ctx.db<TopologyTables>();
    const check = new PropsCheck();
    const sees = seenBy(ctx.services.maybe(DeviceScopes));
    const devices = ctx.services.maybe(DeviceDirectory);
    const mirror = new HostMirror({ tables, devices, clock, log });

    const nodes = new Nodes({ tables, check, clock, seenBy: sees });
    topologySkills(nodes).forEach((skill) => ctx.skills.add(skill));
    ctx.services.provide(TopologyGraph, () => ({
      blastRadius: (nodeId, depth) => blastRadius(tables.read, nodeId, depth, undefined),
      neighbourhood: (around, seen) => neighbourhood(tables.read, around, seen),
    }));
    ctx.extend.contribute(DeviceDetailSources, 'host-node', {
      detailsOf: async (ids) =>
        new Map(
          (await nodeStore(tables.read, undefined).ofDevices(ids)).map(({ id, device_id }) => [
            device_id!,
            { node_id: id },
          ]),
        ),
    });
    ctx.http.routes([
      ...nodeTypeRoutes(new NodeTypes({ tables, check, clock })),
      ...nodeRoutes(nodes),
      ...relationTypeRoutes(new RelationTypes({ tables, clock })),
      ...relationRoutes(new Relations({ tables, clock, seenBy: sees })),
    ]);

    let isDue = false;
    /** Once for what changes within the wait; an idle fleet costs nothing. */
    const mirrorSoon = (): void => {
      if (!isDue) {
        isDue = true;
        scope.timeout('mirror devices', lookMs, async (signal) => {
          isDue = false;
          if (!(await mirror.catchUp(signal))) {
            mirrorSoon();
          }
        });
      }
    };
    const mirrorOne = ({ device_id: id }: { readonly device_id: number }): void => {
      mirror.note(id);
      mirrorSoon();
    };
    ctx.events.on(DeviceCreated, mirrorOne);
    ctx.events.on(DeviceChanged, mirrorOne);
    ctx.events.on(DeviceRemoved, mirrorOne);
    devices.onChange((state) => {
      if (state === 'up') {
        mirror.noteAll();
        mirrorSoon();
      }
    });
    mirrorSoon();
  },
});
