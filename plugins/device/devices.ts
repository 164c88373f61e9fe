import { type Call, type Clock, type Page, type PageRequest, SvcError, type Tables } from 'svc/sdk';
import type { Static } from 'typebox';

import type { Fleet } from './contract.ts';
import { type DeviceFilter, deviceStore } from './device-store.ts';
import { edgeStore } from './edge-store.ts';
import type { DevicePatch } from './schema.ts';
import { type ShownDevice, shownDevice, type ShownEdge, shownEdge } from './shown.ts';
import type { DeviceDb, DeviceRow, DeviceTables } from './tables.ts';
import type { Telling } from './telling.ts';

/** What a change needs to know of the call that asks for it. */
type By = Pick<Call, 'requireMatch' | 'note'>;

/** The devices as people see and change them. */
export interface Devices {
  list(filter: DeviceFilter, page: PageRequest): Promise<Page<ShownDevice>>;
  get(id: number): Promise<ShownDevice>;
  update(by: By, id: number, changes: Static<typeof DevicePatch>): Promise<ShownDevice>;
  setRoles(by: By, id: number, roles: readonly string[]): Promise<ShownDevice>;
  remove(by: By, id: number): Promise<void>;
  edges(id: number, page: PageRequest): Promise<Page<ShownEdge>>;
  /** Takes an edge off: the next time it introduces itself it is looked at as if for the first time. */
  detach(by: By, id: number, edgeId: number): Promise<void>;
}

export interface DevicesParts {
  readonly tables: Tables<DeviceTables>;
  readonly fleet: Fleet;
  /** Host nodes by device. */
  readonly nodesOf: (deviceIds: readonly number[]) => Promise<ReadonlyMap<number, number>>;
  readonly clock: Clock;
  readonly telling: Telling;
}

export function createDevices({ tables, fleet, nodesOf, clock, telling }: DevicesParts): Devices {
  const { read, write } = tables;

  async function shown(rows: readonly DeviceRow[], db: DeviceDb): Promise<ShownDevice[]> {
    const ids = rows.map(({ id }) => id);
    const up = fleet.online();
    const [edges, nodes] = [await edgeStore(db).watchingAny(ids), await nodesOf(ids)];
    return rows.map((row) => {
      const own = edges.filter(({ device_id }) => device_id === row.id).map(({ edge_id }) => edge_id);
      const seen = own.map((edge) => fleet.get(edge)?.last_seen_at ?? 0);
      return shownDevice(row, { online: own.some((edge) => up.has(edge)), lastSeenAt: Math.max(row.last_seen_at, ...seen), nodeId: nodes.get(row.id) });
    });
  }

  const shownOne = async (row: DeviceRow, db: DeviceDb): Promise<ShownDevice> => (await shown([row], db))[0]!;

  async function change(by: By, id: number, work: (tx: DeviceDb) => Promise<DeviceRow>): Promise<ShownDevice> {
    const after = await write(async (tx) => {
      const before = await shownOne(await found(id, tx), tx);
      by.requireMatch(before);
      const result = await shownOne(await work(tx), tx);
      by.note({ before, after: result });
      return result;
    });
    telling.changed(id);
    return after;
  }

  return {
    async list(filter, page) {
      const { items, ...rest } = await deviceStore(read).list(filter, fleet.online(), page);
      return { ...rest, items: await shown(items, read) };
    },

    get: async (id) => await shownOne(await found(id, read), read),

    update: (by, id, { display_name: name, tags }) =>
      change(by, id, async (tx) => {
        const devices = deviceStore(tx);
        if (tags !== undefined) {
          await devices.putTags(id, tags);
        }
        return await devices.update(
          id,
          { ...(name !== undefined && { display_name: name === null ? null : name.trim() }), ...(tags !== undefined && { tags: JSON.stringify(tags) }) },
          clock.now(),
        );
      }),

    setRoles: (by, id, roles) =>
      change(by, id, async (tx) => {
        const devices = deviceStore(tx);
        await devices.putRoles(id, roles);
        return await devices.update(id, { roles: JSON.stringify(roles) }, clock.now());
      }),

    async remove(by, id) {
      const edgeIds = await write(async (tx) => {
        const row = await found(id, tx);
        const before = await shownOne(row, tx);
        by.requireMatch(before);
        const edges = await edgeStore(tx).watching(id);
        const up = fleet.online();
        const live = edges.find(({ edge_id }) => up.has(edge_id));
        if (live !== undefined) {
          throw new SvcError(
            'conflict',
            `edge ${live.edge_id} is online and watches ${before.display_name}; stop it, or delete the edge, and then remove the device`,
          );
        }
        await deviceStore(tx).remove(id);
        await edgeStore(tx).removeIdle();
        by.note({ before });
        return edges.map(({ edge_id }) => edge_id);
      });
      telling.removed(id, edgeIds);
    },

    async edges(id, page) {
      await found(id, read);
      const { items, ...rest } = await edgeStore(read).around(id, page);
      return { ...rest, items: items.map((row) => shownEdge(row, fleet)) };
    },

    async detach(by, id, edgeId) {
      await write(async (tx) => {
        await found(id, tx);
        const row = await edgeStore(tx).find(edgeId);
        if (row === undefined || (row.device_id !== id && row.rival_device_id !== id)) {
          throw new SvcError('not_found', `edge ${edgeId} has nothing to do with device ${id}`);
        }
        if (row.rival_device_id === null && fleet.online().has(edgeId)) {
          throw new SvcError('conflict', `edge ${edgeId} is online and watches device ${id}; stop it first`);
        }
        await edgeStore(tx).remove(edgeId);
        by.note({ resourceType: 'device', resourceId: id, before: shownEdge(row, fleet) });
      });
      telling.changed(id);
    },
  };
}

async function found(id: number, db: DeviceDb): Promise<DeviceRow> {
  const row = await deviceStore(db).find(id);
  if (row === undefined) {
    throw new SvcError('not_found', `there is no device ${id}`);
  }
  return row;
}
