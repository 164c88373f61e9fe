import { sql } from 'kysely';
import type { PluginHealth } from 'svc/edge-protocol';

import type { EdgeDb, PluginRow } from './tables.ts';

/** The only statements about plugins of edges: what is wanted of them, and how they are. */
export const pluginStore = (db: EdgeDb) => ({
  allWishes: (): Promise<PluginRow[]> => db.selectFrom('edge_plugins').selectAll().execute(),

  wishesOf: (edgeId: number): Promise<PluginRow[]> =>
    db.selectFrom('edge_plugins').selectAll().where('edge_id', '=', edgeId).execute(),

  async putWish(row: PluginRow): Promise<void> {
    await db
      .insertInto('edge_plugins')
      .values(row)
      .onConflict((conflict) => conflict.columns(['edge_id', 'name']).doUpdateSet(row))
      .execute();
  },

  async healthOf(edgeId: number): Promise<Map<string, PluginHealth>> {
    const rows = await db
      .selectFrom('edge_plugin_health')
      .selectAll()
      .where('edge_id', '=', edgeId)
      .execute();
    return new Map(rows.map(({ name, health }) => [name, JSON.parse(health) as PluginHealth]));
  },

  /** However many there are, one statement; those whose edge was deleted meanwhile are left out. */
  async putHealth(
    news: readonly (readonly [edgeId: number, name: string, health: PluginHealth])[],
  ): Promise<void> {
    await sql`
      INSERT INTO edge_plugin_health (edge_id, name, health)
      SELECT cast(value ->> 0 AS integer), value ->> 1, value -> 2 FROM json_each(${JSON.stringify(news)})
      WHERE EXISTS (SELECT 1 FROM edge_edges WHERE id = cast(value ->> 0 AS integer))
      ON CONFLICT (edge_id, name) DO UPDATE SET health = excluded.health
    `.execute(db);
  },
});
