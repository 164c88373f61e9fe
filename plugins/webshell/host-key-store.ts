import { type Page, pageOf, type PageRequest } from 'svc/sdk';

import type { HostKey } from './ssh/fingerprint.ts';
import type { HostKeyRow, WebshellDb } from './tables.ts';

/** The only statements about the keys of SSH servers. */
export const hostKeyStore = (db: WebshellDb) => ({
  find: (deviceId: number): Promise<HostKeyRow | undefined> =>
    db.selectFrom('webshell_host_keys').selectAll().where('device_id', '=', deviceId).executeTakeFirst(),

  list: (page: PageRequest): Promise<Page<HostKeyRow>> => pageOf(db.selectFrom('webshell_host_keys').selectAll(), 'device_id', page, 'asc'),

  /** Trusts the first key of a device; one that comes later and is another is only written beside it. */
  async meet(deviceId: number, { algorithm, fingerprint }: HostKey, now: number): Promise<void> {
    await db
      .insertInto('webshell_host_keys')
      .values({ device_id: deviceId, algorithm, fingerprint, trusted_at: now, trusted_by: 'first_use' })
      .onConflict((clash) =>
        clash
          .column('device_id')
          .doUpdateSet({ offered_algorithm: algorithm, offered_fingerprint: fingerprint, offered_at: now })
          .where('webshell_host_keys.fingerprint', '!=', fingerprint),
      )
      .execute();
  },

  replace: (deviceId: number, { algorithm, fingerprint }: HostKey, now: number): Promise<HostKeyRow> =>
    db
      .updateTable('webshell_host_keys')
      .set({
        ...{ algorithm, fingerprint, trusted_at: now, trusted_by: 'administrator' },
        ...{ offered_algorithm: null, offered_fingerprint: null, offered_at: null },
      })
      .where('device_id', '=', deviceId)
      .returningAll()
      .executeTakeFirstOrThrow(),

  async remove(deviceId: number): Promise<void> {
    await db.deleteFrom('webshell_host_keys').where('device_id', '=', deviceId).execute();
  },
});
