import {
  type Logger,
  type MasterKeys,
  messageOf,
  type Resealed,
  type Secrets,
  type Tables,
} from '../sdk/index.ts';
import type { CoreTables } from './core-tables.ts';
import { errors } from './errors.ts';
import type { KeyRing } from './keys.ts';
import { keysAtStart, keysIn, reseal } from './reseal.ts';
import type { SealedColumns } from './sealed-columns.ts';
import { surroundings } from './unit.ts';

interface MasterKeyParts {
  readonly ring: KeyRing;
  readonly core: Tables<CoreTables>;
  readonly columns: SealedColumns;
  readonly tables: (plugin: string) => Tables<unknown>;
  readonly secrets: (plugin: string) => Secrets;
  readonly log: Logger;
}

/** Steps of a rotation, each of which a kill may interrupt; `plugins/keys` combines them. */
export class StoredMasterKeys implements MasterKeys {
  readonly #parts: MasterKeyParts;

  constructor(parts: MasterKeyParts) {
    this.#parts = parts;
  }

  get older(): readonly string[] {
    return this.#parts.ring.older;
  }

  /** The key of a foreign backup may be in the ring, too; only those that a rotation has replaced are on their way out. */
  async superseded(): Promise<readonly string[]> {
    const rows = await this.#parts.core.read
      .selectFrom('core_superseded_keys')
      .select('kid')
      .execute();
    return this.older.filter((kid) => rows.some((row) => row.kid === kid));
  }

  async renew(): Promise<void> {
    const { ring, core } = this.#parts;
    if (!ring.isOwn && ring.older.length === 0) {
      throw errors.key_from_environment();
    }
    const replaced = [...ring.older, ...(ring.isOwn ? [ring.newest] : [])].map((kid) => ({ kid }));
    // First, because it takes the audit row along: a new key is not made when that cannot be written.
    await core.write((tx) =>
      tx
        .insertInto('core_superseded_keys')
        .values(replaced)
        .onConflict((conflict) => conflict.column('kid').doNothing())
        .execute(),
    );
    try {
      if (ring.isOwn) {
        ring.renew();
      }
    } catch (cause) {
      throw errors.key_file_unwritable({ cause: messageOf(cause) }, { cause });
    }
  }

  async reseal(signal: AbortSignal): Promise<Resealed> {
    const { ring, columns, tables, secrets } = this.#parts;
    const kid = ring.newest;
    const unreadable: string[] = [];
    let resealed = 0;
    for (const column of await columns.all()) {
      // On the account of core: a request that asked for it may end before it does.
      const found = await surroundings.run({}, () =>
        reseal(column, kid, tables(column.plugin), secrets(column.plugin), signal),
      );
      resealed += found.resealed;
      unreadable.push(...found.unreadable);
    }
    return { kid, resealed, unreadable };
  }

  /** Says that a key is missing: one bit more or less makes another key, which opens nothing. */
  async tellMissing(): Promise<void> {
    const { ring, columns, tables, log } = this.#parts;
    const missing = new Set<string>();
    for (const column of await columns.all()) {
      const kids = await keysAtStart(column, tables(column.plugin));
      kids.filter((kid) => !ring.has(kid)).forEach((kid) => missing.add(kid));
    }
    if (missing.size > 0) {
      log.error({ event: 'storage.key_missing', kids: [...missing] }, ring.missing);
    }
  }

  /** Drops superseded keys that no value needs; only before the first plugin runs, which could hold a value that is sealed and not yet written. */
  async retireUnused(): Promise<void> {
    try {
      await this.#retire();
    } catch (error) {
      this.#parts.log.warn(
        { event: 'storage.key_retire_failed', cause: messageOf(error) },
        'failed to retire a replaced master key; retrying at the next start',
      );
    }
  }

  async #retire(): Promise<void> {
    const { ring, core, columns, tables, log } = this.#parts;
    const leaving = new Set(ring.isOwn ? await this.superseded() : []);
    for (const column of leaving.size === 0 ? [] : await columns.all()) {
      (await keysIn(column, tables(column.plugin))).forEach((kid) => leaving.delete(kid));
    }
    if (leaving.size === 0) {
      return;
    }
    const kids = [...leaving];
    ring.retire(kids);
    await core.write((tx) =>
      tx.deleteFrom('core_superseded_keys').where('kid', 'in', kids).execute(),
    );
    log.info({ event: 'storage.keys_retired', kids }, 'retired unused master keys');
  }
}
