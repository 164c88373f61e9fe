import { type Handle, isSvcError, type PluginContext, type Tables } from 'svc/sdk';
import { retryWindow, type Sweeper, sweepMs } from 'svc/tunnel';

import type { DeviceDirectory } from '../device/contract.ts';
import type { Catalogue } from './plugins/catalogue.ts';
import { EdgeOffline, EdgeOnline, EdgeWritten } from './contract.ts';
import type { Desired } from './plugins/desired-state.ts';
import { edgeStore } from './edge-store.ts';
import type { Enrolments } from './enrolment/enrolments.ts';
import { DeviceChanged, DeviceRemoved } from './neighbours.ts';
import type { Lobby } from './connection/admission-queue.ts';
import type { OnlineSeries } from './connection/online-series.ts';
import type { HealthKeeper } from './plugins/plugin-health.ts';
import { hysteresisMs, type Presence } from './connection/presence.ts';
import type { Rivalry } from './connection/clone-detector.ts';
import type { Roll } from './edge-table.ts';
import type { Rotations } from './connection/rotations.ts';
import type { EdgeTables } from './tables.ts';
import type { Upgrades } from './upgrade/upgrades.ts';

export interface Household {
  readonly tables: Tables<EdgeTables>;
  readonly devices: Handle<DeviceDirectory>;
  readonly roll: Roll;
  readonly presence: Presence;
  readonly rotations: Rotations;
  readonly rivalry: Rivalry;
  readonly health: HealthKeeper;
  readonly desired: Desired;
  readonly catalogue: Catalogue;
  readonly enrolments: Enrolments;
  readonly upgrades: Upgrades;
  readonly series: OnlineSeries;
  readonly observe: () => void;
  readonly sweeper: Sweeper;
  readonly lobby: Lobby;
}

const second = 1_000;
const pingMs = 20_000;

/** What has to happen without anybody asking for it. */
export function keepHouse({ clock, events, log, scope }: PluginContext, house: Household): void {
  const { tables, devices, roll, presence, rotations, rivalry, health, desired, catalogue, enrolments, upgrades, series, observe, sweeper, lobby } = house;

  /** What storage cannot take now is done next time; it must not count against the room that holds the tunnels. */
  const chore = (label: string, work: () => Promise<void>) => async (): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!isSvcError(error)) {
        throw error;
      }
      log.warn({ cause: error.message }, `${label} must wait`);
    }
  };
  const flush = chore('writing down who was seen', async () => {
    await presence.flush();
    await health.flush();
  });

  events.on(EdgeWritten, ({ edge_id: id }) =>
    chore('reading an edge that has changed', async () => {
      const record = roll.byId(id);
      if ((await roll.follow(id)) === undefined && record !== undefined) {
        await record.tunnel?.session.close();
        presence.removed(record);
      }
    })(),
  );
  events.on(DeviceRemoved, ({ device_id: deviceId }) =>
    chore('forgetting a device', async () => {
      await tables.write((tx) => edgeStore(tx).leaveDevice(deviceId));
      for (const record of roll.all()) {
        if (record.deviceId === deviceId) {
          record.deviceId = null;
        }
      }
    })(),
  );

  /** Devices of which an edge may have been taken off; asked in one pass, because a fleet that comes back changes all of them. */
  const changed = new Set<number>();
  events.on(DeviceChanged, ({ device_id: deviceId }) => void changed.add(deviceId));
  const askForDevices = chore('asking for devices', async () => {
    const asked = new Set(changed);
    changed.clear();
    for (const record of asked.size === 0 || !devices.available ? [] : roll.all()) {
      // One that is online introduces itself.
      if (record.tunnel === undefined && record.deviceId !== null && asked.has(record.deviceId)) {
        const deviceId = (await devices.get().deviceOf(record.id)) ?? null;
        if (deviceId !== record.deviceId && record.tunnel === undefined) {
          await tables.write((tx) => edgeStore(tx).observe(record.id, { device_id: deviceId }));
          record.deviceId = deviceId;
        }
      }
    }
  });

  /** Told at once and together: whoever looks at the series need not wait for the next look at all of them. */
  const turned = new Set<number>();
  events.on(EdgeOnline, ({ edge_id: id }) => void turned.add(id));
  events.on(EdgeOffline, ({ edge_id: id }) => void turned.add(id));
  const tellTurned = chore('telling who came or went', async () => {
    const ids = [...turned];
    turned.clear();
    await series.writeSome(clock.now(), ids);
  });

  scope.defer('write down who was seen', flush);
  scope.interval('tunnels', sweepMs, () => {
    sweeper.tick();
    lobby.turn();
  });
  scope.interval('write down who was seen', 15 * second, flush);
  scope.interval(
    'tell who is online',
    30 * second,
    chore('telling who is online', () => series.write(clock.now())),
  );
  scope.interval('tell who came or went', second, tellTurned);
  scope.interval('look at the edges', 5 * second, observe);
  scope.interval('ask for devices', 5 * second, askForDevices);
  scope.interval(
    'look after the edges',
    60 * second,
    chore('looking after the edges', async () => {
      rivalry.prune();
      await rotations.offerAll();
      if (catalogue.refresh()) {
        desired.forget();
      }
      desired.settleAll();
      await upgrades.sweep();
    }),
  );
  scope.interval(
    'forget old enrolments',
    3_600 * second,
    chore('forgetting old enrolments', () => enrolments.purge()),
  );
  scope.task(
    'await the edges',
    chore('looking who was online', async () => {
      // Once more: the generation before this one may have changed something while this one was brought up.
      await roll.load();
      rotations.expireAll();
      presence.await(Math.max(2 * pingMs, retryWindow(roll.size).retryMaxMs) + hysteresisMs);
    }),
  );
}
