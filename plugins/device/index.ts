import { definePlugin } from 'svc/sdk';

import { DeviceDetailSources, DeviceDirectory, Fleet } from './contract.ts';
import { deviceRoutes, watcherRoutes } from './device-routes.ts';
import { Devices } from './devices.ts';
import { Directory } from './directory.ts';
import { DeviceEvents } from './events.ts';
import { deviceMention, mentions } from './mention.ts';
import { deviceSkills } from './skills.ts';
import type { DeviceTables } from './tables.ts';

const none: ReadonlySet<number> = new Set();

export default definePlugin({
  activate(ctx) {
    const { clock, log } = ctx;
    const tables = ctx.db<DeviceTables>();
    const events = new DeviceEvents(ctx.events);
    const edges = ctx.services.maybe(Fleet);
    const fleet: Fleet = {
      online: () => (edges.available ? edges.get().online() : none),
      get: (id) => (edges.available ? edges.get().get(id) : undefined),
    };

    ctx.services.provide(DeviceDirectory, () => new Directory({ tables, online: () => fleet.online(), clock, events, log }));
    const devices = new Devices({ tables, fleet, details: ctx.extend.open(DeviceDetailSources), clock, events });
    ctx.http.routes([...deviceRoutes(devices), ...watcherRoutes(devices)]);
    ctx.extend.contribute(mentions, 'device', deviceMention(devices));
    deviceSkills(devices).forEach((skill) => ctx.skills.add(skill));
  },
});
