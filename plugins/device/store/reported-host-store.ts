import { among } from './device-store.ts';
import type { DeviceDb, DeviceRow, ReportedHostRow } from './tables.ts';

/** The only statements about hosts that connected stores report. */
export const reportedHostStore = (db: DeviceDb) => ({
  ofSource: (source: string): Promise<ReportedHostRow[]> =>
    db.selectFrom('device_reported_hosts').selectAll().where('source', '=', source).execute(),

  ofDevices: (ids: readonly number[]): Promise<ReportedHostRow[]> =>
    db
      .selectFrom('device_reported_hosts')
      .selectAll()
      .where('device_id', 'in', among(ids))
      .orderBy('source')
      .execute(),

  async put(row: ReportedHostRow): Promise<void> {
    await db
      .insertInto('device_reported_hosts')
      .values(row)
      .onConflict((conflict) => conflict.columns(['source', 'host']).doUpdateSet(row))
      .execute();
  },

  async removeSource(source: string): Promise<void> {
    await db.deleteFrom('device_reported_hosts').where('source', '=', source).execute();
  },

  /**
   * Returns the device of this host name that only stores report; undefined if there is none, or
   * more than one.
   */
  async unwatched(hostname: string): Promise<DeviceRow | undefined> {
    const rows = await db
      .selectFrom('device_devices')
      .selectAll()
      .where((eb) => eb(eb.fn<string>('lower', ['hostname']), '=', hostname.toLowerCase()))
      .where('machine_uuid', 'is', null)
      .where('machine_key', 'is', null)
      .where('id', 'in', (eb) => eb.selectFrom('device_reported_hosts').select('device_id'))
      .where((eb) =>
        eb.not(
          eb.exists(
            eb
              .selectFrom('device_edges')
              .select('edge_id')
              .whereRef('device_edges.device_id', '=', 'device_devices.id'),
          ),
        ),
      )
      .limit(2)
      .execute();
    return rows.length === 1 ? rows[0] : undefined;
  },
});
