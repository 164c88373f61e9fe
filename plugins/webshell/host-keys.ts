import { type Clock, type Page, type PageRequest, SvcError, type Tables, timestamp } from 'svc/sdk';

import type { HostKey } from './ssh/fingerprint.ts';
import type { HostKeyRow, WebshellTables } from './tables.ts';

/** Which key is the SSH server's of a device: the first one that was shown, and no other until an administrator says so. */
export interface HostKeys {
  known(deviceId: number): Promise<HostKey | undefined>;
  /** `first_use` when it is trusted from now on; throws conflict for a key that is not the trusted one. */
  verify(deviceId: number, key: HostKey): Promise<'known' | 'first_use'>;
  list(page: PageRequest): Promise<Page<ShownHostKey>>;
  /** Trusts the key that was refused; throws conflict unless it is the very one that the administrator has seen. */
  accept(deviceId: number, fingerprint: string): Promise<{ readonly before: ShownHostKey; readonly after: ShownHostKey }>;
  /** The next one that is shown will be trusted. */
  forget(deviceId: number): Promise<ShownHostKey>;
  /** Nothing when there is none. */
  drop(deviceId: number): Promise<void>;
}

export type ShownHostKey = ReturnType<typeof shown>;

export function createHostKeys({ read, write }: Tables<WebshellTables>, clock: Clock): HostKeys {
  const find = (db: typeof read, deviceId: number): Promise<HostKeyRow | undefined> =>
    db.selectFrom('webshell_host_keys').selectAll().where('device_id', '=', deviceId).executeTakeFirst();
  const demand = async (db: typeof read, deviceId: number): Promise<HostKeyRow> => {
    const row = await find(db, deviceId);
    if (!row) {
      throw new SvcError('not_found', `no host key of device ${deviceId} is known; it is trusted when the first shell is opened`);
    }
    return row;
  };
  const drop = async (db: typeof read, deviceId: number): Promise<void> => {
    await db.deleteFrom('webshell_host_keys').where('device_id', '=', deviceId).execute();
  };

  return {
    known: (deviceId) => find(read, deviceId),

    async verify(deviceId, { algorithm, fingerprint }) {
      const now = clock.now();
      const before = await find(read, deviceId);
      if (before?.fingerprint === fingerprint) {
        return 'known';
      }
      const row = await write(async (tx) => {
        await tx
          .insertInto('webshell_host_keys')
          .values({ device_id: deviceId, algorithm, fingerprint, trusted_at: now, trusted_by: 'first_use' })
          .onConflict((clash) =>
            clash
              .column('device_id')
              .doUpdateSet({ offered_algorithm: algorithm, offered_fingerprint: fingerprint, offered_at: now })
              .where('webshell_host_keys.fingerprint', '!=', fingerprint),
          )
          .execute();
        return await demand(tx, deviceId);
      });
      if (row.fingerprint !== fingerprint) {
        throw new SvcError(
          'conflict',
          `the SSH server of this device shows ${fingerprint}, and ${row.fingerprint} is trusted: the machine was set up anew, or somebody is in between. ` +
            'An administrator who knows that the new key is right can accept it',
        );
      }
      return 'first_use';
    },

    async list({ limit, after }) {
      const { total } = await read
        .selectFrom('webshell_host_keys')
        .select((eb) => eb.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow();
      const rows = await read
        .selectFrom('webshell_host_keys')
        .selectAll()
        .where('device_id', '>', Number(after?.[0] ?? 0))
        .orderBy('device_id')
        .limit(limit + 1)
        .execute();
      const items = rows.slice(0, limit);
      return { items: items.map(shown), total, next: rows.length > limit ? [items.at(-1)!.device_id] : undefined };
    },

    accept: (deviceId, fingerprint) =>
      write(async (tx) => {
        const before = await demand(tx, deviceId);
        if (before.offered_fingerprint !== fingerprint) {
          throw new SvcError('conflict', `the key that was refused last is ${before.offered_fingerprint ?? 'none'}, not ${fingerprint}`);
        }
        const after = await tx
          .updateTable('webshell_host_keys')
          .set({
            ...{ algorithm: before.offered_algorithm!, fingerprint, trusted_at: clock.now(), trusted_by: 'administrator' },
            ...{ offered_algorithm: null, offered_fingerprint: null, offered_at: null },
          })
          .where('device_id', '=', deviceId)
          .returningAll()
          .executeTakeFirstOrThrow();
        return { before: shown(before), after: shown(after) };
      }),

    forget: (deviceId) =>
      write(async (tx) => {
        const before = await demand(tx, deviceId);
        await drop(tx, deviceId);
        return shown(before);
      }),

    drop: (deviceId) => write((tx) => drop(tx, deviceId)),
  };
}

const shown = (row: HostKeyRow) => ({
  device_id: row.device_id,
  algorithm: row.algorithm,
  fingerprint: row.fingerprint,
  trusted_at: timestamp(row.trusted_at),
  trusted_by: row.trusted_by as 'first_use' | 'administrator',
  refused:
    row.offered_fingerprint === null
      ? null
      : { algorithm: row.offered_algorithm!, fingerprint: row.offered_fingerprint, offered_at: timestamp(row.offered_at!) },
});
