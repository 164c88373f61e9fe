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
      SELECT cast(value ->> 0 AS integer), cast(value ->> 1 AS integer), cast(value ->> 2 AS integer), cast(value ->> 3 AS integer), value ->> 4, value ->> 5
      FROM json_each(${JSON.stringify(packed)})
      WHERE EXISTS (SELECT 1 FROM edge_edges WHERE id = cast(value ->> 0 AS integer))
      ON CONFLICT (edge_id) DO UPDATE SET online = excluded.online, last_seen_at = excluded.last_seen_at,
        last_registered_at = excluded.last_registered_at, agent_version = excluded.agent_version, machine_uuid = excluded.machine_uuid
    `.execute(db);
  },

  async putSeen(seen: readonly (readonly [edgeId: number, at: number])[]): Promise<void> {
    await sql`
      UPDATE edge_presence SET last_seen_at = cast(news.value ->> 1 AS integer) FROM json_each(${JSON.stringify(seen)}) AS news
      WHERE edge_presence.edge_id = cast(news.value ->> 0 AS integer)
    `.execute(db);
  },
});
