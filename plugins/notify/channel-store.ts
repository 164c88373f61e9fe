import { type Insertable, sql, type Updateable } from 'kysely';

import type { ChannelRow, Notify, NotifyTables, StateRow } from './tables.ts';

export type ChannelWithState = ChannelRow & Omit<StateRow, 'channel_id'> & { readonly queued: number };

/** Channels have the house in common: whoever may read them sees all of them. */
export const channelStore = (db: Notify) => {
  const shown = () =>
    db
      .selectFrom('notify_channels')
      .innerJoin('notify_states', 'notify_states.channel_id', 'notify_channels.id')
      .selectAll('notify_channels')
      .select([
        'notify_states.last_sent_at',
        'notify_states.last_error',
        'notify_states.last_error_at',
        'notify_states.failures',
        'notify_states.degraded_at',
        'notify_states.degraded_reason',
        'notify_states.blocked_until',
        'notify_states.recent',
      ])
      .select(({ selectFrom }) =>
        selectFrom('notify_deliveries')
          .whereRef('notify_deliveries.channel_id', '=', 'notify_channels.id')
          // In words that the partial index is made with.
          .where(sql<boolean>`state in ('queued', 'sending')`)
          .where('kind', '!=', 'digest')
          .select((eb) => eb.fn.countAll<number>().as('queued'))
          .as('queued'),
      );
  return {
    async page(limit: number, before: number | undefined): Promise<ChannelWithState[]> {
      const rows = await shown()
        .$if(before !== undefined, (query) => query.where('notify_channels.id', '<', before!))
        .orderBy('notify_channels.id', 'desc')
        .limit(limit)
        .execute();
      return rows.map((row) => ({ ...row, queued: row.queued ?? 0 }));
    },

    async find(id: number): Promise<ChannelWithState | undefined> {
      const row = await shown().where('notify_channels.id', '=', id).executeTakeFirst();
      return row && { ...row, queued: row.queued ?? 0 };
    },

    all: (): Promise<ChannelRow[]> => db.selectFrom('notify_channels').selectAll().orderBy('id').execute(),

    standing: (setting: string): Promise<ChannelRow | undefined> =>
      db.selectFrom('notify_channels').selectAll().where('standing', '=', setting).executeTakeFirst(),

    async count(): Promise<number> {
      return (
        await db
          .selectFrom('notify_channels')
          .select((eb) => eb.fn.countAll<number>().as('total'))
          .executeTakeFirstOrThrow()
      ).total;
    },

    async isTaken(nameKey: string, but?: number): Promise<boolean> {
      const found = await db.selectFrom('notify_channels').select('id').where('name_key', '=', nameKey).executeTakeFirst();
      return found !== undefined && found.id !== but;
    },

    async insert(values: Insertable<NotifyTables['notify_channels']>): Promise<number> {
      const { id } = await db.insertInto('notify_channels').values(values).returning('id').executeTakeFirstOrThrow();
      await db.insertInto('notify_states').values({ channel_id: id }).execute();
      return id;
    },

    async update(id: number, values: Updateable<NotifyTables['notify_channels']>, now: number): Promise<void> {
      await db
        .updateTable('notify_channels')
        .set({ ...values, updated_at: sql<number>`max(${now}, updated_at + 1)` })
        .where('id', '=', id)
        .execute();
    },

    /** Another address may fare better. */
    async forgetTrouble(id: number): Promise<void> {
      await db
        .updateTable('notify_states')
        .set({ failures: 0, degraded_at: null, degraded_reason: null, blocked_until: null })
        .where('channel_id', '=', id)
        .execute();
    },

    async remove(id: number): Promise<void> {
      await db.deleteFrom('notify_channels').where('id', '=', id).execute();
    },
  };
};
