import { AsyncResource } from 'node:async_hooks';

import { DeviceDirectory } from 'svc/contracts/device';
import { DeviceScopes, type ScopeSource } from 'svc/query';
import {
  AuditTrail,
  type AuditTrailContract,
  type Build,
  BuildInfo,
  type Clock,
  type Handle,
  type Ids,
  type Logger,
  messageOf,
  type PluginContext,
  type Secrets,
  type Settings,
  type Tables,
} from 'svc/sdk';
import { openSweeper, type Sweeper } from 'svc/tunnel';

import { EdgeTable } from './record/edge-table.ts';
import { EdgeEvents } from './record/events.ts';
import type { EdgeTables } from './record/tables.ts';

/** Services that every part of this plugin uses. */
export interface Base {
  readonly tables: Tables<EdgeTables>;
  readonly edgeTable: EdgeTable;
  readonly events: EdgeEvents;
  /** Directory of devices; a handle, as its plugin may be unloaded. */
  readonly devices: Handle<DeviceDirectory>;
  readonly scopes: Handle<ScopeSource>;
  readonly trail: Handle<AuditTrailContract>;
  readonly secrets: Secrets;
  readonly settings: Settings;
  readonly sweeper: Sweeper;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly build: Build;
  readonly managerVersion: string;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
  /** Outlives the request that asks for it. */
  readonly inBackground: (task: string, work: () => Promise<void>) => void;
}

export function openBase(ctx: PluginContext): Base {
  const { clock, ids, log, secrets, settings } = ctx;
  const build = ctx.services.use(BuildInfo);
  const tables = ctx.db<EdgeTables>();
  const events = new EdgeEvents(ctx.events);
  const own = new AsyncResource('svc.edge');
  return {
    tables,
    events,
    secrets,
    settings,
    clock,
    ids,
    log,
    build,
    managerVersion: build.version,
    edgeTable: new EdgeTable({ tables, secrets, events }),
    devices: ctx.services.maybe(DeviceDirectory),
    scopes: ctx.services.maybe(DeviceScopes),
    trail: ctx.services.maybe(AuditTrail),
    sweeper: openSweeper(clock, (error) =>
      log.error({ event: 'edge.timer_failed', cause: messageOf(error) }, 'tunnel timer failed'),
    ),
    random: () => Buffer.from(ids.token(6), 'base64url').readUIntBE(0, 6) / 2 ** 48,
    inBackground: (task, work) =>
      own.runInAsyncScope(
        () =>
          void work().catch((error: unknown) =>
            log.warn(
              { event: 'edge.task_failed', task, cause: messageOf(error) },
              'background task failed',
            ),
          ),
      ),
  };
}
