import type { Gauge, Tables } from 'svc/sdk';

import { isFailing } from '../store/delivery-conditions.ts';
import type { Notify, NotifyTables } from '../store/tables.ts';

/** Measures which channels fail, so that an alert rule can tell of one through the others. */
export class ChannelHealth {
  readonly #tables: Tables<NotifyTables>;
  readonly #gauge: Gauge;
  #names = new Map<number, string>();

  constructor(tables: Tables<NotifyTables>, gauge: Gauge) {
    this.#tables = tables;
    this.#gauge = gauge;
  }

  async measure(): Promise<void> {
    const channels = await this.#tables.read
      .selectFrom('notify_channels')
      .select(['id', 'name'])
      .where('enabled', '=', 1)
      .execute();
    const failing = await failingChannels(this.#tables.read);
    const names = new Map(channels.map(({ id, name }) => [id, name]));
    for (const [id, name] of this.#names) {
      if (names.get(id) !== name) {
        this.#set(id, name, false);
      }
    }
    names.forEach((name, id) => this.#set(id, name, failing.has(id)));
    this.#names = names;
  }

  #set(id: number, name: string, isFailing: boolean): void {
    this.#gauge.set(isFailing ? 1 : 0, { channel_id: String(id), channel: name });
  }
}

async function failingChannels(db: Notify): Promise<ReadonlySet<number>> {
  const late = await db
    .selectFrom('notify_deliveries')
    .select('channel_id')
    .distinct()
    .where(isFailing)
    .execute();
  const degraded = await db
    .selectFrom('notify_states')
    .select('channel_id')
    .where('degraded_at', 'is not', null)
    .execute();
  return new Set([...late, ...degraded].map(({ channel_id: id }) => id));
}
