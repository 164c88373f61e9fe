import type { Generated, Insertable, Selectable, Updateable } from 'kysely';
import type { Tables } from 'svc/sdk';

export interface HeartbeatTables {
  heartbeats_heartbeats: {
    id: Generated<number>;
    name: string;
    token_digest: string;
    token: string;
    period_s: number | null;
    cron: string | null;
    time_zone: string;
    grace_s: number;
    paused: Generated<number>;
    state: Generated<string>;
    state_since: number;
    cause: string | null;
    failure: string | null;
    counted_from: number | null;
    started_at: number | null;
    last_ping_at: number | null;
    created_at: number;
    updated_at: number;
  };
  heartbeats_pings: {
    id: Generated<number>;
    heartbeat_id: number;
    at: number;
    kind: 'success' | 'start' | 'fail';
    exit_code: number | null;
    duration_ms: number | null;
    source: string | null;
    log: string | null;
  };
  heartbeats_alive: { id: number; at: number };
}

export type HeartbeatRow = Selectable<HeartbeatTables['heartbeats_heartbeats']>;
export type PingRow = Selectable<HeartbeatTables['heartbeats_pings']>;

/** Reports that are kept of each heartbeat, and those of them that keep their log. */
const [keptPings, keptLogs] = [1_000, 20];

/** All SQL of heartbeats. */
export const heartbeatStore = (db: Tables<HeartbeatTables>['read']) => ({
  all: (): Promise<HeartbeatRow[]> =>
    db.selectFrom('heartbeats_heartbeats').selectAll().orderBy('id').execute(),

  find: (name: string): Promise<HeartbeatRow | undefined> =>
    db.selectFrom('heartbeats_heartbeats').selectAll().where('name', '=', name).executeTakeFirst(),

  byDigest: (digest: string): Promise<HeartbeatRow | undefined> =>
    db
      .selectFrom('heartbeats_heartbeats')
      .selectAll()
      .where('token_digest', '=', digest)
      .executeTakeFirst(),

  insert: (row: Insertable<HeartbeatTables['heartbeats_heartbeats']>): Promise<HeartbeatRow> =>
    db.insertInto('heartbeats_heartbeats').values(row).returningAll().executeTakeFirstOrThrow(),

  update: (
    id: number,
    change: Updateable<HeartbeatTables['heartbeats_heartbeats']>,
  ): Promise<HeartbeatRow> =>
    db
      .updateTable('heartbeats_heartbeats')
      .set(change)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow(),

  remove: (id: number) => db.deleteFrom('heartbeats_heartbeats').where('id', '=', id).execute(),

  pingsOf: (id: number, limit: number): Promise<PingRow[]> =>
    db
      .selectFrom('heartbeats_pings')
      .selectAll()
      .where('heartbeat_id', '=', id)
      .orderBy('id', 'desc')
      .limit(limit)
      .execute(),

  addPing: async (row: Insertable<HeartbeatTables['heartbeats_pings']>): Promise<void> => {
    await db.insertInto('heartbeats_pings').values(row).execute();
    const older = (count: number) =>
      db
        .selectFrom('heartbeats_pings')
        .select('id')
        .where('heartbeat_id', '=', row.heartbeat_id)
        .orderBy('id', 'desc')
        .limit(1)
        .offset(count);
    await db
      .updateTable('heartbeats_pings')
      .set({ log: null })
      .where('heartbeat_id', '=', row.heartbeat_id)
      .where('log', 'is not', null)
      .where('id', '<=', older(keptLogs))
      .execute();
    await db
      .deleteFrom('heartbeats_pings')
      .where('heartbeat_id', '=', row.heartbeat_id)
      .where('id', '<=', older(keptPings))
      .execute();
  },

  aliveAt: async (): Promise<number | undefined> =>
    (await db.selectFrom('heartbeats_alive').select('at').executeTakeFirst())?.at,

  noteAlive: (at: number) =>
    db
      .insertInto('heartbeats_alive')
      .values({ id: 1, at })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ at }))
      .execute(),
});
