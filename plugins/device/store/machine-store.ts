import type { DeviceDb, DeviceRow } from './tables.ts';

/** The only statements about which machine a device is. */
export const machineStore = (db: DeviceDb) => ({
  byUuid: (uuid: string): Promise<DeviceRow | undefined> =>
    db.selectFrom('device_devices').selectAll().where('machine_uuid', '=', uuid).executeTakeFirst(),

  /** The machine that proves this key. */
  byKey: (key: string): Promise<DeviceRow | undefined> =>
    db.selectFrom('device_devices').selectAll().where('machine_key', '=', key).executeTakeFirst(),

  /** Removes this identity from other devices: it now belongs to a single one. */
  async forgetMachine({
    uuid,
    key,
    but,
  }: {
    readonly uuid: string;
    readonly key: string | null;
    readonly but: number;
  }): Promise<void> {
    const others = db.updateTable('device_devices').where('id', '!=', but);
    await others.set({ machine_uuid: null }).where('machine_uuid', '=', uuid).execute();
    if (key !== null) {
      await others.set({ machine_key: null }).where('machine_key', '=', key).execute();
    }
  },
});
