import type { EarlierMessage, EarlierOutbox, Tables } from '../sdk/index.ts';
import type { CoreTables } from './core-tables.ts';

/** Messages that a version before had in its outbox, which became queues of the plugins themselves. */
export const earlierOutbox = (tables: Tables<CoreTables>): EarlierOutbox => ({
  async holds(topic) {
    const row = await tables.read
      .selectFrom('core_outbox')
      .select('id')
      .where('topic', '=', topic)
      .where('state', 'in', ['waiting', 'leased'])
      .executeTakeFirst();
    return row !== undefined;
  },
  take: <T>(topic: string) =>
    tables.write(async (tx) => {
      const rows = await tx
        .selectFrom('core_outbox')
        .select(['id', 'payload'])
        .where('topic', '=', topic)
        .where('state', 'in', ['waiting', 'leased'])
        .orderBy('enqueued_at')
        .orderBy('id')
        .execute();
      await tx.deleteFrom('core_outbox').where('topic', '=', topic).execute();
      return rows.map(({ id, payload }): EarlierMessage<T> => ({
        id,
        payload: JSON.parse(payload) as T,
      }));
    }),
});
