import type { EdgeDb, KeyRow } from './tables.ts';

/** The only statements about the keys of edges. */
export const keyStore = (db: EdgeDb) => ({
  /** Returns the keys by edge, newest first. */
  all: (): Promise<KeyRow[]> =>
    db
      .selectFrom('edge_keys')
      .selectAll()
      .orderBy('edge_id')
      .orderBy('generation', 'desc')
      .execute(),

  /** Newest first. */
  of: (edgeId: number): Promise<KeyRow[]> =>
    db
      .selectFrom('edge_keys')
      .selectAll()
      .where('edge_id', '=', edgeId)
      .orderBy('generation', 'desc')
      .execute(),

  async add(row: KeyRow): Promise<void> {
    await db.insertInto('edge_keys').values(row).execute();
  },

  async setExpiry(edgeId: number, generation: number, at: number): Promise<void> {
    await db
      .updateTable('edge_keys')
      .set({ dies_at: at })
      .where('edge_id', '=', edgeId)
      .where('generation', '=', generation)
      .execute();
  },

  async forgetOffer(edgeId: number): Promise<void> {
    await db.updateTable('edge_keys').set({ offer: null }).where('edge_id', '=', edgeId).execute();
  },

  async drop(edgeId: number, generations: readonly number[]): Promise<void> {
    if (generations.length > 0) {
      await db
        .deleteFrom('edge_keys')
        .where('edge_id', '=', edgeId)
        .where('generation', 'in', generations)
        .execute();
    }
  },
});
