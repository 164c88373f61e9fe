import { type Clock, type Page, type PageRequest, SvcError, type Tables, timestamp } from 'svc/sdk';

import { hostKeyStore } from './host-key-store.ts';
import type { HostKey } from './ssh/fingerprint.ts';
import type { HostKeyRow, WebshellDb, WebshellTables } from './tables.ts';

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
  const rows = hostKeyStore(read);

  return {
    known: (deviceId) => rows.find(deviceId),

    async verify(deviceId, key) {
      const before = await rows.find(deviceId);
      if (before?.fingerprint === key.fingerprint) {
        return 'known';
      }
      const row = await write(async (tx) => {
        await hostKeyStore(tx).meet(deviceId, key, clock.now());
        return await demand(tx, deviceId);
      });
      if (row.fingerprint !== key.fingerprint) {
        throw new SvcError(
          'conflict',
          `the SSH server of this device shows ${key.fingerprint}, and ${row.fingerprint} is trusted: the machine was set up anew, or somebody is in between. ` +
            'An administrator who knows that the new key is right can accept it',
        );
      }
      return 'first_use';
    },

    async list(page) {
      const { items, ...rest } = await rows.list(page);
      return { ...rest, items: items.map(shown) };
    },

    accept: (deviceId, fingerprint) =>
      write(async (tx) => {
        const before = await demand(tx, deviceId);
        if (before.offered_fingerprint !== fingerprint) {
          throw new SvcError('conflict', `the key that was refused last is ${before.offered_fingerprint ?? 'none'}, not ${fingerprint}`);
        }
        const after = await hostKeyStore(tx).replace(deviceId, { algorithm: before.offered_algorithm!, fingerprint }, clock.now());
        return { before: shown(before), after: shown(after) };
      }),

    forget: (deviceId) =>
      write(async (tx) => {
        const before = await demand(tx, deviceId);
        await hostKeyStore(tx).remove(deviceId);
        return shown(before);
      }),

    drop: (deviceId) => write((tx) => hostKeyStore(tx).remove(deviceId)),
  };
}

async function demand(db: WebshellDb, deviceId: number): Promise<HostKeyRow> {
  const row = await hostKeyStore(db).find(deviceId);
  if (!row) {
    throw new SvcError('not_found', `no host key of device ${deviceId} is known; it is trusted when the first shell is opened`);
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
      : { algorithm: row.offered_algorithm!, fingerprint: row.offered_fingerprint, offered_at: timestamp(row.offered_at!) },
});
