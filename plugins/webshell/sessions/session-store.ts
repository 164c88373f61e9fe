import { type SqlBool, sql } from 'kysely';
import type { Page, PageRequest } from 'svc/sdk';

import type { Seen } from '../rights/authority.ts';
import type { SessionRow, WebshellDb, WebshellTables } from './tables.ts';

export interface SessionFilter {
  readonly state: 'active' | 'ended' | 'all';
  readonly userId?: number | undefined;
  readonly deviceId?: number | undefined;
  readonly recorded?: boolean | undefined;
}

type NewSession = Pick<
  SessionRow,
  | 'life'
  | 'user_kind'
  | 'user_id'
  | 'device_id'
  | 'edge_id'
  | 'remote_user'
  | 'auth'
  | 'fingerprint'
  | 'ip'
  | 'started_at'
  | 'recording_state'
>;

export const isSeen = (seen: Seen) =>
  seen === undefined
    ? sql<SqlBool>`true`
    : sql<SqlBool>`device_id in (select cast(value as integer) from json_each(${JSON.stringify([...seen])}))`;

/** Statements about sessions. */
export const sessionStore = (db: WebshellDb) => ({
  /** Returns sessions on the devices that the asker sees. */
  async list(
    seen: Seen,
    filter: SessionFilter,
    { limit, after }: PageRequest,
  ): Promise<Page<SessionRow>> {
    const filtered = db
      .selectFrom('webshell_sessions')
      .where(isSeen(seen))
      .$if(filter.state === 'active', (query) => query.where('ended_at', 'is', null))
      .$if(filter.state === 'ended', (query) => query.where('ended_at', 'is not', null))
      .$if(filter.userId !== undefined, (query) => query.where('user_id', '=', filter.userId!))
      .$if(filter.deviceId !== undefined, (query) =>
        query.where('device_id', '=', filter.deviceId!),
      )
      .$if(filter.recorded === true, (query) => query.where('recording_key', 'is not', null));
    const { total } = await filtered
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    const found = await filtered
      .selectAll()
      .$if(after !== undefined, (query) => query.where('id', '<', Number(after?.[0])))
      .orderBy('id', 'desc')
      .limit(limit + 1)
      .execute();
    const items = found.slice(0, limit);
    return { items, total, next: found.length > limit ? [items.at(-1)!.id] : undefined };
  },

  find: (seen: Seen, id: number): Promise<SessionRow | undefined> =>
    db
      .selectFrom('webshell_sessions')
      .selectAll()
      .where('id', '=', id)
      .where(isSeen(seen))
      .executeTakeFirst(),

  insert: (session: NewSession): Promise<SessionRow> =>
    db.insertInto('webshell_sessions').values(session).returningAll().executeTakeFirstOrThrow(),

  async update(
    id: number,
    changes: Partial<Omit<WebshellTables['webshell_sessions'], 'id' | 'bytes_in' | 'bytes_out'>>,
  ): Promise<void> {
    await db.updateTable('webshell_sessions').set(changes).where('id', '=', id).execute();
  },

  async count(id: number, bytesIn: number, bytesOut: number): Promise<void> {
    await db
      .updateTable('webshell_sessions')
      .set({ bytes_in: bytesIn, bytes_out: bytesOut })
      .where('id', '=', id)
      .execute();
  },

  /** Returns sessions without an end. */
  open: (): Promise<SessionRow[]> =>
    db
      .selectFrom('webshell_sessions')
      .selectAll()
      .where('ended_at', 'is', null)
      .orderBy('id')
      .execute(),

  async forgetBefore(before: number): Promise<void> {
    await db
      .deleteFrom('webshell_sessions')
      .where('ended_at', '<', before)
      .where('recording_key', 'is', null)
      .execute();
  },
});

/** Statements about the recordings of sessions. */
export const recordingStore = (db: WebshellDb) => ({
  /** Ended before `before`, with a recording that is still there; the oldest first. */
  recordedBefore: (before: number, limit: number): Promise<SessionRow[]> =>
    db
      .selectFrom('webshell_sessions')
      .selectAll()
      .where('recording_key', 'is not', null)
      .where('ended_at', '<', before)
      .orderBy('id')
      .limit(limit)
      .execute(),

  async recordedBytes(): Promise<number> {
    const { sum } = await db
      .selectFrom('webshell_sessions')
      .select((eb) => eb.fn.sum<number | null>('recording_bytes').as('sum'))
      .where('recording_key', 'is not', null)
      .executeTakeFirstOrThrow();
    return sum ?? 0;
  },
});
