import { type Clock, type Ids, type Page, type PageRequest, type Tables, timestamp } from 'svc/sdk';
import type { Static } from 'typebox';

import { errors } from './errors.ts';
import { ChannelStore } from '../store/channel-store.ts';
import { existing } from '../channels/channels.ts';
import { type DeliveryFilter, DeliveryList } from '../store/delivery-list.ts';
import type { DeliveryQueue } from '../store/delivery-queue.ts';
import { DeliveryStore } from '../store/delivery-store.ts';
import type { DeliveryShown } from '../channels/schema.ts';
import type { Delivery, NotifyTables } from '../store/tables.ts';

export interface DeliveriesParts {
  readonly tables: Tables<NotifyTables>;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly queue: DeliveryQueue;
}

/** Results of notifications, and retries of those that could not be sent. */
export class Deliveries {
  readonly #parts: DeliveriesParts;

  constructor(parts: DeliveriesParts) {
    this.#parts = parts;
  }

  async list(
    filter: DeliveryFilter,
    { limit, after }: PageRequest,
  ): Promise<Page<Static<typeof DeliveryShown>>> {
    const list = new DeliveryList(this.#parts.tables.read);
    const rows = await list.page(filter, {
      limit: limit + 1,
      before: after === undefined ? undefined : Number(after[0]),
    });
    const items = rows.slice(0, limit);
    return {
      items: items.map(shownDelivery),
      total: await list.count(filter),
      next: rows.length > limit ? [items.at(-1)!.seq] : undefined,
    };
  }

  /** Retries a delivery now; one that was given up starts from zero. */
  async resend(id: string): Promise<Static<typeof DeliveryShown>> {
    const { tables, clock, ids, queue } = this.#parts;
    const row = await tables.write(async (tx) => {
      const store = new DeliveryStore(tx);
      const found = await store.find(id);
      if (found === undefined || found.notice_id === null) {
        throw errors.no_notification({ id });
      }
      await queue.look(tx, found.channel_id);
      if (found.state === 'queued') {
        await store.hurry({ seq: found.digest ?? found.seq }, clock.now());
        return found;
      }
      if (found.state !== 'failed') {
        throw errors.not_resendable({ id, state: stateOf(found) });
      }
      if (!(await new DeliveryList(tx).hasText(found.notice_id))) {
        throw errors.text_expired({ id });
      }
      return await store.beginAnew(found, ids.uuid(), clock.now());
    });
    return shownDelivery(row);
  }

  /** Tries whatever the channel could not be sent; resolves with how many that are. */
  async resendAll(channel: number): Promise<number> {
    const { tables, clock, queue } = this.#parts;
    return await tables.write(async (tx) => {
      await existing(channel, new ChannelStore(tx));
      await queue.look(tx, channel);
      return await new DeliveryStore(tx).hurry({ channel }, clock.now());
    });
  }
}

function stateOf({
  state,
  got,
  delayed_at: delayed,
}: Delivery): Static<typeof DeliveryShown>['state'] {
  switch (state) {
    case 'sending':
    case 'queued':
      return delayed === null ? 'queued' : 'delayed';
    case 'folded':
      return got === 0 ? 'overtaken' : 'folded';
    default:
      return state;
  }
}

const shownDelivery = (row: Delivery): Static<typeof DeliveryShown> => ({
  id: row.id,
  state: stateOf(row),
  kind: row.kind as 'firing',
  incident_id: row.incident_id,
  channel_id: row.channel_id,
  channel_name: row.channel_name,
  attempts: row.attempts,
  error: row.error,
  accepted_at: timestamp(row.accepted_at),
  next_try_at: row.finished_at === null ? timestamp(row.due_at) : null,
  finished_at: row.finished_at === null ? null : timestamp(row.finished_at),
});
