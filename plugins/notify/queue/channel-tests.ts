import { type Clock, type Ids, type Tables, timestamp } from 'svc/sdk';
import type { Static } from 'typebox';

import { errors } from './errors.ts';
import { ChannelStore } from '../store/channel-store.ts';
import { existing } from '../channels/channels.ts';
import { ownDelivery } from './claim.ts';
import type { DeliveryQueue } from '../store/delivery-queue.ts';
import { DeliveryStore } from '../store/delivery-store.ts';
import type { TestResult } from '../channels/schema.ts';
import type { Sender } from './sender.ts';
import type { NotifyTables } from '../store/tables.ts';

export interface ChannelTestsParts {
  readonly tables: Tables<NotifyTables>;
  readonly queue: DeliveryQueue;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly sender: Pick<Sender, 'onFinished'>;
  /** Calls back after so long; undoes that. */
  readonly after: (ms: number, late: () => void) => () => unknown;
}

/** Longer than a try may last. */
const patienceMs = 15_000;
/** Max waiting tests of one channel; more would only wait for each other. */
const maxWaiting = 5;

/** Synthetic notifications, on the way of all others. */
export class ChannelTests {
  readonly #parts: ChannelTestsParts;
  readonly #waiting = new Map<
    string,
    { readonly channel: number; readonly finished: () => void }
  >();

  constructor(parts: ChannelTestsParts) {
    this.#parts = parts;
    parts.sender.onFinished((id) => this.#waiting.get(id)?.finished());
  }

  async send(channel: number): Promise<Static<typeof TestResult>> {
    const { tables, queue, clock, ids, after } = this.#parts;
    const delivery = ids.uuid();
    if (
      [...this.#waiting.values()].filter((test) => test.channel === channel).length >= maxWaiting
    ) {
      throw errors.too_many_tests({ max: maxWaiting });
    }
    let finished!: () => void;
    const end = new Promise<void>((resolve) => {
      finished = resolve;
    });
    this.#waiting.set(delivery, { channel, finished });
    const cancel = after(patienceMs, finished);
    try {
      await tables.write(async (tx) => {
        const row = await existing(channel, new ChannelStore(tx));
        await queue.add(tx, [ownDelivery('test', row, delivery, clock.now())]);
      });
      await end;
    } finally {
      this.#waiting.delete(delivery);
      await cancel();
    }
    const row = await new DeliveryStore(tables.read).find(delivery);
    const result = row?.state === 'sent' || row?.state === 'failed' ? row.state : 'queued';
    return {
      delivery_id: delivery,
      result,
      attempts: row?.attempts ?? 0,
      error: row?.error ?? null,
      at: timestamp(row?.finished_at ?? clock.now()),
    };
  }
}
