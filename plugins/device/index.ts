import {
  DeviceChanged,
  DeviceCreated,
  DeviceDetailSources,
  DeviceDirectory,
  DeviceRemoved,
} from 'svc/contracts/device';
import { EdgeFleet } from 'svc/contracts/edge';
import { Mentions } from 'svc/contracts/mention';
import { DeviceScopes } from 'svc/query';
import { definePlugin } from 'svc/sdk';

import { deviceRoutes, watcherRoutes } from './device-routes.ts';
import { Devices, type EdgePresence } from './devices.ts';
import { Directory } from './directory.ts';
import { errors } from './errors.ts';
import { DeviceEvents } from './events.ts';
import { deviceMention } from './mention.ts';
import { Scopes } from './scopes.ts';
import { deviceSkills } from './skills.ts';
import type { DeviceTables } from './tables.ts';

const none: ReadonlySet<number> = new Set();

export default definePlugin({
  errors,
  activate(ctx) {
    const { clock, log } = ctx;
    const tables = ctx.db<DeviceTables>();
    const scopes = new Scopes(tables);
    const events = new DeviceEvents(ctx.events, () => scopes.forget());
    const edges = ctx.services.maybe(EdgeFleet);
    const fleet: EdgePresence = {
      online: () => (edges.available ? edges.get().online() : none),
      present: () => (edges.available ? edges.get().present() : none),
      get: (id) => (edges.available ? edges.get().get(id) : undefined),
    };

    ctx.services.provide(
      DeviceDirectory,
      () => new Directory({ tables, online: () => fleet.online(), clock, events, log }),
    );
    // Fired by another generation of this plugin.
    ctx.events.on(DeviceCreated, () => scopes.forget());
    ctx.events.on(DeviceChanged, () => scopes.forget());
    ctx.events.on(DeviceRemoved, () => scopes.forget());
    ctx.services.provide(DeviceScopes, () => scopes);
    const devices = new Devices({
      tables,
      scopes,
      fleet,
      details: ctx.extend.open(DeviceDetailSources),
      clock,
      events,
    });
    ctx.http.routes([...deviceRoutes(devices), ...watcherRoutes(devices)]);
    ctx.extend.contribute(Mentions, 'device', deviceMention(devices));
    deviceSkills(devices).forEach((skill) => ctx.skills.add(skill));
  },
});
