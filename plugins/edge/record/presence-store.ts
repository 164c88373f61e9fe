import { sql } from 'kysely';

import type { EdgeDb, PresenceRow } from './tables.ts';

/** The only statements about the presence of edges. */
export const presenceStore = (db: EdgeDb) => ({
  all: (): Promise<PresenceRow[]> => db.selectFrom('edge_presence').selectAll().execute(),

  /** However many there are, one statement; those that were deleted meanwhile are left out. */
  async put(rows: readonly PresenceRow[]): Promise<void> {
    const packed = rows.map((row) => [
      row.edge_id,
      row.online,
      row.last_seen_at,
      row.last_registered_at,
      row.agent_version,
      row.machine_uuid,
    ]);
    await sql`
      INSERT INTO edge_presence (edge_id, online, last_seen_at, last_registered_at, agent_version, machine_uuid)
      SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5 FROM json_each(${JSON.stringify(packed)})
      WHERE EXISTS (SELECT 1 FROM edge_edges WHERE id = value ->> 0)
      ON CONFLICT (edge_id) DO UPDATE SET online = excluded.online, last_seen_at = excluded.last_seen_at,
        last_registered_at = excluded.last_registered_at, agent_version = excluded.agent_version, machine_uuid = excluded.machine_uuid
    `.execute(db);
  },

  async putSeen(seen: readonly (readonly [edgeId: number, at: number])[]): Promise<void> {
    await sql`
      UPDATE edge_presence SET last_seen_at = news.value ->> 1 FROM json_each(${JSON.stringify(seen)}) AS news
      WHERE edge_presence.edge_id = news.value ->> 0
    `.execute(db);
  },
});
