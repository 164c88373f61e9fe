import { type Page, pageOf, type PageRequest } from 'svc/sdk';

import { among } from './device-store.ts';
import type { DeviceDb, EdgeRow } from './tables.ts';

/** The only statements about which edge watches which device. */
export const edgeStore = (db: DeviceDb) => ({
  find: (edgeId: number): Promise<EdgeRow | undefined> =>
    db.selectFrom('device_edges').selectAll().where('edge_id', '=', edgeId).executeTakeFirst(),

  /** Returns the edges that watch the device. */
  watching: (deviceId: number): Promise<EdgeRow[]> => watching(db, [deviceId]),
  watchingAny: (deviceIds: readonly number[]): Promise<EdgeRow[]> => watching(db, deviceIds),

  /** Returns the edges that watch the device, and those that claim to. */
  around(deviceId: number, page: PageRequest): Promise<Page<EdgeRow>> {
    const there = db
      .selectFrom('device_edges')
      .selectAll()
      .where((eb) => eb.or([eb('device_id', '=', deviceId), eb('rival_device_id', '=', deviceId)]));
    return pageOf(there, 'edge_id', page);
  },

  async put(row: EdgeRow): Promise<void> {
    await db
      .insertInto('device_edges')
      .values(row)
      .onConflict((conflict) => conflict.column('edge_id').doUpdateSet(row))
      .execute();
  },

  /** Makes this edge the only one that watches the device. */
  async leaveTo(deviceId: number, edgeId: number): Promise<void> {
    await db
      .deleteFrom('device_edges')
      .where('device_id', '=', deviceId)
      .where('edge_id', '!=', edgeId)
      .execute();
  },

  async remove(edgeId: number): Promise<void> {
    await db.deleteFrom('device_edges').where('edge_id', '=', edgeId).execute();
  },

  /** Deletes rows without content. */
  async removeIdle(): Promise<void> {
    await db
      .deleteFrom('device_edges')
      .where('device_id', 'is', null)
      .where('rival_device_id', 'is', null)
      .execute();
  },
});

const watching = (db: DeviceDb, deviceIds: readonly number[]): Promise<EdgeRow[]> =>
  db
    .selectFrom('device_edges')
    .selectAll()
    .where('device_id', 'in', among(deviceIds))
    .where('rival_device_id', 'is', null)
    .orderBy('edge_id')
    .execute();
