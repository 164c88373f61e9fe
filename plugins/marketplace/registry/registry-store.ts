import type { Tables } from 'svc/sdk';

import type { RegistryRow, RegistryTables } from './tables.ts';

/** The only SQL of registries. */
export class RegistryStore {
  readonly #tables: Tables<RegistryTables>;

  constructor(tables: Tables<RegistryTables>) {
    this.#tables = tables;
  }

  all(): Promise<readonly RegistryRow[]> {
    return this.#tables.read
      .selectFrom('marketplace_registries')
      .selectAll()
      .orderBy('name')
      .execute();
  }

  find(name: string): Promise<RegistryRow | undefined> {
    return this.#tables.read
      .selectFrom('marketplace_registries')
      .selectAll()
      .where('name', '=', name)
      .executeTakeFirst();
  }

  /** False when the name is taken. */
  async add(row: RegistryRow): Promise<boolean> {
    const { numInsertedOrUpdatedRows } = await this.#tables.write((tx) =>
      tx
        .insertInto('marketplace_registries')
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst(),
    );
    return Number(numInsertedOrUpdatedRows ?? 0) > 0;
  }

  async update(
    name: string,
    read: Partial<Pick<RegistryRow, 'content' | 'known' | 'etag' | 'error' | 'refreshed_at'>>,
  ): Promise<void> {
    await this.#tables.write((tx) =>
      tx.updateTable('marketplace_registries').set(read).where('name', '=', name).execute(),
    );
  }

  async remove(name: string): Promise<boolean> {
    const { numDeletedRows } = await this.#tables.write((tx) =>
      tx.deleteFrom('marketplace_registries').where('name', '=', name).executeTakeFirst(),
    );
    return Number(numDeletedRows) > 0;
  }
}
