import { AsyncResource } from 'node:async_hooks';
import { resolve } from 'node:path';

import { AuditTrail, BuildInfo, definePlugin, defineService, messageOf, Plugins } from 'svc/sdk';
import { openSweeper, type TunnelSession } from 'svc/tunnel';

import type { DeviceDirectory } from '../device/contract.ts';
import type { EdgePushesContract } from '../ingest/contract.ts';
import type { MetricsIngest } from '../metricsdb/contract.ts';
import type { Credentials } from '../session/contract.ts';
import { createBufferNote } from './connection/buffer-note.ts';
import { createCatalogue } from './plugins/catalogue.ts';
import { createConflicts } from './connection/conflicts.ts';
import { EdgeFleet, FleetSkills } from './contract.ts';
import { createDesired } from './plugins/desired-state.ts';
import { edgeRoutes } from './edge-routes.ts';
import { createEdgePlugins } from './plugins/edge-plugins.ts';
import { createEdges } from './edges.ts';
import { enrolmentRoutes } from './enrolment/enrolment-routes.ts';
import { createEnrolments } from './enrolment/enrolments.ts';
import { createFleet } from './fleet.ts';
import { createGovernor } from './connection/handshake-limits.ts';
import { createGreeting } from './connection/acceptor.ts';
import { createHearing, type Note } from './connection/event-intake.ts';
import { keepHouse } from './housekeeping.ts';
import { createIntroductions } from './connection/introductions.ts';
import { keepLocalEdge } from './enrolment/local-edge.ts';
import { createKeyring } from './connection/keyring.ts';
import { createLiveAnswers } from './live-answers.ts';
import { createLobby } from './connection/admission-queue.ts';
import { createOnlineSeries } from './connection/online-series.ts';
import { createPackages } from './upgrade/packages.ts';
import { createHealthKeeper } from './plugins/plugin-health.ts';
import { pluginRoutes } from './plugins/plugin-routes.ts';
import { createPresence } from './connection/presence.ts';
import { createPushes } from './connection/pushes.ts';
import type { EdgeRecord } from './record.ts';
import { createRivalry } from './connection/clone-detector.ts';
import { createRoll } from './edge-table.ts';
import { createRotations } from './connection/rotations.ts';
import { createSelfMetrics } from './self-metrics.ts';
import { createFleetSkills } from './skills.ts';
import type { EdgeTables } from './tables.ts';
import { createTelling } from './events.ts';
import { tunnelRoute } from './connection/tunnel-route.ts';
import { upgradeRoutes } from './upgrade/upgrade-routes.ts';
import { createUpgrades } from './upgrade/upgrades.ts';

/** By its id: what keeps sessions may be away. */
const credentials: typeof Credentials = { kind: 'extension-point', id: 'session.credentials' };

export default definePlugin({
  async activate(ctx) {
    const { clock, ids, log, secrets, settings } = ctx;
    const build = ctx.services.use(BuildInfo);
    const managerVersion = build.version;
    // Known once the house listens.
    const publicUrl = (): string => build.publicUrl;
    // By their ids: the folders of these may be taken away.
    const devices = ctx.services.maybe(defineService<DeviceDirectory>('device.directory'));
    const metricsStore = ctx.services.maybe(defineService<MetricsIngest>('metrics.ingest'));
    const pushDoor = ctx.services.maybe(defineService<EdgePushesContract>('ingest.pushes'));
    const trail = ctx.services.maybe(AuditTrail);
    const tables = ctx.db<EdgeTables>();

    const own = new AsyncResource('svc.edge');
    const detached = (work: () => Promise<void>): void => {
      own.runInAsyncScope(() => void work().catch((error: unknown) => log.warn({ cause: messageOf(error) }, 'something did not come to its end')));
    };
    const random = (): number => Buffer.from(ids.token(6), 'base64url').readUIntBE(0, 6) / 2 ** 48;
    const sweeper = openSweeper(clock, (error) => log.error({ cause: messageOf(error) }, 'an appointment of a tunnel failed'));
    const telling = createTelling(ctx.events);
    const owners = new Map<TunnelSession, EdgeRecord>();

    const roll = createRoll(tables, secrets, telling.written);
    const catalogue = createCatalogue(ctx.services.use(Plugins), log);
    const keyring = createKeyring(roll, clock, ids);
    const governorLimits = () => ({
      unproved: 256,
      perSecond: settings.get<number>('edge.handshakes_per_second'),
      perAddress: settings.get<number>('edge.handshakes_per_address'),
    });
    const governor = createGovernor(governorLimits, clock, random);
    const lobby = createLobby(clock, random);
    const rivalry = createRivalry(clock);
    const presence = createPresence({ roll, tables, sweeper, clock, telling });
    const conflicts = createConflicts({ tables, trail, telling, clock, ids, log });
    const rotations = createRotations({ roll, tables, secrets, sweeper, clock, ids, log });
    const desired = createDesired({ roll, catalogue, up: presence.up, ids, log });
    const health = createHealthKeeper({ tables, catalogue, telling });
    const introductions = createIntroductions({ roll, tables, devices, log });
    const fleet = createFleet(roll, presence);
    const packages = createPackages(resolve(ctx.dataDir, '../../agent-packages'));
    const upgrades = createUpgrades({ tables, fleet, packages, telling, clock, ids, log, publicUrl, managerVersion });
    const edges = createEdges({ roll, tables, secrets, presence, rotations, rivalry, devices, telling, clock, ids, log, managerVersion, detached });
    const enrolments = createEnrolments({ edges, roll, tables, clock, ids, publicUrl, pin: () => settings.get<string>('edge.pin') });
    const plugins = createEdgePlugins({ roll, tables, catalogue, desired, health, clock });

    const notes = new Map<string, Note>([
      ['plugin_health', health.note],
      ['host_info', introductions.note],
      ['upgrade_state', upgrades.note],
      ['buffer', createBufferNote()],
    ]);
    const pushes = createPushes(owners, pushDoor, settings);
    const hearing = createHearing(notes, owners);
    const handlers = { ...hearing, methods: new Map([...hearing.methods, ['push', pushes.method] as const]) };
    const greet = createGreeting({
      ...{ roll, keyring, governor, rivalry, conflicts, presence, rotations, desired, sweeper, ids, random, log, managerVersion, handlers, owners, pushes },
    });

    catalogue.refresh();
    await roll.load();
    ctx.services.provide(EdgeFleet, () => fleet);
    ctx.services.provide(FleetSkills, () => createFleetSkills({ fleet, tables, trail, clock, ids }));
    ctx.extend.contribute(credentials, 'edge-key', keyring);
    ctx.http.routes([
      ...enrolmentRoutes(enrolments),
      ...edgeRoutes(edges, createLiveAnswers(fleet)),
      ...pluginRoutes(plugins),
      ...upgradeRoutes(upgrades, packages),
      tunnelRoute(governor, lobby, greet),
    ]);
    const observe = createSelfMetrics(ctx.metrics, roll, presence, governor, introductions);
    const series = createOnlineSeries(roll, presence, metricsStore);
    keepLocalEdge(ctx, build, { edges, roll, tables });
    keepHouse(ctx, { tables, devices, roll, presence, rotations, rivalry, health, desired, catalogue, enrolments, upgrades, series, observe, sweeper, lobby });
  },
});
