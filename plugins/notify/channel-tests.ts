import { type Clock, type Ids, SvcError, type Tables, timestamp } from 'svc/sdk';
import type { Static } from 'typebox';

import { channelStore } from './channel-store.ts';
import { ownDelivery } from './claim.ts';
import { deliveryStore } from './delivery-store.ts';
import type { TestResult } from './schema.ts';
import type { Sender } from './sender.ts';
import type { NotifyTables } from './tables.ts';

/** Synthetic notifications, on the way of all others. */
export interface ChannelTests {
  send(channel: number): Promise<Static<typeof TestResult>>;
}

export interface ChannelTestsParts {
  readonly tables: Tables<NotifyTables>;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly sender: Pick<Sender, 'onEnd'>;
  /** Calls back after so long; undoes that. */
  readonly after: (ms: number, late: () => void) => () => unknown;
}

/** Longer than a try may last. */
const patienceMs = 15_000;
/** Of one channel; more would only wait behind each other. */
const mostWaiting = 5;

export function createTests({ tables, clock, ids, sender, after }: ChannelTestsParts): ChannelTests {
  const waiting = new Map<string, { readonly channel: number; readonly ended: () => void }>();
  sender.onEnd((id) => waiting.get(id)?.ended());

  return {
    async send(id) {
      const delivery = ids.uuid();
      if ([...waiting.values()].filter(({ channel }) => channel === id).length >= mostWaiting) {
        throw new SvcError('conflict', `${mostWaiting} tests of this channel are under way; wait for what comes of them`);
      }
      let ended!: () => void;
      const end = new Promise<void>((resolve) => {
        ended = resolve;
      });
      waiting.set(delivery, { channel: id, ended });
      const forget = after(patienceMs, ended);
      try {
        await tables.write(async (tx) => {
          const channel = await channelStore(tx).find(id);
          if (channel === undefined) {
            throw new SvcError('not_found', `there is no notification channel ${id}`);
          }
          await deliveryStore(tx).add([ownDelivery('test', channel, delivery, clock.now())]);
        });
        await end;
      } finally {
        waiting.delete(delivery);
        await forget();
      }
      const row = await deliveryStore(tables.read).find(delivery);
      const result = row?.state === 'sent' || row?.state === 'failed' ? row.state : 'queued';
      return { delivery_id: delivery, result, attempts: row?.attempts ?? 0, error: row?.error ?? null, at: timestamp(row?.finished_at ?? clock.now()) };
    },
  };
}
