import { type Insertable, sql, type Updateable } from 'kysely';

import { isFailing, isUnfinished } from './delivery-conditions.ts';
import type { ChannelRow, Notify, NotifyTables, StateRow } from './tables.ts';

export type ChannelWithState = ChannelRow &
  Omit<StateRow, 'channel_id'> & { readonly queued: number; readonly delayed: number };

type NewChannel = Omit<Insertable<NotifyTables['notify_channels']>, 'name_key'>;
type ChannelChange = Omit<Updateable<NotifyTables['notify_channels']>, 'name_key'> & {
  readonly name?: string;
};

/** Names that differ in case or width only are the same. */
const keyOf = (name: string): string => name.normalize('NFKC').toLowerCase();

/** Channels belong to no user: every reader sees all of them. */
export class ChannelStore {
  readonly #db: Notify;

  constructor(db: Notify) {
    this.#db = db;
  }

  async page(limit: number, before: number | undefined): Promise<ChannelWithState[]> {
    const rows = await this.#withState()
      .$if(before !== undefined, (query) => query.where('notify_channels.id', '<', before!))
      .orderBy('notify_channels.id', 'desc')
      .limit(limit)
      .execute();
    return rows.map((row) => ({ ...row, queued: row.queued ?? 0, delayed: row.delayed ?? 0 }));
  }

  async find(id: number): Promise<ChannelWithState | undefined> {
    const row = await this.#withState().where('notify_channels.id', '=', id).executeTakeFirst();
    return row && { ...row, queued: row.queued ?? 0, delayed: row.delayed ?? 0 };
  }

  #withState() {
    return this.#db
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
          .where(isUnfinished)
          .where('kind', '!=', 'digest')
          .select((eb) => eb.fn.countAll<number>().as('queued'))
          .as('queued'),
      )
      .select(({ selectFrom }) =>
        selectFrom('notify_deliveries')
          .whereRef('notify_deliveries.channel_id', '=', 'notify_channels.id')
          .where(isFailing)
          .where('kind', '!=', 'digest')
          .select((eb) => eb.fn.countAll<number>().as('delayed'))
          .as('delayed'),
      );
  }

  all(): Promise<ChannelRow[]> {
    return this.#db.selectFrom('notify_channels').selectAll().orderBy('id').execute();
  }

  /** The channel whose address this setting holds. */
  ofSetting(setting: string): Promise<ChannelRow | undefined> {
    return this.#db
      .selectFrom('notify_channels')
      .selectAll()
      .where('standing', '=', setting)
      .executeTakeFirst();
  }

  async count(): Promise<number> {
    const { total } = await this.#db
      .selectFrom('notify_channels')
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    return total;
  }

  async isTaken(name: string, exceptId?: number): Promise<boolean> {
    const found = await this.#db
      .selectFrom('notify_channels')
      .select('id')
      .where('name_key', '=', keyOf(name))
      .executeTakeFirst();
    return found !== undefined && found.id !== exceptId;
  }

  async insert(values: NewChannel): Promise<number> {
    const { id } = await this.#db
      .insertInto('notify_channels')
      .values({ ...values, name_key: keyOf(values.name) })
      .returning('id')
      .executeTakeFirstOrThrow();
    await this.#db.insertInto('notify_states').values({ channel_id: id }).execute();
    return id;
  }

  async update(id: number, values: ChannelChange, now: number): Promise<void> {
    await this.#db
      .updateTable('notify_channels')
      .set({
        ...values,
        ...(values.name !== undefined && { name_key: keyOf(values.name) }),
        updated_at: sql<number>`max(${now}, updated_at + 1)`,
      })
      .where('id', '=', id)
      .execute();
  }

  /** Another address may fare better. */
  async clearFailures(id: number): Promise<void> {
    await this.#db
      .updateTable('notify_states')
      .set({ failures: 0, degraded_at: null, degraded_reason: null, blocked_until: null })
      .where('channel_id', '=', id)
      .execute();
  }

  async remove(id: number): Promise<void> {
    await this.#db
      .updateTable('notify_channels')
      .set({ fallback_channel_id: null })
      .where('fallback_channel_id', '=', id)
      .execute();
    await this.#db.deleteFrom('notify_channels').where('id', '=', id).execute();
  }
}
