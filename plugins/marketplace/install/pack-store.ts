import type { Kysely } from 'kysely';
import type { Ceiling } from 'svc/contracts/gate';
import { type Page, pageOf, type PageRequest, type Tables } from 'svc/sdk';

import type { Admitted, Installed, Lock } from './lock.ts';
import type { ChangeRow, HistoryRow, PackTables } from './tables.ts';

/** Entry in the history of a pack. */
export type HistoryEntry = Omit<HistoryRow, 'id'>;

/** The only SQL of installed packs, and of changes that have begun. */
export class PackStore {
  readonly #tables: Tables<PackTables>;

  constructor(tables: Tables<PackTables>) {
    this.#tables = tables;
  }

  async all(): Promise<readonly Installed[]> {
    const rows = await this.#tables.read.selectFrom('marketplace_packs').selectAll().execute();
    return rows.map((row) => ({
      packId: row.pack_id,
      lock: JSON.parse(row.lock) as Lock,
      before: row.before === null ? undefined : (JSON.parse(row.before) as Lock),
      ceiling: JSON.parse(row.ceiling) as Ceiling,
      admitted: JSON.parse(row.admitted) as Admitted,
      linked: row.linked ?? undefined,
      installedBy: row.installed_by,
      installedAt: row.installed_at,
      updatedAt: row.updated_at,
    }));
  }

  changes(): Promise<readonly ChangeRow[]> {
    return this.#tables.read.selectFrom('marketplace_changes').selectAll().execute();
  }

  async beginChange(change: ChangeRow): Promise<void> {
    await this.#tables.write((tx) =>
      tx
        .insertInto('marketplace_changes')
        .values(change)
        .onConflict((conflict) => conflict.column('pack_id').doUpdateSet(change))
        .execute(),
    );
  }

  /** Ends a change that was undone or completed. */
  async endChange(packId: string): Promise<void> {
    await this.#tables.write((tx) =>
      tx.deleteFrom('marketplace_changes').where('pack_id', '=', packId).execute(),
    );
  }

  /** Completes a change: the installed state and the end of the change are one commit. */
  async settle(pack: Installed, entry: HistoryEntry): Promise<void> {
    await this.#tables.write(async (tx) => {
      await putPack(tx, pack);
      await tx.insertInto('marketplace_history').values(entry).execute();
      await tx.deleteFrom('marketplace_changes').where('pack_id', '=', pack.packId).execute();
    });
  }

  /** Marks a pack as uninstalled; its leftovers are still to be cleaned. */
  async leave(packId: string, entry: HistoryEntry): Promise<void> {
    await this.#tables.write(async (tx) => {
      await tx.deleteFrom('marketplace_packs').where('pack_id', '=', packId).execute();
      await tx.insertInto('marketplace_history').values(entry).execute();
      await tx
        .updateTable('marketplace_changes')
        .set({ step: 'cleaning' })
        .where('pack_id', '=', packId)
        .execute();
    });
  }

  /** Changes the record of an installed pack, but none of its files. */
  async save(pack: Installed): Promise<void> {
    await this.#tables.write((tx) => putPack(tx, pack));
  }

  /** The last change of a pack. */
  lastOf(packId: string): Promise<HistoryRow | undefined> {
    return this.#tables.read
      .selectFrom('marketplace_history')
      .selectAll()
      .where('pack_id', '=', packId)
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
  }

  history(packId: string | undefined, page: PageRequest): Promise<Page<HistoryRow>> {
    const all = this.#tables.read.selectFrom('marketplace_history').selectAll();
    return pageOf(packId === undefined ? all : all.where('pack_id', '=', packId), 'id', page);
  }

  async purge(packId: string): Promise<number> {
    const { numDeletedRows } = await this.#tables.write((tx) =>
      tx.deleteFrom('marketplace_history').where('pack_id', '=', packId).executeTakeFirst(),
    );
    return Number(numDeletedRows);
  }
}

async function putPack(db: Kysely<PackTables>, pack: Installed): Promise<void> {
  const row = rowOf(pack);
  await db
    .insertInto('marketplace_packs')
    .values(row)
    .onConflict((conflict) => conflict.column('pack_id').doUpdateSet(row))
    .execute();
}

const rowOf = (pack: Installed): PackTables['marketplace_packs'] => ({
  pack_id: pack.packId,
  lock: JSON.stringify(pack.lock),
  before: pack.before === undefined ? null : JSON.stringify(pack.before),
  ceiling: JSON.stringify(pack.ceiling),
  admitted: JSON.stringify(pack.admitted),
  linked: pack.linked ?? null,
  installed_by: pack.installedBy,
  installed_at: pack.installedAt,
  updated_at: pack.updatedAt,
});
