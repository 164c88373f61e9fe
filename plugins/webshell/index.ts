import { join } from 'node:path';

import { type DeviceChanged, DeviceDirectory, type DeviceRemoved } from 'svc/contracts/device';
import { EdgeFleet } from 'svc/contracts/edge';
import { Directory, type PersonChanged, type RoleChanged } from 'svc/contracts/iam';
import type { Credentials, SessionEnded } from 'svc/contracts/session';
import { DeviceScopes } from 'svc/query';
import { AuditTrail, BuildInfo, definePlugin, type PluginContext } from 'svc/sdk';

import { errors } from './protocol/errors.ts';
import { Authority } from './rights/authority.ts';
import { FailedLogins } from './rights/failed-logins.ts';
import { hostKeyRoutes } from './routes/host-key-routes.ts';
import { HostKeys } from './ssh/host-keys.ts';
import { ShellQuota } from './rights/quota.ts';
import { Recordings } from './recording/recordings.ts';
import { recordingRoutes } from './routes/recording-routes.ts';
import { closeLeftBehind } from './recording/recovery.ts';
import { Retention } from './recording/retention.ts';
import { SessionJournal } from './connection/session-journal.ts';
import { sessionRoutes } from './routes/session-routes.ts';
import { shellRoutes } from './routes/shell-routes.ts';
import { Shells } from './shell/shells.ts';
import { Turns } from './ssh/turns.ts';
import type { WebshellTables } from './sessions/tables.ts';
import { Tickets } from './rights/tickets.ts';
import { noteTo } from './sessions/trail.ts';

const credentials: typeof Credentials = { kind: 'extension-point', id: 'session.credentials' };
const deviceChanged: typeof DeviceChanged = { kind: 'event', id: 'device.changed' };
const deviceRemoved: typeof DeviceRemoved = { kind: 'event', id: 'device.removed' };
const personChanged: typeof PersonChanged = { kind: 'event', id: 'iam.person-changed' };
const roleChanged: typeof RoleChanged = { kind: 'event', id: 'iam.role-changed' };
const sessionEnded: typeof SessionEnded = { kind: 'event', id: 'session.ended' };

const secondMs = 1_000;
const minuteMs = 60_000;
const hourMs = 3_600_000;

export default definePlugin({
  errors,
  activate(ctx) {
    const { clock, ids, log, scope, settings } = ctx;
    const tables = ctx.db<WebshellTables>();
    const build = ctx.services.use(BuildInfo);
    const devices = ctx.services.use(DeviceDirectory);
    const authority = new Authority(ctx.services.use(Directory), ctx.services.maybe(DeviceScopes));
    const note = noteTo(ctx.services.maybe(AuditTrail), clock, ids);
    const tickets = new Tickets({ clock, ids, authority });
    const recordings = new Recordings({
      folder: join(ctx.dataDir, 'recordings'),
      secrets: ctx.secrets,
      ids,
    });
    const retention = new Retention({ tables, recordings, settings, note, clock });
    const shells = new Shells({ clock, authority });
    const hostKeys = new HostKeys(tables, clock);
    const life = String(build.startedAt);
    const after = (ms: number, work: () => void): (() => unknown) =>
      scope.timeout('timer of a shell', ms, work);
    const parts = {
      devices,
      fleet: ctx.services.maybe(EdgeFleet),
      authority,
      hostKeys,
      quota: new ShellQuota(),
      failedLogins: new FailedLogins(clock),
      shells,
      turns: new Turns({ after, now: () => clock.monotonic() }),
      settings,
      journal: new SessionJournal({ tables, note, recordings, settings, clock, life }),
      clock,
      log,
      after,
    };

    ctx.extend.contribute(credentials, 'ticket', tickets);
    ctx.http.routes(shellRoutes({ ...parts, tickets, publicUrl: build.publicUrl }));
    ctx.http.routes([
      ...sessionRoutes(tables, shells, authority),
      ...recordingRoutes({ tables, recordings, retention, authority }),
    ]);
    ctx.http.routes(hostKeyRoutes(hostKeys, authority));

    endWithTheirReason(ctx, { shells, tickets, devices, hostKeys });

    const open = ctx.metrics.gauge('open', 'Shells that are open.');
    scope.interval('check shells', secondMs, () => {
      shells.tick();
      open.set(shells.list().length);
    });
    const recovery = { tables, recordings, note, clock, log };
    scope.interval('close abandoned sessions', minuteMs, () =>
      closeLeftBehind(
        recovery,
        ({ id, started_at: startedAt }) =>
          shells.get(id) === undefined && startedAt < clock.now() - minuteMs,
      ),
    );
    scope.timeout('remove old recordings soon after the start', secondMs, () => retention.apply());
    scope.interval('remove old recordings', hourMs, () => retention.apply());
    scope.defer('end the shells that are open', () =>
      shells.endWhere(() => true, 'manager_restart', 'the service stops, or reloads its shells'),
    );
    return { closeOthers: () => closeLeftBehind(recovery, (row) => row.life !== life) };
  },
  start: (_ctx, { closeOthers }) => closeOthers(),
});

interface Ended {
  readonly shells: Shells;
  readonly tickets: Tickets;
  readonly devices: DeviceDirectory;
  readonly hostKeys: HostKeys;
}

/** A shell ends with the right, the session or the device that it was opened by. */
function endWithTheirReason(
  { events }: Pick<PluginContext, 'events'>,
  { shells, tickets, devices, hostKeys }: Ended,
): void {
  events.on(personChanged, () => shells.recheck());
  events.on(roleChanged, () => shells.recheck());
  events.on(sessionEnded, async ({ session_id: session }) => {
    tickets.forget(session);
    await shells.endWhere(
      ({ standing }) => standing.principal.session === session,
      'revoked',
      'the session in which this shell was opened has ended',
    );
  });
  const lost = (id: number, edges: (edgeId: number) => boolean): Promise<void> =>
    shells.endWhere(
      ({ deviceId, edgeId }) => deviceId === id && edges(edgeId),
      'device_lost',
      'the device was removed, or is watched by another edge now',
    );
  events.on(deviceChanged, async ({ device_id: id }) => {
    if (shells.list().some(({ deviceId }) => deviceId === id)) {
      const edge = await devices.onlineEdge(id);
      await lost(id, (edgeId) => edge !== undefined && edgeId !== edge);
      // Its tags and roles determine who sees it.
      shells.recheck();
    }
  });
  events.on(deviceRemoved, async ({ device_id: id }) => {
    await lost(id, () => true);
    await hostKeys.drop(id);
  });
}
