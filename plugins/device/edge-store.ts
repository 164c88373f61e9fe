import type { Page, PageRequest } from 'svc/sdk';

import { among } from './device-store.ts';
import type { DeviceDb, EdgeRow } from './tables.ts';

/** The only statements about which edge watches which device. */
export const edgeStore = (db: DeviceDb) => ({
  find: (edgeId: number): Promise<EdgeRow | undefined> => db.selectFrom('device_edges').selectAll().where('edge_id', '=', edgeId).executeTakeFirst(),

  /** Those that watch the device. */
  watching: (deviceId: number): Promise<EdgeRow[]> => watching(db, [deviceId]),
  watchingAny: (deviceIds: readonly number[]): Promise<EdgeRow[]> => watching(db, deviceIds),

  /** Those that watch it and those that claim to. */
  async around(deviceId: number, { limit, after }: PageRequest): Promise<Page<EdgeRow>> {
    const there = db.selectFrom('device_edges').where((eb) => eb.or([eb('device_id', '=', deviceId), eb('rival_device_id', '=', deviceId)]));
    const { total } = await there.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
    const found = await there
      .selectAll()
      .$if(after !== undefined, (query) => query.where('edge_id', '<', Number(after?.[0])))
      .orderBy('edge_id', 'desc')
      .limit(limit + 1)
      .execute();
    const items = found.slice(0, limit);
    return { items, total, next: found.length > limit ? [items.at(-1)!.edge_id] : undefined };
  },

  async put(row: EdgeRow): Promise<void> {
    await db.replaceInto('device_edges').values(row).execute();
  },

  async remove(edgeId: number): Promise<void> {
    await db.deleteFrom('device_edges').where('edge_id', '=', edgeId).execute();
  },

  /** Rows that say nothing any more. */
  async removeIdle(): Promise<void> {
    await db.deleteFrom('device_edges').where('device_id', 'is', null).where('rival_device_id', 'is', null).execute();
  },
});

const watching = (db: DeviceDb, deviceIds: readonly number[]): Promise<EdgeRow[]> =>
  db.selectFrom('device_edges').selectAll().where('device_id', 'in', among(deviceIds)).where('rival_device_id', 'is', null).orderBy('edge_id').execute();
