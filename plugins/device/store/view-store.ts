import type { Tables } from 'svc/sdk';

import type { DeviceTables, SavedViewRow } from './tables.ts';

type Saved = Omit<SavedViewRow, 'id'>;

/** Views of the fleet that people keep, each for themselves; the only statements about them. */
export const viewStore = (tables: Tables<DeviceTables>) => ({
  /** Returns the views of one owner, by name. */
  of: (owner: string): Promise<SavedViewRow[]> =>
    tables.read
      .selectFrom('device_saved_views')
      .selectAll()
      .where('owner', '=', owner)
      .orderBy('name')
      .execute(),

  /**
   * Saves a view; one of the same name becomes this one. Undefined where that would be more than
   * `most` of one owner.
   */
  save: ({ owner, name, ...saved }: Saved, most: number): Promise<SavedViewRow | undefined> =>
    tables.write(async (tx) => {
      const known = await tx
        .selectFrom('device_saved_views')
        .select('name')
        .where('owner', '=', owner)
        .execute();
      if (known.length >= most && !known.some((one) => one.name === name)) {
        return undefined;
      }
      return await tx
        .insertInto('device_saved_views')
        .values({ owner, name, ...saved })
        .onConflict((conflict) => conflict.columns(['owner', 'name']).doUpdateSet(saved))
        .returningAll()
        .executeTakeFirstOrThrow();
    }),

  /** Removes a view of this owner; false if there is none. */
  async remove(owner: string, id: number): Promise<boolean> {
    const { numDeletedRows } = await tables.write((tx) =>
      tx
        .deleteFrom('device_saved_views')
        .where('id', '=', id)
        .where('owner', '=', owner)
        .executeTakeFirst(),
    );
    return numDeletedRows > 0n;
  },
});
