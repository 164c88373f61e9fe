import { type Clock, type Page, pageOf, type PageRequest, type Tables, timestamp } from 'svc/sdk';

import { errors } from '../protocol/errors.ts';
import type { Seen } from '../rights/authority.ts';
import { isSeen } from '../sessions/session-store.ts';
import type { HostKey } from './fingerprint.ts';
import type { HostKeyRow, WebshellDb, WebshellTables } from '../sessions/tables.ts';

export type ShownHostKey = ReturnType<typeof shown>;

/**
 * SSH host keys of devices: the first one presented is trusted, and no other until an administrator
 * accepts it.
 */
export class HostKeys {
  readonly #tables: Tables<WebshellTables>;
  readonly #clock: Clock;

  constructor(tables: Tables<WebshellTables>, clock: Clock) {
    this.#tables = tables;
    this.#clock = clock;
  }

  known(deviceId: number): Promise<HostKey | undefined> {
    return this.#rows.find(deviceId);
  }

  /** `first_use` when it is trusted from now on; throws conflict for a key that is not the trusted one. */
  async verify(deviceId: number, key: HostKey): Promise<'known' | 'first_use'> {
    const before = await this.#rows.find(deviceId);
    if (before?.fingerprint === key.fingerprint) {
      return 'known';
    }
    const row = await this.#tables.write(async (tx) => {
      await hostKeyStore(tx).meet(deviceId, key, this.#clock.now());
      return await requireKey(tx, deviceId);
    });
    if (row.fingerprint !== key.fingerprint) {
      throw errors.host_key_mismatch({ shown: key.fingerprint, trusted: row.fingerprint });
    }
    return 'first_use';
  }

  /** Returns keys of the devices that the asker sees. */
  async list(seen: Seen, page: PageRequest): Promise<Page<ShownHostKey>> {
    const { items, ...rest } = await this.#rows.list(seen, page);
    return { ...rest, items: items.map(shown) };
  }

  /** Trusts the key that was refused; throws conflict unless it is the very one that the administrator has seen. */
  accept(
    deviceId: number,
    fingerprint: string,
  ): Promise<{ readonly before: ShownHostKey; readonly after: ShownHostKey }> {
    return this.#tables.write(async (tx) => {
      const before = await requireKey(tx, deviceId);
      if (before.offered_fingerprint !== fingerprint) {
        throw errors.another_key_refused({
          refused: before.offered_fingerprint ?? 'none',
          fingerprint,
        });
      }
      const after = await hostKeyStore(tx).replace(
        deviceId,
        { algorithm: before.offered_algorithm!, fingerprint },
        this.#clock.now(),
      );
      return { before: shown(before), after: shown(after) };
    });
  }

  /** The next one that is shown will be trusted. */
  forget(deviceId: number): Promise<ShownHostKey> {
    return this.#tables.write(async (tx) => {
      const before = await requireKey(tx, deviceId);
      await hostKeyStore(tx).remove(deviceId);
      return shown(before);
    });
  }

  /** The same for a device that is gone; nothing when it has none. */
  drop(deviceId: number): Promise<void> {
    return this.#tables.write((tx) => hostKeyStore(tx).remove(deviceId));
  }

  get #rows() {
    return hostKeyStore(this.#tables.read);
  }
}

/** The only statements about the keys of SSH servers. */
const hostKeyStore = (db: WebshellDb) => ({
  find: (deviceId: number): Promise<HostKeyRow | undefined> =>
    db
      .selectFrom('webshell_host_keys')
      .selectAll()
      .where('device_id', '=', deviceId)
      .executeTakeFirst(),

  list: (seen: Seen, page: PageRequest): Promise<Page<HostKeyRow>> =>
    pageOf(
      db.selectFrom('webshell_host_keys').selectAll().where(isSeen(seen)),
      'device_id',
      page,
      'asc',
    ),

  /**
   * Trusts the first key of a device; a different one that comes later is only recorded next to it.
   */
  async meet(deviceId: number, { algorithm, fingerprint }: HostKey, now: number): Promise<void> {
    await db
      .insertInto('webshell_host_keys')
      .values({
        device_id: deviceId,
        algorithm,
        fingerprint,
        trusted_at: now,
        trusted_by: 'first_use',
      })
      .onConflict((clash) =>
        clash
          .column('device_id')
          .doUpdateSet({
            offered_algorithm: algorithm,
            offered_fingerprint: fingerprint,
            offered_at: now,
          })
          .where('webshell_host_keys.fingerprint', '!=', fingerprint),
      )
      .execute();
  },

  replace: (
    deviceId: number,
    { algorithm, fingerprint }: HostKey,
    now: number,
  ): Promise<HostKeyRow> =>
    db
      .updateTable('webshell_host_keys')
      .set({
        algorithm,
        fingerprint,
        trusted_at: now,
        trusted_by: 'administrator',
        offered_algorithm: null,
        offered_fingerprint: null,
        offered_at: null,
      })
      .where('device_id', '=', deviceId)
      .returningAll()
      .executeTakeFirstOrThrow(),

  async remove(deviceId: number): Promise<void> {
    await db.deleteFrom('webshell_host_keys').where('device_id', '=', deviceId).execute();
  },
});

async function requireKey(db: WebshellDb, deviceId: number): Promise<HostKeyRow> {
  const row = await hostKeyStore(db).find(deviceId);
  if (!row) {
    throw errors.no_host_key({ device: deviceId });
  }
  return row;
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
      : {
          algorithm: row.offered_algorithm!,
          fingerprint: row.offered_fingerprint,
          offered_at: timestamp(row.offered_at!),
        },
});
