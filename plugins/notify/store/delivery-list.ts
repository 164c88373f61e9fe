import { type RawBuilder, sql } from 'kysely';

import { isFailing, isUnfinished } from './delivery-conditions.ts';
import type { Delivery, Notify } from './tables.ts';

export interface DeliveryFilter {
  readonly state?: 'queued' | 'delayed' | 'sent' | 'folded' | 'overtaken' | 'failed';
  readonly channel_id?: number;
  readonly incident_id?: number;
}

const ofState: Readonly<Record<NonNullable<DeliveryFilter['state']>, RawBuilder<boolean>>> = {
  queued: sql<boolean>`delayed_at is null and ${isUnfinished}`,
  delayed: isFailing,
  sent: sql<boolean>`state = 'sent'`,
  folded: sql<boolean>`state = 'folded' and got = 1`,
  overtaken: sql<boolean>`state = 'folded' and got = 0`,
  failed: sql<boolean>`state = 'failed'`,
};

/** Deliveries as people look at them: those of notices, newest first. */
export class DeliveryList {
  readonly #db: Notify;

  constructor(db: Notify) {
    this.#db = db;
  }

  page(
    filter: DeliveryFilter,
    { limit, before }: { readonly limit: number; readonly before: number | undefined },
  ): Promise<Delivery[]> {
    return this.#matching(filter)
      .selectAll()
      .$if(before !== undefined, (query) => query.where('seq', '<', before!))
      .orderBy('seq', 'desc')
      .limit(limit)
      .execute();
  }

  async count(filter: DeliveryFilter): Promise<number> {
    const { total } = await this.#matching(filter)
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    return total;
  }

  async hasText(notice: string): Promise<boolean> {
    const row = await this.#db
      .selectFrom('notify_notices')
      .select('id')
      .where('id', '=', notice)
      .where('body', '!=', '')
      .executeTakeFirst();
    return row !== undefined;
  }

  #matching({ state, channel_id: channel, incident_id: incident }: DeliveryFilter) {
    return this.#db
      .selectFrom('notify_deliveries')
      .where('notice_id', 'is not', null)
      .$if(state !== undefined, (query) => query.where(ofState[state!]))
      .$if(channel !== undefined, (query) => query.where('channel_id', '=', channel!))
      .$if(incident !== undefined, (query) => query.where('incident_id', '=', incident!));
  }
}
